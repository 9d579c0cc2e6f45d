"""Knots: the history of streams."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from weft.weaver.routes import Count, KnotNumber, UsesWeaver

router = APIRouter(tags=["knots"])


@router.get("/knots")
async def list_knots(
    weaver: UsesWeaver,
    stream: str,
    before: KnotNumber | None = None,
    limit: Count = 50,
) -> list[dict[str, Any]]:
    """Knots of a stream, newest first; page with `before`."""
    found = weaver.catalog.stream(stream)
    knots = weaver.knots.log(found.origin, before=before, limit=limit)
    return [knot.to_dict() for knot in knots if stream == found.origin or stream in knot.outputs]


@router.get("/knots/{stream}/{number}")
async def show(weaver: UsesWeaver, stream: str, number: KnotNumber) -> dict[str, Any]:
    """One knot, whole."""
    return weaver.knots.get(weaver.catalog.stream(stream).origin, number).to_dict()
