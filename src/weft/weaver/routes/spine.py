"""What workers call for every batch: pin before, confirm what may leave, complete after, or fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from weft.lineage.facts import Facts
from weft.lineage.knot import Knot
from weft.lineage.offsets import Offsets
from weft.lineage.pin import Pinned
from weft.project.watch import MOST_SERIES
from weft.weaver.knots import PinRequest
from weft.weaver.routes import Answer, Count, KnotNumber, UsesWeaver, Whole, make_router

router = make_router("spine")


class Pin(BaseModel):
    """A batch about to run: its offsets, and which knots of its inputs it takes."""

    pipeline: str
    stream: str
    worker: str
    token: Whole
    epoch: Whole
    batch: Whole
    offsets: Offsets
    inputs: dict[str, tuple[KnotNumber, KnotNumber]]


class Holder(BaseModel):
    """The worker that asks, and the lease by which it does."""

    worker: str
    token: Whole


class Completion(Holder):
    """What a batch wrote, and what it adds to the series that are watched."""

    facts: Facts
    series: Annotated[dict[str, float], Field(max_length=MOST_SERIES)] = Field(default_factory=dict)


class Failure(Holder):
    """Why a batch could not be finished."""

    reason: Annotated[str, Field(max_length=10_000)]


@dataclass(frozen=True)
class FailedKnot:
    """The knot whose batch failed, if one was in hand."""

    knot: int | None


@router.post("/pins", response_model=Pinned)
async def pin(body: Pin, weaver: UsesWeaver) -> Answer:
    """Fix the rule set of a batch; a repeated batch gets the same one."""
    asked = PinRequest(
        body.pipeline, body.stream, body.epoch, body.batch, body.offsets, body.inputs
    )
    pinned = await weaver.pin(asked, worker=body.worker, token=body.token)
    await weaver.flush.wait()
    return Answer(pinned)


@router.get("/pins/{stream}", response_model=list[Pinned])
async def recorded(
    weaver: UsesWeaver, stream: str, after: KnotNumber, upto: KnotNumber, limit: Count = 200
) -> Answer:
    """The live knots of a stream as they were pinned, newest first: what a replay runs again."""
    return Answer(weaver.pinned(stream, after=after, upto=upto, limit=limit))


@router.post("/pins/{stream}/{number}/confirm", response_model=Knot)
async def confirm(body: Holder, stream: str, number: KnotNumber, weaver: UsesWeaver) -> Answer:
    """Say that the rows of a batch may leave through sinks: it still is this worker's to finish."""
    return Answer(weaver.confirm(stream, number, worker=body.worker, token=body.token))


@router.post("/pins/{stream}/{number}/complete", response_model=Knot)
async def complete(body: Completion, stream: str, number: KnotNumber, weaver: UsesWeaver) -> Answer:
    """Tie the knot of a batch that was written."""
    knot = weaver.complete(
        stream, number, body.facts, worker=body.worker, token=body.token, series=body.series
    )
    await weaver.flush.wait()
    return Answer(knot)


@router.post("/pins/{stream}/fail", response_model=FailedKnot)
async def fail(body: Failure, stream: str, weaver: UsesWeaver) -> Answer:
    """Note that the batch in hand of a stream failed; it keeps its rules and runs again."""
    knot = weaver.fail(stream, body.reason, worker=body.worker, token=body.token)
    return Answer(FailedKnot(None if knot is None else knot.number))
