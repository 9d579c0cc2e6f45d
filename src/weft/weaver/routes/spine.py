"""What workers call for every batch: pin before, complete after."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from weft import canonical
from weft.weaver.knots import PinRequest
from weft.weaver.routes import KnotNumber
from weft.weaver.weaver import Weaver

router = APIRouter(tags=["spine"])


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


@router.post("/pins")
async def pin(request: Request, body: Pin) -> Response:
    """Fix the rule set of a batch; a repeated batch gets the same one."""
    weaver: Weaver = request.app.state.weaver
    await weaver.fills.passage(body.pipeline)
    asked = PinRequest(
        body.pipeline, body.stream, body.epoch, body.batch, body.offsets, body.inputs
    )
    pinned = weaver.pin(asked, worker=body.worker, token=body.token)
    await weaver.flush.wait()
    return _json(pinned)


class Completion(BaseModel):
    """What a batch wrote."""

    worker: str
    token: int
    facts: dict[str, Any]


@router.post("/pins/{stream}/{number}/complete")
async def complete(request: Request, stream: str, number: KnotNumber, body: Completion) -> Response:
    """Tie the knot of a batch that was written."""
    weaver: Weaver = request.app.state.weaver
    knot = weaver.complete(stream, number, body.facts, worker=body.worker, token=body.token)
    await weaver.flush.wait()
    return _json(knot.to_dict())


def _json(value: Any) -> Response:
    return Response(canonical.encode(value), media_type="application/json")
