"""Errors as problem+json: the same code, message, hint and ids that the CLI prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from weft import canonical
from weft.errors import EDGES, Domain, WeftError
from weft.logs import get_logger

log = get_logger(__name__)

MEDIA = "application/problem+json"
_WHERE = ("body", "query", "path")
"""What FastAPI puts before the name of a field."""


class ErrorAnswer(BaseModel):
    """What could not be done, to which thing, why, and what to do about it."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    code: str
    domain: Domain
    message: str
    hint: str | None
    retryable: bool
    ids: dict[str, Any]


MEANINGS: Mapping[int, str] = {
    400: "The request is not HTTP as it should be.",
    403: "The request comes from a page of another site.",
    404: "There is no such thing.",
    405: "This path does not take this method.",
    409: "It does not go together with what is under way or recorded.",
    413: "The body is too large.",
    421: "The request is addressed to another host.",
    422: "The request cannot be done as it is.",
    500: "The weaver failed in a way that it should not.",
    503: "Something that is needed is away.",
}

RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {
        "description": meaning,
        "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, meaning in MEANINGS.items()
}
"""The errors that any route may answer with, for the OpenAPI document."""


def problem(
    error: WeftError, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """The response that tells of an error."""
    code = status or EDGES[error.domain].http_status
    body = {
        "type": f"urn:weft:{error.code}",
        "title": error.code,
        "status": code,
        "detail": error.message,
        **error.to_dict(),
    }
    return Response(
        canonical.encode_loosely(body),
        status_code=code,
        media_type=MEDIA,
        headers=dict(headers or {}),
    )


def install(app: FastAPI) -> None:
    """Make every error of the app a problem+json response, and say so in its OpenAPI document."""
    describe = app.openapi

    def described() -> dict[str, Any]:
        document = describe()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas.setdefault("Problem", ErrorAnswer.model_json_schema())
        return document

    app.openapi = described  # type: ignore[method-assign]

    @app.exception_handler(WeftError)
    async def _weft(_: Request, error: WeftError) -> Response:
        return problem(error)

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> Response:
        return problem(_validation(error.errors()))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        told = WeftError(
            f"{request.method} {request.url.path} is not something this service answers: "
            f"{error.detail}.",
            code="request.unknown-path" if error.status_code == 404 else "request.refused",
            domain="user",
            hint="The paths and methods are listed at /docs.",
        )
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["allow"] = ", ".join(_allowed(request))
        return problem(told, status=error.status_code, headers=headers)

    @app.exception_handler(Exception)
    async def _unexpected(request: Request, error: Exception) -> Response:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        told = WeftError(
            f"{request.method} {request.url.path} failed inside the weaver: {type(error).__name__}.",
            code="weaver.defect",
            hint="The weaver's log has the details; please report it.",
        )
        return problem(told)


def _allowed(request: Request) -> list[str]:
    """The methods that the path of a request takes, by whichever route."""
    methods: set[str] = set()
    for route in request.app.state.routes:
        match, _ = route.matches({**request.scope, "method": "GET"})
        if match is not Match.NONE:
            methods |= route.methods
    return sorted(methods)


def _validation(errors: Any) -> WeftError:
    first = errors[0]
    # Where JSON itself is wrong, the place is a position in the text and not a field.
    names = () if first["type"] == "json_invalid" else first["loc"]
    field = ".".join(str(part) for part in names if part not in _WHERE) or "the body"
    more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    return WeftError(
        f"The request cannot be read: {field}: {first['msg']}{more}.",
        code="request.invalid",
        domain="user",
        hint="See /docs for the form of this request.",
        field=field,
    )
