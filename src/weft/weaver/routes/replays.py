"""Replays: recorded knots run again, as they were or otherwise. Each is an operation that holds nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from weft import codec
from weft.operations.operation import Operation, OperationStatus
from weft.operations.run import OperationMissingError
from weft.operations.step import Rerun, Step
from weft.replays.compared import RowComparison
from weft.replays.report import LegReport, first_of
from weft.replays.request import ReplayRequest
from weft.weaver.code_of_knots import ReplayError
from weft.weaver.explaining import find_place
from weft.weaver.promoting import promoted
from weft.weaver.replays import Progress, RuleChange, checked_what_if, span_of
from weft.weaver.routes import Answer, Body, KnotNumber, Text, UsesWeaver, Whole, make_router
from weft.weaver.routes.operations import OperationView
from weft.weaver.routes.operations import view as view_operation

router = make_router("replays")

MOST_ADDED = 10_000
MOST_SPEED = 1e6
Added = Annotated[list[dict[str, Any]], Field(max_length=MOST_ADDED)]


class Changed(Body):
    """What is different from what was recorded; nothing, when the replay is to prove itself."""

    rules: list[RuleChange] = Field(default_factory=list)
    without: list[str] = Field(default_factory=list)
    leave_out: dict[str, Text] = Field(default_factory=dict)
    add: dict[str, Added] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    functions: dict[str, str] = Field(default_factory=dict)
    project: dict[str, Any] | None = None


class Asked(Body):
    """The knots of a stream to run again: by number, by time, or the one that made a record."""

    stream: str
    after: KnotNumber | None = None
    upto: KnotNumber | None = None
    since: str | None = None
    until: str | None = None
    record: Text | None = None
    source: str | None = None
    speed: Annotated[float, Field(gt=0, le=MOST_SPEED)] | None = None
    change: Changed = Changed()
    author: Text | None = None
    note: Text | None = None
    wait_s: float = Field(default=30.0, ge=0, le=3600)


@dataclass(frozen=True)
class ReplayView:
    """A replay: what was asked for, how far it is, and what came of it."""

    id: str | None
    status: str
    stream: str
    after: int
    """The knot that it begins behind."""
    first_knot: int
    """The first that it runs: those between were rolled back."""
    upto: int
    steps: tuple[str, ...]
    changes: bool
    """Whether something was to be different."""
    verified: bool | None = None
    """Whether everything was as it is recorded; None while that is not known, or something was to be different."""
    first: Mapping[str, Any] | None = None
    """The first thing that differs."""
    legs: tuple[LegReport, ...] = ()
    comparison: RowComparison | None = None
    warnings: tuple[str, ...] = ()
    """What is installed here and differs from what was when a function that is run again was declared."""
    progress: Progress | None = None
    asked: str | None = None
    finished: str | None = None
    error: Mapping[str, Any] | None = None
    workspace: str | None = None


@router.get("/replays", response_model=list[ReplayView])
async def list_replays(weaver: UsesWeaver) -> Answer:
    """All replays, oldest first."""
    found = await weaver.operations.runner.all()
    return Answer([view(weaver, one) for one in found if one.kind == "replay"])


@router.get("/replays/{id}", response_model=ReplayView)
async def show(weaver: UsesWeaver, id: str) -> Answer:
    """One replay: how far it is, and what came of it."""
    return Answer(view(weaver, await _get(weaver, id)))


@router.post("/replays", response_model=ReplayView)
async def run(weaver: UsesWeaver, body: Asked, dry_run: bool = False) -> Answer:
    """Run knots again into a workspace and compare them; with `dry_run` only say what would be done."""
    change = body.change
    span = await _span(weaver, body)
    what_if = await checked_what_if(
        weaver,
        rules=change.rules,
        without=change.without,
        leave_out=change.leave_out,
        add=change.add,
        project=change.project,
        settings=change.settings,
        functions=change.functions,
    )
    asked = ReplayRequest(body.stream, *span, source=body.source, what_if=what_if, speed=body.speed)
    request = codec.to_form(asked)
    if dry_run:
        steps = await weaver.operations.plan("replay", request)
        lines = tuple(line for step in steps for line in step.describe())
        return Answer(
            ReplayView(
                *(
                    None,
                    "planned",
                    asked.stream,
                    asked.after,
                    _first(asked, steps),
                    asked.upto,
                    lines,
                ),
                changes=bool(asked.what_if),
                warnings=_warnings(steps),
            )
        )
    operation = await weaver.operations.run(
        "replay", request, wait=body.wait_s, by=body.author, because=body.note
    )
    return Answer(view(weaver, operation))


@router.delete("/replays/{id}", response_model=ReplayView)
async def drop(weaver: UsesWeaver, id: str) -> Answer:
    """Remove the workspace of a replay that is over; what came of it stays known."""
    operation = await _get(weaver, id)
    await weaver.replays.drop(operation)
    return Answer(view(weaver, operation))


@router.post("/replays/{id}/promote", response_model=OperationView)
async def promote(
    weaver: UsesWeaver, id: str, dry_run: bool = False, author: Text | None = None
) -> Answer:
    """Make what a replay has tried true: its streams are rolled back to where it began, and rewritten by it."""
    tried = await _get(weaver, id)
    return Answer(view_operation(await promoted(weaver, tried, dry_run=dry_run, by=author)))


class LegProgress(Body):
    """How far the worker is with a leg."""

    pipeline: str
    done: Whole
    knots: Whole


@router.post("/replays/{id}/progress", status_code=204)
async def note(weaver: UsesWeaver, id: str, body: LegProgress) -> None:
    """Remember how far the worker is."""
    await _get(weaver, id)
    weaver.replays.note(id, Progress(body.pipeline, body.done, body.knots))


async def _span(weaver: UsesWeaver, body: Asked) -> tuple[int, int]:
    """The knots that are meant: after the first number, up to the second."""
    said = (body.after, body.upto, body.since, body.until)
    if body.record is None:
        return span_of(weaver, body.stream, *said)
    if any(one is not None for one in said):
        raise ReplayError(
            f"Record '{body.record}' is in one knot, and others are named beside it.",
            code="replay.span",
            hint="Name knots, times or a record.",
        )
    place = await find_place(weaver, body.stream, body.record)
    knot = weaver.knots.get(weaver.catalog.stream(body.stream).origin, place.knot)
    return knot.previous or 0, knot.number


async def _get(weaver: UsesWeaver, id: str) -> Operation:
    try:
        operation = await weaver.operations.runner.get(id)
    except OperationMissingError as error:
        raise OperationMissingError(id, kind="replay") from error
    if operation.kind != "replay":
        raise OperationMissingError(id, kind="replay")
    return operation


def view(weaver: UsesWeaver, operation: Operation) -> ReplayView:
    """A replay as people and pages see it."""
    request = codec.from_form(ReplayRequest, operation.request)
    legs = operation.result.get("legs", ())
    is_done = operation.status is OperationStatus.DONE
    first = first_of(legs)
    comparison = operation.result.get("comparison")
    return ReplayView(
        id=operation.id,
        status=str(operation.status),
        stream=request.stream,
        after=request.after,
        first_knot=_first(request, operation.steps),
        upto=request.upto,
        steps=tuple(operation.describe()),
        changes=bool(request.what_if),
        verified=first is None if is_done and not request.what_if else None,
        first=first,
        legs=tuple(codec.from_form(LegReport, leg) for leg in legs),
        comparison=None if comparison is None else codec.from_form(RowComparison, comparison),
        warnings=_warnings(operation.steps),
        progress=None if operation.is_over else weaver.replays.progress(operation.id),
        asked=operation.asked,
        finished=operation.finished,
        error=operation.error or operation.reason,
        workspace=weaver.replays.place(operation.id),
    )


def _first(asked: ReplayRequest, steps: Sequence[Step]) -> int:
    """The first knot of the stream that is asked for."""
    legs = [step.leg for step in steps if isinstance(step, Rerun)]
    found = next((leg.first for leg in legs if leg.stream == asked.stream), 0)
    return found or asked.after + 1


def _warnings(steps: Sequence[Step]) -> tuple[str, ...]:
    """What the legs of a replay say of what is installed."""
    found = [told for step in steps if isinstance(step, Rerun) for told in step.leg.unlike]
    return tuple(dict.fromkeys(found))
