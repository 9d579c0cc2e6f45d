"""Rollbacks: a stream as it was at a knot, and everything downstream with it. Each is an operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from weft.operations.cut import Cut
from weft.operations.operation import PATIENCE_S, Operation
from weft.operations.run import OperationMissingError
from weft.operations.step import Settle, describe
from weft.weaver.routes import LARGEST, Answer, Body, Text, UsesWeaver, make_router

router = make_router("rollbacks")


class Rollback(Body):
    """A stream and the knot that it goes back to."""

    stream: str
    to: int = Field(ge=0, le=LARGEST, description="a knot of the stream; 0 is before the first")
    author: Text | None = None
    note: Text | None = None
    patience_s: float = Field(
        default=PATIENCE_S,
        ge=0,
        le=3600,
        description="for so long a batch in hand may go on; then it is cancelled",
    )
    queue: bool = Field(
        default=False,
        description="wait while another operation has a pipeline, in place of a refusal",
    )


@dataclass(frozen=True)
class RollbackPlan:
    """What a rollback does, in order."""

    stream: str
    to: int
    steps: tuple[str, ...]
    cuts: tuple[Cut, ...] = ()
    """Where each pipeline goes back to."""
    retired: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()


@dataclass(frozen=True)
class RollbackView:
    """A rollback: its plan, and where it stands."""

    status: str
    plan: RollbackPlan
    id: str | None = None
    asked: str | None = None
    finished: str | None = None
    because: str | None = None


@router.get("/rollbacks", response_model=list[RollbackView])
async def list_rollbacks(weaver: UsesWeaver) -> Answer:
    """All rollbacks, oldest first."""
    found = await weaver.operations.runner.all()
    return Answer([view(one) for one in found if one.kind == "rollback"])


@router.get("/rollbacks/{id}", response_model=RollbackView)
async def show(weaver: UsesWeaver, id: str) -> Answer:
    """One rollback: its plan and how far it is."""
    operation = await weaver.operations.runner.get(id)
    if operation.kind != "rollback":
        raise OperationMissingError(id)
    return Answer(view(operation))


@router.post("/rollbacks", response_model=RollbackView)
async def roll_back(weaver: UsesWeaver, body: Rollback, dry_run: bool = False) -> Answer:
    """Roll a stream back to a knot; with `dry_run` only say what would be done."""
    if dry_run:
        asked = {"stream": body.stream, "to": body.to}
        steps = await weaver.operations.plan("rollback", asked)
        return Answer(RollbackView("planned", plan_view(body.stream, body.to, steps)))
    operation = await weaver.roll_back(
        body.stream,
        body.to,
        patience_s=body.patience_s,
        by=body.author,
        because=body.note,
        queue=body.queue,
    )
    return Answer(view(operation))


def plan_view(stream: str, to: int, steps: Sequence[Any]) -> RollbackPlan:
    """The steps of a rollback as people read them."""
    settled = next((step for step in steps if isinstance(step, Settle)), None)
    return RollbackPlan(
        stream=stream,
        to=to,
        steps=tuple(describe(tuple(steps))),
        cuts=settled.cuts if settled else (),
        retired=settled.retire if settled else (),
        restored=settled.restore if settled else (),
    )


def view(operation: Operation) -> RollbackView:
    """A rollback as people and pages see it."""
    request = operation.request
    return RollbackView(
        status=str(operation.status),
        plan=plan_view(request["stream"], request["to"], operation.steps),
        id=operation.id,
        asked=operation.asked,
        finished=operation.finished,
        because=operation.because,
    )
