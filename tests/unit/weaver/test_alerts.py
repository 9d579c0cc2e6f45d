"""Alerts: what happens is told to an address outside, signed, as often as it takes, also after a restart."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.unit.weaver.chain import make_weaver
from tests.unit.weaver.test_http import ask
from weft.weaver import alerts
from weft.weaver.alerts import AlertError, sign
from weft.weaver.weaver import Weaver

SECRET = "0123456789abcdef"


class Heard:
    """A real server that keeps what it is sent, and answers as it is told."""

    def __init__(self) -> None:
        self.posts: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        heard = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                heard.posts.append((dict(self.headers), body))
                self.send_response(heard.answers.pop(0) if heard.answers else 204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    async def wait(self, number: int) -> None:
        """Until so many came."""
        for _ in range(500):
            if len(self.posts) >= number:
                return
            await asyncio.sleep(0.02)
        raise TimeoutError(f"{len(self.posts)} of {number} came")


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    monkeypatch.setattr(alerts, "FIRST_RETRY_S", 0.02)
    server = Heard()
    yield server
    server.close()


def told(weaver: Weaver, text: str) -> None:
    weaver.events.record("anomaly.found", text=text)


def test_what_is_asked_for_is_told_once_and_signed(outside: Heard) -> None:
    async def run() -> None:
        weaver = make_weaver()
        told(weaver, "before")
        weaver.alerts.add(outside.url, secret=SECRET)
        weaver.events.record("rule.attached", rule="other")
        told(weaver, "first 'quoted' \u2028")
        await outside.wait(1)
        weaver.alerts.stop()

    asyncio.run(run())
    ((headers, body),) = outside.posts
    found = json.loads(body)
    assert (found["kind"], found["facts"]["text"]) == ("anomaly.found", "first 'quoted' \u2028")
    assert headers["Weft-Event"] == str(found["number"])
    seconds, signature = (
        part[part.index("=") + 1 :] for part in headers["Weft-Signature"].split(",")
    )
    signed = hmac.new(SECRET.encode(), f"{seconds}.".encode() + body, hashlib.sha256)
    assert signature == signed.hexdigest()
    assert sign("another secret!!", body, at=int(seconds)) != headers["Weft-Signature"]


def test_an_address_that_fails_is_told_again_and_nothing_is_left_out(outside: Heard) -> None:
    outside.answers = [500, 503]

    async def run() -> str | None:
        weaver = make_weaver()
        name = weaver.alerts.add(outside.url, secret=SECRET).id
        told(weaver, "one")
        failed = None
        while failed is None:
            await asyncio.sleep(0.001)
            failed = weaver.alerts.get(name).failed
        told(weaver, "two")
        await outside.wait(4)
        await asyncio.sleep(0.05)
        assert weaver.alerts.get(name).failed is None
        weaver.alerts.stop()
        return failed

    assert asyncio.run(run()) == "it answered 500"
    texts = [json.loads(body)["facts"]["text"] for _, body in outside.posts]
    assert texts == ["one", "one", "one", "two"]


def test_the_next_weaver_goes_on_where_the_last_one_was(outside: Heard) -> None:
    async def first() -> Weaver:
        weaver = make_weaver()
        weaver.alerts.add(outside.url, secret=SECRET)
        told(weaver, "one")
        await outside.wait(1)
        await asyncio.sleep(0.05)
        weaver.alerts.stop()
        told(weaver, "while nobody told")
        return weaver

    async def second(before: Weaver) -> None:
        weaver = Weaver(before.store)
        weaver.alerts.resume()
        await outside.wait(2)
        await asyncio.sleep(0.05)
        weaver.alerts.stop()

    asyncio.run(second(asyncio.run(first())))
    texts = [json.loads(body)["facts"]["text"] for _, body in outside.posts]
    assert texts == ["one", "while nobody told"]


def test_one_that_was_removed_is_told_nothing(outside: Heard) -> None:
    async def run() -> None:
        weaver = make_weaver()
        weaver.alerts.remove(weaver.alerts.add(outside.url, secret=SECRET).id)
        told(weaver, "one")
        await asyncio.sleep(0.1)

    asyncio.run(run())
    assert outside.posts == []


def test_secrets_are_not_shown(outside: Heard) -> None:
    weaver = make_weaver()
    body = {"url": outside.url, "secret": SECRET, "events": ["anomaly.found", "knot.failed"]}
    added = ask("POST", "/alerts", weaver=weaver, json=body)
    assert added.status_code == 200 and SECRET not in added.text
    listed = ask("GET", "/alerts", weaver=weaver)
    assert [one["events"] for one in listed.json()] == [["anomaly.found", "knot.failed"]]
    assert SECRET not in listed.text
    name = added.json()["id"]
    assert ask("DELETE", f"/alerts/{name}", weaver=weaver).status_code == 200
    assert ask("DELETE", f"/alerts/{name}", weaver=weaver).status_code == 404


@pytest.mark.parametrize(
    ("url", "events", "secret"),
    [
        ("file:///etc/passwd", ["anomaly.found"], SECRET),
        ("http://", ["anomaly.found"], SECRET),
        ("http://host:99999/", ["anomaly.found"], SECRET),
        ("http://host/\r\nX: y", ["anomaly.found"], SECRET),
        ("http://host/", [], SECRET),
        ("http://host/", ["anomaly.found"], "short"),
    ],
)
def test_what_cannot_be_told_is_refused(url: str, events: list[str], secret: str) -> None:
    weaver = make_weaver()
    with pytest.raises(AlertError):
        weaver.alerts.add(url, events=events, secret=secret)
    assert weaver.alerts.all() == []
