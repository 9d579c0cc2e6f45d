"""Why a record is not in a stream: filtered, dead, late, not read, rolled back, overwritten, or still on its way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from weft import codec
from weft.clock import parse_iso
from weft.errors import WeftError
from weft.lineage.explained import Absence, AbsenceCause, RecordPlace
from weft.lineage.knot import Knot, Status
from weft.queries.traced import traced
from weft.replays.walked import WalkedKnot
from weft.schema.change import CHANGE, EMPTIED, GONE
from weft.weaver.catalog import Pipeline
from weft.weaver.expiring import expired_upto
from weft.weaver.explaining import find_places, leg_of, walk
from weft.weaver.reaching import RowsGoneError

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

MOST_WALKED = 50
"""So many knots of a source are run again to see whether one has filtered a record, the newest first."""
MOST_DROPPED = 500
"""So many knots that were rolled back are looked through, the newest first."""


async def why_not(weaver: Weaver, stream: str, id: str) -> Absence:
    """Why a record is not in a stream, or that it is."""
    weaver.catalog.stream(stream)
    places = await find_places(weaver, stream, id)
    here = [place for place in places if place.stream == stream]
    if here:
        return await _there(weaver, stream, here[-1])
    for pipeline in _on_the_way(weaver, stream):
        ended = _set_aside(places, pipeline.stream, id, stream)
        if ended is not None:
            return ended
        held = [place for place in places if place.stream in pipeline.inputs]
        if held:
            return await _left_out(weaver, pipeline, held[-1], id, stream)
    return await _gone(weaver, stream, id)


def _on_the_way(weaver: Weaver, stream: str) -> Iterator[Pipeline]:
    """The pipelines on the way to a stream, the last first."""
    catalog = weaver.catalog
    waiting = [catalog.stream(stream).pipeline]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop(0)
        pipeline = catalog.find_pipeline(name)
        if pipeline is None or name in seen:
            continue
        seen.add(name)
        yield pipeline
        known = [catalog.find_stream(source) for source in pipeline.inputs]
        waiting += [one.pipeline for one in known if one is not None]


async def _there(weaver: Weaver, stream: str, place: RecordPlace) -> Absence:
    """A record that is there; of a stream whose rows replace one another, a newer one may have taken its place."""
    spec = weaver.catalog.project().streams.get(stream)
    op = (place.row.get(CHANGE) or {}).get("op")
    if spec is not None and spec.changing and op != EMPTIED:
        asked = {"stream": stream, "key": list(spec.key), "row": _of(place.row, spec.key)}
        newest = await weaver.ask("newest", asked, timeout=120)
        if newest is None and op != GONE:
            text = "Its row is gone by now: a later change has deleted it, or emptied its table."
            return Absence(place.id, stream, "overwritten", text, place.knot, row=place.row)
        if newest is not None and newest["id"] != place.id:
            text = f"It was overwritten: {newest['id']} in knot {newest['knot']} is a newer change of its key."
            return Absence(place.id, stream, "overwritten", text, newest["knot"], row=place.row)
    text = f"It is there, in knot {place.knot}." + (
        " It says that its row is gone." if op in (GONE, EMPTIED) else ""
    )
    return Absence(place.id, stream, "there", text, place.knot, row=place.row)


def _of(row: Mapping[str, Any], key: tuple[str, ...]) -> dict[str, Any]:
    return {name: row.get(name) for name in key}


def _set_aside(places: list[RecordPlace], written: str, id: str, stream: str) -> Absence | None:
    """What dead and late streams say of a record."""
    for place in places:
        if place.stream == f"{written}.dead":
            step, reason = place.row.get("step"), place.row.get("reason")
            cause: AbsenceCause = "unread" if step == "parse" else "dead"
            done = "could not be read" if step == "parse" else f"failed in {step}"
            text = f"It {done}: {reason}. It is in {place.stream}, knot {place.knot}."
            return Absence(id, stream, cause, text, place.knot, by=step, row=place.row)
        if place.stream == f"{written}.late":
            text = f"It came too late{_lateness(place.row)}. It is in {place.stream}, knot {place.knot}."
            return Absence(id, stream, "late", text, place.knot, by=written, row=place.row)
    return None


def _lateness(row: Mapping[str, Any]) -> str:
    mark = row.get("_weft") or {}
    if not mark.get("event_time") or not mark.get("watermark"):
        return ""
    late = parse_iso(str(mark["watermark"])) - parse_iso(str(mark["event_time"]))
    return f": its time was {late.total_seconds():g} s behind the watermark"


async def _left_out(
    weaver: Weaver, pipeline: Pipeline, held: RecordPlace, id: str, stream: str
) -> Absence:
    """Why a pipeline has not made a row of a record that it reads."""
    knot = _consumer(weaver, pipeline, held)
    if knot is None:
        text = f"Pipeline {pipeline.name} has not read it yet: it is in {held.stream}, knot {held.knot}."
        return Absence(id, stream, "pending", text, held.knot, by=pipeline.name, row=held.row)
    try:
        leg = await leg_of(weaver, knot)
    except RowsGoneError as error:
        text = f"Knot {knot.number} of {pipeline.stream} has read it, and cannot be run again: {error.message}"
        return Absence(id, stream, "expired", text, knot.number, by=pipeline.name, row=held.row)
    project = weaver.catalog.version(leg.phases[-1].project)
    spec = project.pipelines.get(pipeline.name)
    how = traced(spec, project) if spec is not None and spec.product is not None else None
    if spec is not None and how is not None and held.stream in how.keys:
        asked = {
            "record": {"stream": held.stream, "knot": held.knot, "id": held.id},
            "traced": codec.to_form(how),
        }
        filters = await weaver.ask("filters", asked, timeout=120)
        if filters:
            text = f"Product {spec.name} leaves it out: its filter {' and '.join(filters)} is not true for it."
            by = f"product:{spec.name}"
            return Absence(id, stream, "filtered", text, knot.number, by=by, row=held.row)
    if spec is not None and spec.stateful and spec.dedupe is None:
        text = f"Knot {knot.number} of {pipeline.stream} has absorbed it: what comes out there has ids of its own."
        return Absence(id, stream, "absorbed", text, knot.number, by=pipeline.name, row=held.row)
    if spec is not None and spec.dedupe is not None:
        text = f"Knot {knot.number} of {pipeline.stream} has taken it for a duplicate of one before it."
        return Absence(id, stream, "filtered", text, knot.number, by="dedupe", row=held.row)
    walked = await walk(weaver, leg, pipeline.stream, ids=(id,))
    ended = _ended(walked, knot, id, stream)
    if ended is None:
        text = f"Knot {knot.number} of {pipeline.stream} let it pass, and it is not there."
        return Absence(id, stream, "unknown", text, knot.number, by=pipeline.name, row=held.row)
    return ended


def _consumer(weaver: Weaver, pipeline: Pipeline, held: RecordPlace) -> Knot | None:
    """The live knot by which a pipeline consumed a knot of its input."""
    for number in weaver.knots.uses(held.stream, held.knot, by=pipeline.stream):
        knot = weaver.knots.find(pipeline.stream, number)
        if knot is not None and knot.status is Status.COMPLETE:
            return knot
    return None


async def _gone(weaver: Weaver, stream: str, id: str) -> Absence:
    """A record that is in no table: a rule may have kept it out of its source's stream, or it was rolled back."""
    for pipeline in _on_the_way(weaver, stream):
        kept_out = None if pipeline.inputs else await _kept_out(weaver, pipeline, stream, id)
        if kept_out is not None:
            return kept_out
    files: dict[str, list[str]] = {}
    for pipeline in _on_the_way(weaver, stream):
        for knot in weaver.knots.log(pipeline.stream, limit=MOST_DROPPED):
            if knot.status is Status.ROLLED_BACK:
                for name, output in knot.outputs.items():
                    files.setdefault(name, []).extend(file.path for file in output.files)
    found = await weaver.ask("dropped", {"id": id, "files": files}, timeout=120)
    if found:
        place = codec.from_form(RecordPlace, found[-1])
        text = f"It was in {place.stream}, knot {place.knot}, which is rolled back."
        return Absence(id, stream, "rolled-back", text, place.knot, row=place.row)
    gone = {
        name: upto
        for pipeline in _on_the_way(weaver, stream)
        for name in (pipeline.stream, *pipeline.inputs)
        if (upto := expired_upto(weaver.records, name))
    }
    if gone:
        listed = ", ".join(f"{name} up to knot {upto}" for name, upto in sorted(gone.items()))
        text = f"No row of it is kept. Rows of {listed} are gone, and it may have been among them."
        return Absence(id, stream, "expired", text)
    raise WeftError(
        f"No stream on the way to '{stream}' has, or had, a record '{id}'.",
        code="record.unknown",
        domain="missing",
        hint="It never came in under this id, or its rows are no longer kept. Ids are in the column _weft.id.",
        stream=stream,
    )


async def _kept_out(weaver: Weaver, pipeline: Pipeline, stream: str, id: str) -> Absence | None:
    """Whether a rule on a source's stream has filtered a record: its newest knots that filtered some are walked."""
    knot = weaver.knots.newest(pipeline.stream)
    left = MOST_WALKED
    while knot is not None and left:
        if knot.ledger.filtered:
            left -= 1
            walked = await walk(weaver, await leg_of(weaver, knot), pipeline.stream, ids=(id,))
            if walked.first:
                return _ended(walked, knot, id, stream)
        knot = weaver.knots.find(pipeline.stream, knot.previous) if knot.previous else None
    return None


def _ended(walked: WalkedKnot, knot: Knot, id: str, stream: str) -> Absence | None:
    """Where a record ended in a knot that was walked, with its values before that."""
    last = walked.last(id)
    if last is None or last.ended is None:
        return None
    step = next(one for one in walked.steps if any(row.ended and row.id == id for row in one.rows))
    before = [row for one in walked.steps for row in one.rows if row.id == id and row.row]
    met = before[-1].row if before else next(row.row for row in walked.first if row.id == id)
    text = f"Knot {knot.number} of {knot.stream} has {last.ended}: {_said(step.step)}."
    return Absence(id, stream, "filtered", text, knot.number, by=step.by, row=met)


def _said(step: Any) -> str:
    kind, said = next(iter(step.items()))
    return f"{kind} {said}"
