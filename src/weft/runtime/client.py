"""The worker's line to the weaver: it waits with back-off while the weaver is away, and then goes on.

Weavers that share a store are known by their addresses, one behind the other. Any of them answers; the one that did is
asked again, and the next one when it is away.
"""

from __future__ import annotations

import threading
from typing import Any

import httpx
import orjson

from weft.errors import WeftError
from weft.logs import get_logger

log = get_logger(__name__)

FIRST_WAIT = 0.05
LONGEST_WAIT = 5.0
CONNECT_S = 5.0
LEADER = "weft-leader"
"""Names the weaver that answered in place of the one that was asked."""
AWAY = frozenset({"weaver.no-leader", "weaver.leader-lost", "store.away", "store.lost"})
"""What a weaver answers that reaches neither its store nor the one that leads, or led and no longer does."""


class WeaverAwayError(WeftError):
    """The weaver did not answer, and this call does not wait for it."""

    code = "weaver.away"
    domain = "external"
    retryable = True


class WeaverClient:
    """Calls of the weaver's REST interface; errors come back as the WeftErrors they were."""

    def __init__(
        self,
        address: str,
        *,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.addresses = parse_addresses(address)
        self._current = 0
        self._http = httpx.Client(
            timeout=httpx.Timeout(timeout, connect=min(timeout, CONNECT_S)),
            transport=transport,
            trust_env=False,
            # To read the certificates of all authorities takes longer than most of what is asked.
            verify=any(address.startswith("https:") for address in self.addresses),
        )
        self._stopping = threading.Event()

    @property
    def address(self) -> str:
        """The address of the weaver that is asked first."""
        return self.addresses[self._current]

    def call(self, method: str, path: str, body: Any = None, **params: Any) -> Any:
        """One request; raises WeaverAwayError when nobody answers.

        Of several weavers the next one is asked when one cannot be reached. What one took and did not answer is not
        asked again: it may be done.
        """
        for left in range(len(self.addresses) - 1, -1, -1):
            asked = self._current
            try:
                response = self._send(self.addresses[asked], method, path, body, params)
            except (httpx.TransportError, RuntimeError) as error:
                if isinstance(error, RuntimeError) and not self._http.is_closed:
                    raise  # httpx says so of a client that was closed, and only of that
                self._leave(asked)
                if left and isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
                    continue
                raise WeaverAwayError(
                    f"The weaver at {self.addresses[asked]} does not answer: {error}.",
                    hint="Start it with `weft up` or `weft weaver`.",
                ) from error
            return self._answer(response, asked)
        raise AssertionError("unreachable")

    def insist(self, method: str, path: str, body: Any = None) -> Any:
        """One request, repeated with back-off until the weaver answers or this client is closed."""
        wait = FIRST_WAIT
        while True:
            try:
                return self.call(method, path, body)
            except WeaverAwayError:
                if self._stopping.is_set():
                    raise
                if wait >= LONGEST_WAIT / 2:
                    log.warning("the weaver is away; trying again in %.1f s", wait)
                self._stopping.wait(wait)
                wait = min(wait * 2, LONGEST_WAIT)

    def close(self) -> None:
        """Stop waiting and close the connections."""
        self._stopping.set()
        self._http.close()

    def _send(
        self, address: str, method: str, path: str, body: Any, params: dict[str, Any]
    ) -> httpx.Response:
        content = None if body is None else orjson.dumps(body)
        headers = {"content-type": "application/json"} if content else {}
        return self._http.request(
            method, f"{address}{path}", content=content, headers=headers, params=params or None
        )

    def _answer(self, response: httpx.Response, asked: int) -> Any:
        leader = response.headers.get(LEADER)
        if leader in self.addresses:
            self._current = self.addresses.index(leader)
        answer = orjson.loads(response.content) if response.content else None
        if response.is_error:
            if not isinstance(answer, dict) or "code" not in answer:
                self._leave(asked)
                raise WeaverAwayError(
                    f"The weaver at {self.addresses[asked]} answered {response.status_code}."
                )
            if answer["code"] in AWAY:
                self._leave(asked)
                raise WeaverAwayError(answer["message"], hint=answer["hint"])
            raise WeftError.from_dict(answer)
        return answer

    def _leave(self, asked: int) -> None:
        """Ask the next weaver from now on, unless another thread has seen to it already."""
        if self._current == asked:
            self._current = (asked + 1) % len(self.addresses)


def parse_addresses(text: str) -> tuple[str, ...]:
    """The addresses of weavers, which are written with commas between them.

    >>> parse_addresses("http://a:8080, http://b:8080/")
    ('http://a:8080', 'http://b:8080')
    """
    addresses = tuple(dict.fromkeys(one.strip().rstrip("/") for one in text.split(",")))
    for one in addresses:
        try:
            url = httpx.URL(one)
        except httpx.InvalidURL:
            url = httpx.URL("")
        if url.scheme not in ("http", "https") or not url.host:
            raise WeftError(
                f"'{one[:200]}' is not the address of a weaver.",
                code="weaver.bad-address",
                domain="user",
                hint="Write it as http://HOST:PORT; those of several weavers with commas between them.",
            )
    return addresses
