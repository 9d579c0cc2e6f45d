"""Alerts: events that are told to an address outside, signed, as often as it takes.

Each alert has a position in the log of events that moves when its address has taken one: after a restart it goes on
from there, and an address that was away for a while is told what it missed. One that was told twice sees it by the
number.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import orjson

from weft.clock import iso
from weft.codec import to_form
from weft.errors import WeftError
from weft.logs import get_logger
from weft.weaver.events import KEPT, Event
from weft.weaver.store.records import put, remove

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

log = get_logger(__name__)

TOLD = ("anomaly.found",)
"""What is told where nothing else was said."""
TIMEOUT_S = 10.0
FIRST_RETRY_S = 1.0
LONGEST_RETRY_S = 300.0
LONGEST_SECRET = 1000


class AlertError(WeftError):
    """An alert that cannot be."""

    code = "alert.refused"
    domain = "user"


class AlertMissingError(WeftError):
    """There is no such alert."""

    code = "alert.missing"
    domain = "missing"


@dataclass(frozen=True)
class Alert:
    """An address that is told of events of some kinds, up to which event it was, and what went wrong last."""

    id: str
    url: str
    events: tuple[str, ...]
    secret: str
    """What signatures are made with; never shown again."""
    created: str
    told: int
    """The event up to which nothing is left to tell."""
    failed: str | None = None
    """Why the last try did not arrive, while it does not."""


@dataclass(frozen=True)
class AlertView:
    """An alert without its secret."""

    id: str
    url: str
    events: tuple[str, ...]
    created: str
    told: int
    failed: str | None


def view(alert: Alert) -> AlertView:
    """What may be shown of an alert."""
    return AlertView(alert.id, alert.url, alert.events, alert.created, alert.told, alert.failed)


class Alerts:
    """Those of one weaver."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def all(self) -> list[Alert]:
        """In the order in which they were added."""
        found = self._weaver.records.scan(Alert, "alerts")
        return sorted(found, key=lambda alert: alert.created)

    def resume(self) -> None:
        """Begin to tell."""
        for alert in self.all():
            self._start(alert.id)

    def stop(self) -> None:
        """Leave the rest to the next weaver."""
        for task in self._tasks.values():
            task.cancel()

    def add(self, url: str, *, events: Sequence[str] = TOLD, secret: str) -> Alert:
        """Tell an address of what happens from now on."""
        _check(url, events, secret)
        alert = Alert(
            id=f"alert-{uuid.uuid4().hex[:8]}",
            url=url,
            events=tuple(events),
            secret=secret,
            created=iso(self._weaver.clock.now()),
            told=self._weaver.events.last,
        )
        self._weaver.store.apply([put("alerts", alert.id, value=alert)])
        self._start(alert.id)
        return alert

    def remove(self, name: str) -> Alert:
        """Tell an address nothing any longer."""
        alert = self.get(name)
        if (task := self._tasks.pop(name, None)) is not None:
            task.cancel()
        self._weaver.store.apply([remove("alerts", name)])
        return alert

    def get(self, name: str) -> Alert:
        """The alert of this id."""
        found = self._weaver.records.find(Alert, "alerts", name)
        if found is None:
            raise AlertMissingError(
                f"There is no alert '{name[:100]}'.", hint="See `weft alert list`."
            )
        return found

    def _start(self, name: str) -> None:
        self._tasks[name] = asyncio.get_running_loop().create_task(self._run(name))

    async def _run(self, name: str) -> None:
        alert = self.get(name)
        oldest = self._weaver.events.last - KEPT
        if alert.told < oldest:
            log.warning("alert %s missed %d events that are gone", name, oldest - alert.told)
        async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as client:
            async for event in self._weaver.events.follow(alert.told):
                if event.kind in alert.events:
                    await self._deliver(client, alert, event)
                    alert = self._moved(replace(alert, told=event.number, failed=None))

    async def _deliver(self, client: httpx.AsyncClient, alert: Alert, event: Event) -> None:
        """Tell of one event, however often that must be tried."""
        wait = FIRST_RETRY_S
        while (failed := await _post(client, alert, event)) is not None:
            log.warning("alert %s is told again in %g s: %s", alert.id, wait, failed)
            alert = self._moved(replace(alert, failed=failed))
            await asyncio.sleep(wait)
            wait = min(LONGEST_RETRY_S, wait * 2)

    def _moved(self, alert: Alert) -> Alert:
        if self._weaver.records.find(Alert, "alerts", alert.id) is not None:
            self._weaver.store.apply([put("alerts", alert.id, value=alert)], durable=False)
        return alert


async def _post(client: httpx.AsyncClient, alert: Alert, event: Event) -> str | None:
    """Send an event; why it did not arrive, or None."""
    body = orjson.dumps({"alert": alert.id, **to_form(event)})
    headers = {
        "Content-Type": "application/json",
        "Weft-Event": str(event.number),
        "Weft-Signature": sign(alert.secret, body, at=int(time.time())),
    }
    try:
        answer = await client.post(alert.url, content=body, headers=headers)
    except httpx.HTTPError as error:
        return f"{type(error).__name__}: {error}"[:300]
    return None if answer.is_success else f"it answered {answer.status_code}"


def sign(secret: str, body: bytes, *, at: int) -> str:
    """`t=SECONDS,v1=HMAC`: the HMAC-SHA256 of the seconds, a dot and the body; so nobody can send an old one again."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={signed.hexdigest()}"


def _check(url: str, events: Sequence[str], secret: str) -> None:
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_web = is_web and (parts.port is None or parts.port > 0)
    except ValueError:
        is_web = False
    if not is_web or len(url) > 2000 or not url.isprintable():
        raise AlertError(
            "This is no address that alerts can be sent to.",
            hint="Give one that begins with https:// or http://.",
        )
    if not events or not all(event.isprintable() and len(event) <= 100 for event in events):
        raise AlertError(
            "An alert tells of some kind of event.",
            hint="Name kinds such as anomaly.found; `weft events` shows them.",
        )
    if not 16 <= len(secret) <= LONGEST_SECRET:
        raise AlertError(
            f"A secret has from 16 to {LONGEST_SECRET} characters.",
            hint="Make one with `openssl rand -hex 32`.",
        )
