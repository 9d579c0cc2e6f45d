"""What is kept of each stream: rows from which knot on, states, what its source keeps, their bytes, and what goes next.

Called by the route of `weft history`. What lies on disks is asked of a worker; without one, states are not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weft.clock import iso
from weft.lineage.knot import Knot, Status
from weft.operations.expiry import KnotRows
from weft.project.settings import HistorySpec
from weft.weaver.catalog import Stream
from weft.weaver.expiring import decided, expired_upto, history_of, kept_rows
from weft.weaver.tasks import NoWorkerError

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

LOOK_S = 60.0
ALONE_S = 2.0
GENERATED = ("mock",)
"""Sources that give the same records for ever."""


@dataclass(frozen=True)
class KeptStates:
    """States of the pipeline that writes a stream: how many knots have a keyframe, since when all of them are kept."""

    keyframes: int
    first_keyframe: int | None
    first: int | None
    """The first knot since which Spark keeps the state of each."""
    bytes: int


@dataclass(frozen=True)
class NextExpiry:
    """What goes when the stream is looked at next."""

    upto: int
    rows: int
    bytes: int
    held_by: str | None = None
    """Who keeps rows that are too old or too much."""


@dataclass(frozen=True)
class StreamHistory:
    """What is kept of one stream."""

    stream: str
    keeps: HistorySpec
    expired: int
    """The rows of knots up to this one are gone; their knots are not."""
    first: int | None
    """The first knot whose rows are kept, and when it was tied."""
    since: str | None
    last: int | None
    knots: int
    rows: int
    bytes: int
    states: KeptStates | None = None
    source: str | None = None
    """Where its records come from."""
    source_first: int | None = None
    """The first knot whose records the source can be asked for again, where that is known."""
    next: NextExpiry | None = None
    files: int | None = None
    """How many files its rows lie in, where a worker could look."""


async def histories(weaver: Weaver, stream: str | None = None) -> list[StreamHistory]:
    """What is kept of every stream, or of one, in the order of their names."""
    streams = weaver.catalog.streams() if stream is None else [weaver.catalog.stream(stream)]
    known = [one for one in streams if not one.dropped]
    told = await _told(weaver)
    names = [one.name for one in known]
    files = await weaver.ask("files", {"streams": names}, timeout=LOOK_S) if told else {}
    found = [await _history(weaver, one, told) for one in known]
    return [replace(one, files=files.get(one.stream)) for one in found]


async def _told(weaver: Weaver) -> Mapping[str, Any] | None:
    """What lies on disks beside the tables, or None when there is no worker to look."""
    epochs = {one.name: list(range(one.epoch + 1)) for one in weaver.catalog.pipelines()}
    try:
        found: Mapping[str, Any] = await weaver.ask(
            "kept", {"pipelines": epochs}, timeout=LOOK_S, taken_within=ALONE_S
        )
    except NoWorkerError:
        return None
    return found


async def _history(weaver: Weaver, stream: Stream, told: Mapping[str, Any] | None) -> StreamHistory:
    kept = await kept_rows(weaver, stream.name)
    held = [one for one in kept if one.rows]
    found = StreamHistory(
        stream=stream.name,
        keeps=history_of(weaver, stream.name),
        expired=expired_upto(weaver.records, stream.name),
        first=held[0].number if held else None,
        since=iso(held[0].at) if held else None,
        last=held[-1].number if held else None,
        knots=len(kept),
        rows=sum(one.rows for one in kept),
        bytes=sum(one.bytes for one in kept),
    )
    if found.keeps.is_limited and told is not None:
        found = replace(found, next=await _next(weaver, stream.name, kept))
    if stream.origin != stream.name or told is None or stream.pipeline not in told:
        return found
    on_disk = told[stream.pipeline]
    spec = weaver.catalog.project().streams.get(stream.name)
    if spec is not None and spec.ingested and spec.source is not None:
        first = _source_first(weaver, stream.name, spec.source.kind, on_disk["journal"])
        return replace(found, source=spec.source.kind, source_first=first)
    return replace(found, states=_states(weaver, stream, on_disk))


async def _next(weaver: Weaver, stream: str, kept: list[KnotRows]) -> NextExpiry:
    verdict = await decided(weaver, stream, kept, exact=False)
    going = [one for one in kept if one.number <= verdict.upto]
    return NextExpiry(
        upto=verdict.upto,
        rows=sum(one.rows for one in going),
        bytes=sum(one.bytes for one in going),
        held_by=verdict.held_by,
    )


def _states(weaver: Weaver, stream: Stream, on_disk: Mapping[str, Any]) -> KeptStates | None:
    pipeline = weaver.catalog.find_pipeline(stream.pipeline)
    earliest = on_disk["earliest"].get(str(pipeline.epoch)) if pipeline else None
    keyframes = on_disk["keyframes"]
    if pipeline is None or (earliest is None and not keyframes):
        return None
    found = (
        weaver.knots.of_batch(stream.name, earliest, epochs=pipeline.epoch)
        if earliest is not None
        else []
    )
    return KeptStates(
        keyframes=len(keyframes),
        first_keyframe=min(keyframes, default=None),
        first=found[0].number if found else None,
        bytes=on_disk["bytes"],
    )


def _source_first(weaver: Weaver, stream: str, kind: str, journal: int | None) -> int | None:
    """The first knot whose records lie in the journal, or any for a source that makes them up."""
    live = (one for one in weaver.knots.after(stream, 0) if one.status is Status.COMPLETE)
    if kind in GENERATED:
        return next((one.number for one in live), None)
    if journal is None:
        return None
    return next((one.number for one in live if _segment(one) >= journal - 1), None)


def _segment(knot: Knot) -> int:
    """The segment of a journal behind which a knot begins."""
    start = knot.offsets.start[0] if knot.offsets.start else None
    return int(start.get("segment", 0)) if isinstance(start, Mapping) else 0
