"""Rows that are let go of: what a stream may lose now, who needs what of it, and the step that does it.

That rows up to a knot are gone is written down before anything is done to their table, so that whatever is planned from
then on (a rollback, a replay, a fill) counts with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.clock import iso, parse_iso
from weft.errors import WeftError
from weft.lineage.facts import FilledPart
from weft.lineage.knot import Knot, Status
from weft.operations.cut import Reach
from weft.operations.expiry import ExpiryVerdict, KnotRows, RowNeed, decide
from weft.operations.operation import Operation
from weft.operations.run import OperationBusyError
from weft.operations.step import Expire, Rerun, Step
from weft.project.settings import RAW, HistorySpec
from weft.weaver.catalog import Pipeline
from weft.weaver.fills import NOT_YET
from weft.weaver.knots import line
from weft.weaver.store.records import Records, put
from weft.weaver.store.store import Write

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

WORKER_S = 3600.0


class NoHistoryLimitError(WeftError):
    """A stream that keeps all of its rows was to lose some."""

    code = "history.unlimited"
    domain = "user"


@dataclass(frozen=True)
class ExpiredRows:
    """The last knot of a stream whose rows were let go of, when and by which operation."""

    upto: int
    at: str
    operation: str


def store_expired(stream: str, expired: ExpiredRows) -> Write:
    """The write that says how far the rows of a stream are gone."""
    return put(line(stream), "expired", value=expired)


def expired_upto(records: Records, stream: str) -> int:
    """The last knot of a stream whose rows are gone, or go now; 0 when none are."""
    known = records.find(ExpiredRows, line(stream), "expired")
    return known.upto if known is not None else 0


def history_of(weaver: Weaver, stream: str) -> HistorySpec:
    """What the project says of a stream's rows; what it says of a stream goes for those that are written beside it."""
    project, known = weaver.catalog.project(), weaver.catalog.stream(stream)
    own = project.streams.get(stream)
    if own is not None and own.history.is_limited:
        return own.history
    origin = project.streams.get(known.origin)
    return origin.history if origin is not None else HistorySpec()


def readers_of(weaver: Weaver, stream: str) -> list[Pipeline]:
    """The pipelines that read a stream."""
    return [one for one in weaver.catalog.pipelines() if stream in one.inputs]


async def plan_expiry(weaver: Weaver, request: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps that let go of what a stream need not keep; none where there is nothing."""
    stream = str(request["stream"])
    history = history_of(weaver, stream)
    if not history.is_limited:
        raise NoHistoryLimitError(
            f"Stream '{stream}' keeps all of its rows: the project says no limit of its `history`.",
            hint=f"Say `streams: {{{stream}: {{history: {{keep_days: 30}}}}}}` and `weft apply`.",
            stream=stream,
        )
    check_free(weaver, stream)
    kept = await kept_rows(weaver, stream)
    verdict = await decided(weaver, stream, kept, exact=True)
    after = expired_upto(weaver.records, stream)
    going = [one for one in kept if after < one.number <= verdict.upto]
    if not going:
        return ()
    rows, size = sum(one.rows for one in going), sum(one.bytes for one in going)
    return (Expire(stream, after, verdict.upto, rows, size),)


def check_free(weaver: Weaver, stream: str) -> None:
    """Refuse while an operation holds the pipeline of a stream, or one that reads it."""
    names = [weaver.catalog.stream(stream).pipeline]
    for name in [*names, *(one.name for one in readers_of(weaver, stream))]:
        if (hold := weaver.operations.hold(name)) is not None:
            raise OperationBusyError(name, hold.operation)


async def expire(weaver: Weaver, operation: Operation, step: Expire) -> dict[str, Any]:
    """Do the step: decide again, write down what goes, and have a worker let go of it. May be repeated."""
    stream = step.stream
    if expired_upto(weaver.records, stream) < step.upto and not operation.given_up:
        kept = await kept_rows(weaver, stream)
        verdict = await decided(weaver, stream, kept, exact=True)
        # From here to the write nothing is waited for, so that nobody takes hold in between.
        check_free(weaver, stream)
        before = expired_upto(weaver.records, stream)
        upto = min(step.upto, verdict.upto)
        if upto > before:
            gone = ExpiredRows(upto, iso(weaver.clock.now()), operation.id)
            weaver.store.apply([store_expired(stream, gone)])
    upto = expired_upto(weaver.records, stream)
    if upto <= step.after:
        return {"upto": upto, "files": 0, "bytes": 0}
    arguments = {"operation": operation.id, "stream": stream, "after": step.after, "upto": upto}
    deleted: dict[str, Any] = await weaver.ask("expire", arguments, timeout=WORKER_S)
    return {"upto": upto, **deleted}


async def kept_rows(weaver: Weaver, stream: str) -> list[KnotRows]:
    """What each knot whose rows are kept has written to a stream, oldest first, also those that were rolled back."""
    return await asyncio.to_thread(_kept_rows, weaver, stream)


def _kept_rows(weaver: Weaver, stream: str) -> list[KnotRows]:
    origin = weaver.catalog.stream(stream).origin
    expired = expired_upto(weaver.records, stream)
    found: dict[int, KnotRows] = {}
    for knot in weaver.knots.after(origin, expired):
        output = knot.outputs.get(stream)
        if output is not None and knot.completed is not None:
            at = parse_iso(knot.completed)
            found[knot.number] = KnotRows(knot.number, at, output.rows, output.bytes)
    for part in weaver.records.scan(FilledPart, line(stream), "fill"):
        filled = weaver.knots.find(origin, part.knot)
        if part.knot > expired and filled is not None:
            at = parse_iso(filled.completed or filled.now)
            found[part.knot] = KnotRows(part.knot, at, part.rows, part.bytes)
    return [found[number] for number in sorted(found)]


async def decided(
    weaver: Weaver, stream: str, kept: list[KnotRows], *, exact: bool
) -> ExpiryVerdict:
    """How far the rows of a stream go now."""
    readers = readers_of(weaver, stream)
    reach = await weaver.operations.planner.reach(readers, exact)
    operations = await weaver.operations.runner.all()
    return decide(
        history_of(weaver, stream),
        kept,
        list(needs_of(weaver, stream, kept, reach, operations)),
        now=weaver.clock.now(),
        expired=expired_upto(weaver.records, stream),
    )


def needs_of(
    weaver: Weaver,
    stream: str,
    kept: Sequence[KnotRows],
    reach: Mapping[str, Reach],
    operations: Iterable[Operation],
) -> Iterator[RowNeed]:
    """Who needs which rows of a stream; `kept` are those that it has."""
    newest = _newest(weaver, stream, kept)
    if newest is not None:
        yield RowNeed(newest - 1, "its newest knot")
    for pipeline in readers_of(weaver, stream):
        oldest = _oldest(weaver, pipeline, reach.get(pipeline.name))
        after = _begun(weaver, oldest, stream) if oldest is not None else 0
        yield RowNeed(after, f"pipeline {pipeline.name}")
    for rule in weaver.rules.all(active=True):
        if rule.stream == stream and rule.since == NOT_YET:
            yield RowNeed(rule.filled_after or 0, f"rule {rule.id}, whose stream is being filled")
    for operation in operations:
        if operation.kind == "replay" and not operation.is_over:
            yield from _replayed(weaver, stream, operation)


def _newest(weaver: Weaver, stream: str, kept: Sequence[KnotRows]) -> int | None:
    """The newest live knot that a stream has; what is diverted from another has few of that one's."""
    origin = weaver.catalog.stream(stream).origin
    if origin == stream:
        return weaver.knots.head(stream).number
    for one in reversed(kept):
        knot = weaver.knots.find(origin, one.number)
        if knot is not None and knot.status is Status.COMPLETE:
            return one.number
    return None


def _oldest(weaver: Weaver, pipeline: Pipeline, reach: Reach | None) -> Knot | None:
    """The oldest knot that a pipeline can go back to with its state; without state, its newest one."""
    newest = weaver.knots.newest(pipeline.stream)
    if newest is None or reach is None:
        return newest
    found = [newest]
    for number in reach.keyframes:
        knot = weaver.knots.find(pipeline.stream, number)
        if knot is not None and knot.status is Status.COMPLETE:
            found.append(knot)
    first = reach.earliest.get(pipeline.epoch)
    if first is not None:
        found += weaver.knots.of_batch(pipeline.stream, first, epochs=pipeline.epoch)
    return min(found, key=lambda knot: knot.number)


def _begun(weaver: Weaver, knot: Knot, stream: str) -> int:
    """The last knot of a stream that was consumed before a knot: Spark asks for its last batch again when it starts."""
    before = weaver.knots.find(knot.stream, knot.previous) if knot.previous else None
    return before.offsets.inputs.get(stream, 0) if before is not None else 0


def _replayed(weaver: Weaver, stream: str, operation: Operation) -> Iterator[RowNeed]:
    for leg in (step.leg for step in operation.steps if isinstance(step, Rerun)):
        if stream in (*leg.streams, f"{leg.stream}{RAW}"):
            yield RowNeed(leg.after, operation.id)
        begin = weaver.knots.find(leg.stream, leg.begin) if leg.begin else None
        if stream in leg.recorded:
            yield RowNeed(_begun(weaver, begin, stream) if begin else 0, operation.id)
