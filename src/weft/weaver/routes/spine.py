"""What workers call for every batch: pin before, complete after, or fail. Bodies are read in one pass, for speed."""

from __future__ import annotations

from typing import Any, TypeVar

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from weft import canonical
from weft.weaver.knots import PinRequest
from weft.weaver.routes import KnotNumber, UsesWeaver
from weft.weaver.weaver import Weaver

router = APIRouter(tags=["spine"])
Form = TypeVar("Form", bound=BaseModel)


class Pin(BaseModel):
    """A batch about to run: its offsets, and which knots of its inputs it takes."""

    pipeline: str
    stream: str
    worker: str
    token: int
    epoch: int
    batch: int
    offsets: dict[str, Any]
    inputs: dict[str, tuple[int, int]]


class Completion(BaseModel):
    """What a batch wrote."""

    worker: str
    token: int
    facts: dict[str, Any]


class Failure(BaseModel):
    """Why a batch could not be finished."""

    worker: str
    token: int
    reason: str


def _takes(form: type[BaseModel]) -> dict[str, Any]:
    """The body of a request as OpenAPI describes it."""
    content = {"application/json": {"schema": form.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


@router.post("/pins", openapi_extra=_takes(Pin))
async def pin(request: Request) -> Response:
    """Fix the rule set of a batch; a repeated batch gets the same one."""
    weaver: Weaver = request.app.state.weaver
    body = await _read(request, Pin)
    await weaver.fills.passage(body.pipeline)
    asked = PinRequest(
        body.pipeline, body.stream, body.epoch, body.batch, body.offsets, body.inputs
    )
    pinned = weaver.pin(asked, worker=body.worker, token=body.token)
    await weaver.flush.wait()
    return _json(pinned)


@router.post("/pins/{stream}/{number}/complete", openapi_extra=_takes(Completion))
async def complete(request: Request, stream: str, number: KnotNumber) -> Response:
    """Tie the knot of a batch that was written."""
    weaver: Weaver = request.app.state.weaver
    body = await _read(request, Completion)
    knot = weaver.complete(stream, number, body.facts, worker=body.worker, token=body.token)
    await weaver.flush.wait()
    return _json(knot.to_dict())


@router.post("/pins/{stream}/fail")
async def fail(body: Failure, stream: str, weaver: UsesWeaver) -> dict[str, Any]:
    """Note that the batch in hand of a stream failed; it keeps its rules and runs again."""
    knot = weaver.fail(stream, body.reason, worker=body.worker, token=body.token)
    return {"knot": None if knot is None else knot.number}


async def _read(request: Request, form: type[Form]) -> Form:
    try:
        return form.model_validate_json(await request.body())
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error


def _json(value: Any) -> Response:
    return Response(canonical.encode(value), media_type="application/json")
