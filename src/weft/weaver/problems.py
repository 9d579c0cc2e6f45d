"""Errors as problem+json: the same code, message, hint and ids that the CLI prints."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from weft.errors import EDGES, WeftError
from weft.logs import get_logger

log = get_logger(__name__)

_WHERE = ("body", "query", "path")
"""What FastAPI puts before the name of a field."""


def problem(error: WeftError, *, status: int | None = None) -> JSONResponse:
    """The response that tells of an error."""
    code = status or EDGES[error.domain].http_status
    body = {
        "type": f"urn:weft:{error.code}",
        "title": error.code,
        "status": code,
        "detail": error.message,
        **error.to_dict(),
    }
    return JSONResponse(body, status_code=code, media_type="application/problem+json")


def install(app: FastAPI) -> None:
    """Make every error of the app a problem+json response."""

    @app.exception_handler(WeftError)
    async def _weft(_: Request, error: WeftError) -> JSONResponse:
        return problem(error)

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return problem(_validation(error.errors()))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        told = WeftError(
            f"{request.method} {request.url.path} is not something this service answers: "
            f"{error.detail}.",
            code="request.unknown-path" if error.status_code == 404 else "request.refused",
            domain="user",
            hint="The paths and methods are listed at /docs.",
        )
        return problem(told, status=error.status_code)

    @app.exception_handler(Exception)
    async def _unexpected(request: Request, error: Exception) -> JSONResponse:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        told = WeftError(
            f"{request.method} {request.url.path} failed inside the weaver: {type(error).__name__}.",
            code="weaver.defect",
            hint="The weaver's log has the details; please report it.",
        )
        return problem(told)


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
