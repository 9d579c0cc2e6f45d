"""Requests to a weaver that may stand by: it hands them to the one that leads, and hands back what that answers.

Any of the weavers can be asked for anything, so a load balancer need not know which of them leads. While nobody does,
requests wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import httpx
from starlette.types import Receive, Scope, Send

from weft.errors import WeftError
from weft.weaver.body import again, whole_body
from weft.weaver.leading import Leading
from weft.weaver.problems import problem

WAIT_S = 20.0
"""For so long a request waits for a weaver that leads."""
AGAIN_S = 0.2
CONNECT_S = 2.0
FORWARDED = b"weft-forwarded"
LEADER = b"weft-leader"
"""Says who answered, so that whoever knows several addresses can ask there next."""
SAFE = ("GET", "HEAD", "OPTIONS")
HELD_BACK = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"host", b"origin", b"sec-fetch-site"}
)
"""Headers of one connection, and those by which the gatehouse has judged already."""


class NoLeaderError(WeftError):
    """No weaver leads at the moment; nothing was done."""

    code = "weaver.no-leader"
    domain = "external"
    retryable = True

    def __init__(self) -> None:
        super().__init__(
            "Of the weavers of this store none leads at the moment.",
            hint="One of them takes over within seconds, if the store answers; ask again.",
        )


class LeaderLostError(WeftError):
    """The weaver that leads went away while it was asked."""

    code = "weaver.leader-lost"
    domain = "external"
    retryable = True

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The weaver that leads went away while it was asked: {reason}.",
            hint="Look whether it was done before you ask again; another one takes over within seconds.",
        )


class Forwarding:
    """The application of a weaver that shares its store: its own while it leads, else that of the leader."""

    def __init__(self, leading: Leading) -> None:
        self._leading = leading
        self._http = httpx.AsyncClient(
            trust_env=False,
            timeout=httpx.Timeout(None, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        app = self._leading.app
        if app is not None:
            await app(scope, receive, send)
            return
        if any(name == FORWARDED for name, _ in scope["headers"]):
            # Whoever sent it asks again, and hears meanwhile who leads.
            await problem(NoLeaderError(), headers=_RETRY)(scope, receive, send)
            return
        body = await whole_body(receive)
        if body is None:
            return
        deadline = asyncio.get_running_loop().time() + WAIT_S
        while asyncio.get_running_loop().time() < deadline:
            app, leader = self._leading.app, self._leading.leader
            if app is not None:
                await app(scope, again(body, receive), send)
                return
            if leader is not None:
                try:
                    answer = await self._ask(leader, scope, body)
                except httpx.TransportError as error:
                    if scope["method"] not in SAFE and not isinstance(error, httpx.ConnectError):
                        told = problem(LeaderLostError(str(error) or type(error).__name__))
                        await told(scope, receive, send)
                        return
                else:
                    if answer.headers.get("retry-after") is None:
                        await _pass_on(answer, leader, receive, send)
                        return
                    await answer.aclose()
            await asyncio.sleep(AGAIN_S)
        await problem(NoLeaderError(), headers=_RETRY)(scope, receive, send)

    async def close(self) -> None:
        """End the connections."""
        await self._http.aclose()

    async def _ask(self, leader: str, scope: Scope, body: bytes) -> httpx.Response:
        query = scope["query_string"].decode("latin-1")
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        headers = [(name, value) for name, value in scope["headers"] if name not in HELD_BACK]
        request = self._http.build_request(
            scope["method"],
            f"{leader}{path}{'?' + query if query else ''}",
            headers=[*headers, (FORWARDED, b"1")],
            content=body or None,
        )
        return await self._http.send(request, stream=True)


_RETRY = {"retry-after": "1"}


async def _pass_on(answer: httpx.Response, leader: str, receive: Receive, send: Send) -> None:
    """Hand an answer back as it comes, until its end or until nobody listens any more."""
    passing = asyncio.create_task(_send(answer, leader, send))
    leaving = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait({passing, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (passing, leaving):
            task.cancel()
        await asyncio.gather(passing, leaving, return_exceptions=True)
        await answer.aclose()
    if passing.done() and not passing.cancelled() and (error := passing.exception()) is not None:
        raise error


async def _send(answer: httpx.Response, leader: str, send: Send) -> None:
    headers: Iterable[tuple[bytes, bytes]] = (
        (name.lower(), value) for name, value in answer.headers.raw
    )
    kept = [(name, value) for name, value in headers if name not in HELD_BACK]
    await send(
        {
            "type": "http.response.start",
            "status": answer.status_code,
            "headers": [*kept, (LEADER, leader.encode())],
        }
    )
    async for part in answer.aiter_raw():
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
