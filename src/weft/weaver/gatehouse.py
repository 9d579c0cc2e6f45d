"""What every request passes before a route sees it: is it for us, from us, of a size that we take, and JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weft.errors import WeftError
from weft.weaver.problems import problem

LARGEST_BODY = 16 * 1024 * 1024
LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
SAFE = ("GET", "HEAD", "OPTIONS")
SLASH = b"%2F"
FOREIGN = (b"cross-site", b"same-site")


class TooLargeError(WeftError):
    """A body that is larger than any request needs."""

    code = "request.too-large"
    domain = "user"

    def __init__(self) -> None:
        super().__init__(
            f"The body has more than {LARGEST_BODY:,} bytes.", hint="Send less in one request."
        )


class Gatehouse:
    """Refuses requests that a page of another site has a browser make, and bodies without end.

    A name that an attacker's server resolves to loopback shows in `Host`; a request that a foreign page makes shows in
    `Origin` or `Sec-Fetch-Site`. Commands and workers send none of these but `Host`.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str] = LOOPBACK_NAMES) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope["method"], dict(scope["headers"]))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST_BODY:
                raise TooLargeError
            return message

        try:
            await self._app(scope, limited, send)
        except TooLargeError as error:
            await problem(error, status=413)(scope, receive, send)

    def _refusal(self, method: str, headers: Mapping[bytes, bytes]) -> Response | None:
        host = _host(headers.get(b"host", b""))
        if host not in self._hosts:
            return problem(
                WeftError(
                    f"This weaver does not answer to the name '{host[:100]}'.",
                    code="request.wrong-host",
                    domain="user",
                    hint=f"Its names are {', '.join(sorted(self._hosts))}.",
                ),
                status=421,
            )
        origin = headers.get(b"origin")
        foreign = origin is not None and _host(urlsplit(origin).netloc) not in self._hosts
        crossing = method not in SAFE and headers.get(b"sec-fetch-site", b"") in FOREIGN
        if foreign or crossing:
            return problem(
                WeftError(
                    "A page of another site asked for this, and it is refused.",
                    code="request.foreign-page",
                    domain="user",
                    hint="Ask from the command line, or from the weaver's own pages.",
                ),
                status=403,
            )
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > LARGEST_BODY:
            return problem(TooLargeError(), status=413)
        return None


def _host(address: bytes) -> str:
    """The name in `name:port`, `[v6]:port` or a name alone."""
    text = address.decode("latin-1")
    name = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
    return name.lower()


class JsonRequest(Request):
    """A request whose JSON is read strictly: no half characters, no NaN."""

    async def json(self) -> Any:
        return orjson.loads(await self.body())


class JsonRoute(APIRoute):
    """A route whose bodies are read by JsonRequest, and in whose path a quoted slash is part of a name."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the path as it was sent, where it would have more parts once it is unquoted."""
        raw: bytes = scope.get("raw_path") or b""
        if SLASH not in raw.upper():
            return super().matches(scope)
        match, found = super().matches({**scope, "path": raw.decode("latin-1")})
        if match is not Match.NONE:
            named = {name: unquote(text) for name, text in found["path_params"].items()}
            found = {**found, "path_params": named}
        return match, found

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return handle_json
