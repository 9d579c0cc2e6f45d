"""Records: where one is, where it came from, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft import codec
from weft.errors import WeftError
from weft.lineage.graph import Trace, trace
from weft.weaver.routes import Answer, UsesWeaver, make_router
from weft.weaver.trace import StoredHistory

router = make_router("records")


@dataclass(frozen=True)
class RecordPlace:
    """A stream that holds a record, the knot that wrote it, and the row."""

    stream: str
    knot: int
    row: Mapping[str, Any]


@dataclass(frozen=True)
class RecordView:
    """A record: every place that holds it, the rules of its knot, and the lineage of that."""

    id: str
    places: tuple[RecordPlace, ...]
    rules: tuple[str, ...]
    lineage: Trace


@router.get("/records/{stream}/{id:path}", response_model=RecordView)
async def show(weaver: UsesWeaver, stream: str, id: str) -> Answer:
    """A record by its id: the streams and knots that hold it, and the lineage of its knot."""
    weaver.catalog.stream(stream)
    names = [stream, *(s.name for s in weaver.catalog.streams() if s.name != stream)]
    found = await weaver.ask("record", {"id": id, "streams": names}, timeout=120)
    places = tuple(codec.from_form(RecordPlace, place) for place in found)
    here = [place for place in places if place.stream == stream]
    if not here:
        elsewhere = ", ".join(f"{p.stream} (knot {p.knot})" for p in places) or "nowhere"
        raise WeftError(
            f"Stream '{stream}' has no record '{id}'. It is in: {elsewhere}.",
            code="record.missing",
            domain="missing",
            hint="Ids are in the column _weft.id; dead and late records are in `.dead` and `.late`.",
            stream=stream,
        )
    origin = weaver.catalog.stream(stream).origin
    knot = weaver.knots.get(origin, here[0].knot)
    history = StoredHistory(weaver.knots, weaver.catalog)
    return Answer(
        RecordView(
            id=id,
            places=places,
            rules=tuple(rule.id for rule in knot.rules),
            lineage=trace(history, stream, knot.number, direction="both"),
        )
    )
