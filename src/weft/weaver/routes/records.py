"""Records: where one is, how it came to be, what came of it, and why one is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query

from weft import codec
from weft.errors import WeftError
from weft.lineage.explained import Absence, Blame, ExplainedRecord, RecordPlace, blame
from weft.lineage.graph import Trace, trace
from weft.replays.walked import WalkedKnot
from weft.weaver.absence import why_not
from weft.weaver.explaining import Looking, explain, find_further, find_place, leg_of, walk
from weft.weaver.reached import reached
from weft.weaver.routes import Answer, KnotNumber, Text, UsesWeaver, make_router
from weft.weaver.trace import StoredHistory

router = make_router("records")

Depth = Annotated[int, Query(ge=0, le=50)]
Few = Annotated[int, Query(ge=1, le=100)]
MOST_MATCHES = 5


@dataclass(frozen=True)
class RecordView:
    """A record: every place that holds it, how it came to be, what came of it, and the lineage of its knot."""

    id: str
    places: tuple[RecordPlace, ...]
    rules: tuple[str, ...]
    explained: ExplainedRecord
    into: tuple[Mapping[str, Any], ...]
    """What came of it further down: panes that it is in, and how many there are."""
    lineage: Trace


@router.get("/absences/{stream}", response_model=list[Absence])
async def show_absence(
    weaver: UsesWeaver,
    stream: str,
    id: Text | None = None,
    where: Text | None = None,
    of: str | None = None,
) -> Answer:
    """Why a record is not in a stream; or, with `where`, why the newest records of stream `of` for which it holds."""
    if id is not None:
        return Answer([await why_not(weaver, stream, id)])
    weaver.catalog.stream(of or stream)
    asked = {"stream": of or stream, "where": where or "true", "limit": MOST_MATCHES}
    found = await weaver.ask("matching", asked, timeout=120)
    return Answer([await why_not(weaver, stream, one["id"]) for one in found])


@router.get("/blames/{stream}/{id:text}", response_model=list[Blame])
async def show_blame(weaver: UsesWeaver, stream: str, id: str) -> Answer:
    """What gave each column of a record its value."""
    place = await find_place(weaver, stream, id)
    return Answer(list(blame(await explain(weaver, place, Looking()))))


@router.get("/records/{stream}/{id:text}", response_model=RecordView)
async def show(
    weaver: UsesWeaver, stream: str, id: str, depth: Depth = 10, most: Few = 5
) -> Answer:
    """A record by its id: where it is, how it came to be, back to its source, and what came of it."""
    place = await find_place(weaver, stream, id)
    origin = weaver.catalog.stream(stream).origin
    knot = weaver.knots.get(origin, place.knot)
    history = StoredHistory(weaver.knots, weaver.catalog, weaver.watching)
    return Answer(
        RecordView(
            id=id,
            places=(place, *await find_further(weaver, place)),
            rules=tuple(rule.id for rule in knot.rules),
            explained=await explain(weaver, place, Looking(depth, most)),
            into=tuple(await reached(weaver, place, most)),
            lineage=trace(history, stream, knot.number, direction="both"),
        )
    )


@router.get("/knots/{stream}/{number}/steps", response_model=WalkedKnot, tags=["knots"])
async def show_steps(
    weaver: UsesWeaver,
    stream: str,
    number: KnotNumber,
    id: Text | None = None,
    where: Text | None = None,
    limit: Few = 20,
) -> Answer:
    """A knot walked step by step: its rows before and after each transformation, run again."""
    found = weaver.catalog.stream(stream)
    knot = weaver.knots.get(found.origin, number)
    leg = await leg_of(weaver, knot)
    walked = await walk(
        weaver, leg, stream, ids=() if id is None else (id,), where=where, limit=limit
    )
    if id is not None and not walked.first:
        raise WeftError(
            f"Record '{id}' did not come into knot {number} of stream '{stream}'.",
            code="record.missing",
            domain="missing",
            hint=f"`weft record show {stream} ID` says in which knot a record is. Ids are in the column _weft.id.",
            stream=stream,
            knot=number,
        )
    return Answer(codec.to_form(walked))
