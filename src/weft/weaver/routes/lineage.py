"""Lineage: which knots a knot came from, and what came of it."""

from __future__ import annotations

from typing import Any

from fastapi import Query

from weft.lineage.graph import Direction, Trace, trace
from weft.lineage.knot import Status
from weft.lineage.openlineage import event
from weft.weaver.attach import schema_now
from weft.weaver.routes import Answer, KnotNumber, UsesWeaver, make_router
from weft.weaver.trace import StoredHistory

router = make_router("lineage")


@router.get("/lineage", response_model=Trace)
async def lineage(
    weaver: UsesWeaver,
    stream: str,
    knot: KnotNumber | None = None,
    direction: Direction = "both",
    depth: int = Query(default=10, ge=1, le=100),
) -> Answer:
    """The graph around a knot (default: the newest) across streams, as ranges of knots."""
    origin = weaver.catalog.stream(stream).origin
    head = weaver.knots.head(origin).number
    found = weaver.knots.get(origin, knot if knot is not None else head or 0)
    history = StoredHistory(weaver.knots, weaver.catalog, weaver.watching)
    return Answer(trace(history, stream, found.number, direction=direction, depth=depth))


@router.get("/lineage/openlineage", response_model=list[dict[str, Any]])
async def openlineage(
    weaver: UsesWeaver,
    stream: str | None = None,
    limit: int = Query(default=100, ge=1, le=10_000),
) -> Answer:
    """The last knots of a stream, or of all, as OpenLineage events with column lineage."""
    project = weaver.catalog.project()
    schemas = {
        s.name: schema_now(weaver, s.name) for s in weaver.catalog.streams() if not s.dropped
    }
    names = (
        [weaver.catalog.stream(stream).origin]
        if stream
        else [p.stream for p in weaver.catalog.pipelines()]
    )
    knots = [
        knot
        for name in names
        for knot in weaver.knots.log(name, limit=limit)
        if knot.status is Status.COMPLETE
    ]
    return Answer(
        [
            event(knot, project, [weaver.rules.find_version(ref) for ref in knot.rules], schemas)
            for knot in sorted(knots, key=lambda knot: knot.completed or "")
        ]
    )
