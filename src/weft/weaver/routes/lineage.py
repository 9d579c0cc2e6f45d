"""Lineage: which knots a knot came from, and what came of it."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Query

from weft.lineage.graph import trace
from weft.weaver.history import StoredHistory
from weft.weaver.routes import UsesWeaver

router = APIRouter(tags=["lineage"])


@router.get("/lineage")
async def lineage(
    weaver: UsesWeaver,
    stream: str,
    knot: int | None = None,
    direction: Literal["up", "down", "both"] = "both",
    depth: int = Query(default=10, ge=1, le=100),
) -> dict[str, Any]:
    """The graph around a knot (default: the newest) across streams, as ranges of knots."""
    origin = weaver.catalog.stream(stream).origin
    head = weaver.knots.head(origin).number
    found = weaver.knots.get(origin, knot if knot is not None else head or 0)
    history = StoredHistory(weaver.knots, weaver.catalog)
    return trace(history, stream, found.number, direction=direction, depth=depth)
