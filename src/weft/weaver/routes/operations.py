"""Operations: what holds pipelines and changes several things, under way or over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.operations.operation import Kind, Operation, OperationStatus
from weft.weaver.routes import Answer, UsesWeaver, make_router

router = make_router("operations")


@dataclass(frozen=True)
class StepView:
    """One step in words, and whether it is done."""

    text: str
    done: bool


@dataclass(frozen=True)
class OperationView:
    """An operation: what was asked for, how far it is, and what stands in its way."""

    id: str
    kind: Kind
    status: OperationStatus
    asked: str
    by: str | None
    because: str | None
    request: Mapping[str, Any]
    pipelines: tuple[str, ...]
    steps: tuple[StepView, ...]
    attempts: int
    error: Mapping[str, Any] | None
    result: Mapping[str, Any]
    finished: str | None


def view(operation: Operation) -> OperationView:
    """An operation as people and pages see it."""
    return OperationView(
        id=operation.id,
        kind=operation.kind,
        status=operation.status,
        asked=operation.asked,
        by=operation.by,
        because=operation.because,
        request=operation.request,
        pipelines=operation.pipelines,
        steps=tuple(
            StepView(line, done=position < operation.done)
            for position, step in enumerate(operation.steps)
            for line in step.describe()
        ),
        attempts=operation.attempts,
        error=operation.error or operation.reason,
        result=operation.result,
        finished=operation.finished,
    )


@router.get("/operations", response_model=list[OperationView])
async def list_operations(weaver: UsesWeaver, open: bool = False) -> Answer:
    """Operations, oldest first; `open` gives only those that are not over."""
    found = await weaver.operations.runner.all()
    return Answer([view(one) for one in found if not (open and one.is_over)])


@router.get("/operations/{id}", response_model=OperationView)
async def show(weaver: UsesWeaver, id: str) -> Answer:
    """One operation: its steps and how far they are."""
    return Answer(view(await weaver.operations.runner.get(id)))


@router.post("/operations/{id}/retry", response_model=OperationView)
async def retry(weaver: UsesWeaver, id: str) -> Answer:
    """Try the step that failed again, now."""
    return Answer(view(await weaver.operations.runner.retry(id)))


@router.post("/operations/{id}/abort", response_model=OperationView)
async def abort(weaver: UsesWeaver, id: str) -> Answer:
    """Give an operation up: what it made ready is undone, or what it began is finished."""
    return Answer(view(await weaver.operations.abort(id)))
