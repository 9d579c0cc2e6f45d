"""The short way of requests that come with every batch: from the body to the route's own function, and back.

Looking through all routes, solving dependencies and keeping stacks of things to close takes FastAPI about as long as
a pin takes the weaver. Here the types of the route's function read the request. Whatever they cannot read takes the
ordinary way, where mistakes are told; so a route is declared once, and answers the same by both.
"""

from __future__ import annotations

from collections.abc import Iterable
from re import Pattern
from typing import Any, get_type_hints

import orjson
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from weft.errors import WeftError
from weft.weaver.body import again, whole_body
from weft.weaver.problems import problem

JSON = (b"content-type", b"application/json")
WEAVER = "weft.weaver"
"""Under this name the scope of a request has the weaver that it is for."""


class ShortRoute:
    """A route that takes a body of JSON, parts of its path, and the weaver."""

    def __init__(self, route: APIRoute) -> None:
        hints = get_type_hints(route.endpoint, include_extras=True)
        self._path: Pattern[str] = route.path_regex
        self._body: TypeAdapter[Any] = TypeAdapter(hints["body"])
        self._parts = {
            name: TypeAdapter(hints[name]) for name in route.path_regex.groupindex if name in hints
        }
        self.answer = route.endpoint

    def parts_of(self, path: str) -> dict[str, str] | None:
        """The parts of a path that is this route's, as text."""
        match = self._path.match(path)
        return None if match is None else match.groupdict()

    def read(self, parts: dict[str, str], body: bytes) -> dict[str, Any]:
        """The arguments of the route's function; raises ValueError where the request does not have them."""
        read = {name: self._parts[name].validate_python(text) for name, text in parts.items()}
        return {**read, "body": self._body.validate_python(orjson.loads(body))}


class ShortWay:
    """Answers the routes that take the short way, and hands everything else on."""

    def __init__(self, app: ASGIApp, *, routes: Iterable[BaseRoute]) -> None:
        self._app = app
        self._routes = [
            ShortRoute(route)
            for route in routes
            if isinstance(route, APIRoute) and route.body_field is not None
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or JSON not in scope["headers"]:
            await self._app(scope, receive, send)
            return
        for route in self._routes:
            parts = route.parts_of(scope["path"])
            if parts is not None:
                await self._take(route, parts, scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _take(
        self, route: ShortRoute, parts: dict[str, str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        body = await whole_body(receive)
        if body is None:
            return
        try:
            read = route.read(parts, body)
        except (ValidationError, orjson.JSONDecodeError):
            await self._app(scope, again(body, receive), send)
            return
        try:
            answer = await route.answer(**read, weaver=scope[WEAVER])
        except WeftError as error:
            answer = problem(error)
        await answer(scope, receive, send)
