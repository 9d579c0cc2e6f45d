"""How a record came to be, told from its knots and their rows: back to the source, across windows and joins."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from weft import codec
from weft.errors import WeftError
from weft.lineage.explained import ExplainedRecord, ExplainedStep, RecordPlace
from weft.lineage.knot import Knot
from weft.lineage.provenance import record_provenance
from weft.project.definition import PipelineSpec, Project
from weft.project.provenance import PROVENANCE
from weft.project.settings import RAW
from weft.queries.traced import Traced, traced
from weft.replays.leg import Leg
from weft.replays.request import ReplayRequest
from weft.replays.walked import WalkedKnot, WalkedRow
from weft.schema.change import CHANGE, GONE
from weft.weaver.catalog import Stream
from weft.weaver.expiring import expired_upto
from weft.weaver.replaying import legs_of

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

MOST_MEMBERS = 5
"""So many of the records that a pane was made of are told of in full."""
WALK_S = 300.0


@dataclass(frozen=True)
class Looking:
    """How far back a record is told of, and how many of those that it was made of."""

    depth: int = 10
    most: int = MOST_MEMBERS

    def further(self) -> Looking:
        """One stream further back."""
        return replace(self, depth=self.depth - 1)


async def find_places(weaver: Weaver, stream: str, id: str) -> list[RecordPlace]:
    """Every place that holds a record: in its stream first, then in all others."""
    names = [stream, *(one.name for one in _holding(weaver) if one.name != stream)]
    return await _look(weaver, id, dict.fromkeys(names, ()))


def _holding(weaver: Weaver) -> list[Stream]:
    """The streams that hold records; those that say what they were and what was done to them are not among them."""
    return [one for one in weaver.catalog.streams() if one.kind not in ("provenance", "raw")]


async def _look(weaver: Weaver, id: str, spans: Mapping[str, tuple[int, ...]]) -> list[RecordPlace]:
    """The rows with an id in some knots of some streams."""
    asked = {"id": id, "spans": {name: list(span) for name, span in spans.items()}}
    found = await weaver.ask("record", asked, timeout=120)
    return [codec.from_form(RecordPlace, place) for place in found]


async def find_further(weaver: Weaver, place: RecordPlace) -> list[RecordPlace]:
    """The places of a record beside and below one: in streams written with it, and where it was relayed to."""
    catalog, knots = weaver.catalog, weaver.knots
    found: list[RecordPlace] = []
    waiting = [place]
    while waiting:
        here = waiting.pop(0)
        origin = catalog.stream(here.stream).origin
        spans: dict[str, tuple[int, ...]] = {
            one.name: (here.knot - 1, here.knot)
            for one in _holding(weaver)
            if one.origin == origin and one.name != here.stream
        }
        for reader in catalog.readers(here.stream):
            used = next(knots.uses(here.stream, here.knot, by=reader.stream), None)
            if used is not None:
                written = [one.name for one in _holding(weaver) if one.pipeline == reader.name]
                spans |= dict.fromkeys(written, (used - 1, used))
        known = {(one.stream, one.knot) for one in (place, *found)}
        new = [
            one
            for one in (await _look(weaver, here.id, spans) if spans else [])
            if (one.stream, one.knot) not in known
        ]
        found += new
        waiting += [one for one in new if one.stream != here.stream]
    return found


async def find_place(weaver: Weaver, stream: str, id: str) -> RecordPlace:
    """The newest row of a record in a stream; refuses one that is not there."""
    weaver.catalog.stream(stream)
    here = await _look(weaver, id, {stream: ()})
    if here:
        return here[-1]
    places = await find_places(weaver, stream, id)
    elsewhere = ", ".join(f"{p.stream} (knot {p.knot})" for p in places) or "nowhere"
    expired = expired_upto(weaver.records, stream)
    gone = f" Its rows up to knot {expired} are gone." if expired else ""
    raise WeftError(
        f"Stream '{stream}' has no record '{id}'. It is in: {elsewhere}.{gone}",
        code="record.missing",
        domain="missing",
        hint=f"`weft record why-not {stream} ID` says why. Ids are in the column _weft.id.",
        stream=stream,
    )


async def explain(weaver: Weaver, place: RecordPlace, looking: Looking) -> ExplainedRecord:
    """A record with everything that was done to it, and with what it was made of."""
    origin = weaver.catalog.stream(place.stream).origin
    knot = weaver.knots.get(origin, place.knot)
    found = ExplainedRecord(
        stream=place.stream,
        knot=place.knot,
        id=place.id,
        row=place.row,
        pipeline=knot.pipeline,
        version=knot.steps[0].version if knot.steps else None,
        created=knot.now,
        where=knot.steps[0].where if knot.steps else None,
    )
    try:
        leg = await leg_of(weaver, knot)
    except WeftError as error:
        return replace(found, note=error.message)
    project = weaver.catalog.version(leg.phases[-1].project)
    spec = project.pipelines.get(knot.pipeline)
    if spec is None:
        found = replace(found, source=_source(place), raw=await _raw(weaver, found.id, knot))
    if spec is None or spec.steps or knot.rules:
        found = await _with_steps(weaver, found, leg)
    if knot.provenance is not None and place.stream == knot.stream:
        found = await _beside_written(weaver, found, knot)
    return await _with_parents(weaver, found, knot, project, looking)


async def leg_of(weaver: Weaver, knot: Knot) -> Leg:
    """The one knot as a leg of a replay."""
    asked = ReplayRequest(knot.stream, knot.previous or 0, knot.number)
    return (await legs_of(weaver, asked))[-1]


async def walk(
    weaver: Weaver,
    leg: Leg,
    target: str,
    *,
    ids: tuple[str, ...] = (),
    where: str | None = None,
    limit: int = 20,
) -> WalkedKnot:
    """The rows of a knot before and after each step."""
    look = {"target": target, "ids": list(ids), "where": where, "limit": limit}
    form = await weaver.ask("walk", {"leg": codec.to_form(leg), "look": look}, timeout=WALK_S)
    return codec.from_form(WalkedKnot, form)


async def _with_steps(weaver: Weaver, found: ExplainedRecord, leg: Leg) -> ExplainedRecord:
    try:
        walked = await walk(weaver, leg, found.stream, ids=(found.id,))
    except WeftError as error:
        return replace(found, note=f"Its steps cannot be run again: {error.message}")
    return replace(found, steps=steps_of(weaver, walked, found.id))


async def _beside_written(weaver: Weaver, found: ExplainedRecord, knot: Knot) -> ExplainedRecord:
    """A record with what was written down of it when it was made, compared with what is rebuilt."""
    span = (knot.number - 1, knot.number)
    places = await _look(weaver, found.id, {f"{knot.stream}{PROVENANCE}": span})
    if not places:
        return found
    told = record_provenance(places[-1].row, knot)
    written = _changes(step.after for step in told.steps)
    rebuilt = _changes(step.hash_after for step in found.steps)
    return replace(found, where=told.executor, written_down=written == rebuilt)


def _changes(hashes: Iterable[str | None]) -> list[str | None]:
    """Hashes in turn, those that follow an equal one left out: a step that is not for a record leaves it as it is."""
    return [one for one, _ in groupby(hashes)]


def steps_of(weaver: Weaver, walked: WalkedKnot, id: str) -> tuple[ExplainedStep, ...]:
    """What each step of a knot made of one record."""
    before: WalkedRow | None = next((row for row in walked.first if row.id == id), None)
    steps: list[ExplainedStep] = []
    for step in walked.steps:
        after = next((row for row in step.rows if row.id == id), None)
        if before is None or after is None:
            continue
        steps.append(
            ExplainedStep(
                by=step.by,
                step=step.step,
                version=step.version,
                before=before.row,
                after=after.row,
                hash_before=before.hash,
                hash_after=after.hash,
                ended=after.ended,
                reason=after.reason,
                attached=_attached(weaver, step.by),
            )
        )
        before = after
    return tuple(steps)


def _attached(weaver: Weaver, by: str) -> str | None:
    kind, _, name = by.partition(":")
    if kind != "rule":
        return None
    rule = weaver.rules.get(name)
    return " ".join(filter(None, (rule.author, f"at {rule.attached}" if rule.attached else None)))


def _source(place: RecordPlace) -> str:
    mark: Mapping[str, Any] = place.row.get("_weft") or {}
    position = place.id.split("/", 2)[-1]
    return f"{mark.get('source')}, partition {mark.get('partition')}, position {position}"


async def _raw(weaver: Weaver, id: str, knot: Knot) -> str | None:
    """What a source gave for a record, where that was kept and is not gone."""
    stream = f"{knot.stream}{RAW}"
    if stream not in knot.outputs or knot.number <= expired_upto(weaver.records, stream):
        return None
    places = await _look(weaver, id, {stream: (knot.number - 1, knot.number)})
    value: str | None = places[-1].row["value"] if places else None
    if value is None:
        return None
    try:
        return base64.b64decode(value).decode()
    except UnicodeDecodeError:
        return value


async def _with_parents(
    weaver: Weaver, found: ExplainedRecord, knot: Knot, project: Project, looking: Looking
) -> ExplainedRecord:
    spec = project.pipelines.get(knot.pipeline)
    if spec is None:
        return found
    if looking.depth <= 0:
        return replace(found, note="It goes further back.")
    if spec.window is not None:
        parents = await _members(weaver, found, knot, spec, looking.most)
    elif spec.is_current:
        how = traced(spec, project)
        found = replace(found, taken_from=how.taken)
        parents = await _origins(weaver, found, knot, how, looking.most)
    else:
        spans = {one.stream: (one.first - 1, one.last) for one in knot.parents}
        parents = _Parents((await _look(weaver, found.id, spans))[-1:])
    told = [await explain(weaver, one, looking.further()) for one in parents.places]
    gone = {name: expired_upto(weaver.records, name) for name in spec.inputs}
    listed = ", ".join(f"{name} up to knot {upto}" for name, upto in gone.items() if upto)
    note = f"Rows of {listed} are gone; those that it was made of are not told." if listed else None
    are_several = spec.window is not None or spec.is_current
    missing = note if are_several or not told else None
    return replace(
        found,
        parents=tuple(told),
        count=parents.count or len(told),
        note=found.note or parents.note or missing,
    )


@dataclass(frozen=True)
class _Parents:
    """The first of the records that one was made of, and how many there are."""

    places: Sequence[RecordPlace]
    count: int = 0
    note: str | None = None


async def _members(
    weaver: Weaver, found: ExplainedRecord, knot: Knot, spec: PipelineSpec, most: int
) -> _Parents:
    """The records of a pane."""
    places: list[RecordPlace] = []
    count = 0
    for source, by in keys_of(spec):
        asked = {
            "pane": {"stream": found.stream, "knot": found.knot, "id": found.id},
            "source": source,
            "upto": knot.offsets.inputs.get(source, 0),
            "by": by,
            "limit": most,
        }
        members = await weaver.ask("members", asked, timeout=120)
        count += members["count"]
        places += [codec.from_form(RecordPlace, one) for one in members["rows"]]
    return _Parents(places, count)


async def _origins(
    weaver: Weaver, found: ExplainedRecord, knot: Knot, how: Traced, most: int
) -> _Parents:
    """The rows that a document, or a result of an updating query, was made of."""
    if (found.row.get(CHANGE) or {}).get("op") == GONE:
        return _Parents((), note="It takes an earlier row back: what that was made of is gone.")
    result = (found.steps[0].before if found.steps else None) or found.row
    if not how.columns <= result.keys():
        return _Parents((), note="What it was made of cannot be told without its key.")
    asked = {
        "result": {name: result[name] for name in sorted(how.columns)},
        "traced": codec.to_form(how),
        "upto": dict(knot.offsets.inputs),
        "limit": most,
    }
    rows = await weaver.ask("origins", asked, timeout=WALK_S)
    places = [codec.from_form(RecordPlace, one) for one in rows["rows"]]
    return _Parents(places, rows["count"])


def keys_of(spec: PipelineSpec) -> list[tuple[str, list[list[str]]]]:
    """The inputs of a windowed pipeline, each with its columns beside those of the panes."""
    if spec.join is None:
        return [(spec.inputs[0], [[name, name] for name in spec.by])]
    on = dict(spec.join["on"])
    left, right = spec.inputs
    return [
        (left, [[name, name] for name in on]),
        (right, [[theirs, ours] for ours, theirs in on.items()]),
    ]
