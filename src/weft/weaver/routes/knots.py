"""Knots: the history of streams."""

from __future__ import annotations

from weft.lineage.knot import Knot
from weft.weaver.routes import Answer, Count, KnotNumber, UsesWeaver, make_router

router = make_router("knots")


@router.get("/knots", response_model=list[Knot])
async def list_knots(
    weaver: UsesWeaver,
    stream: str,
    before: KnotNumber | None = None,
    limit: Count = 50,
) -> Answer:
    """Knots of a stream, newest first; page with `before`."""
    found = weaver.catalog.stream(stream)
    knots = weaver.knots.log(found.origin, before=before, limit=limit)
    return Answer([k for k in knots if stream == found.origin or stream in k.outputs])


@router.get("/knots/{stream}/{number}", response_model=Knot)
async def show(weaver: UsesWeaver, stream: str, number: KnotNumber) -> Answer:
    """One knot, whole."""
    return Answer(weaver.knots.get(weaver.catalog.stream(stream).origin, number))
