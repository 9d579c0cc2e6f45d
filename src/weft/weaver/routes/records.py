"""Records: where one is, where it came from, and what came of it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from weft.errors import WeftError
from weft.lineage.graph import trace
from weft.weaver.history import StoredHistory
from weft.weaver.routes import UsesWeaver

router = APIRouter(tags=["records"])


@router.get("/records/{stream}/{id:path}")
async def show(weaver: UsesWeaver, stream: str, id: str) -> dict[str, Any]:
    """A record by its id: the streams and knots that hold it, and the lineage of its knot."""
    weaver.catalog.stream(stream)
    names = [stream, *(s.name for s in weaver.catalog.streams() if s.name != stream)]
    places = await weaver.ask("record", {"id": id, "streams": names}, timeout=120)
    here = [place for place in places if place["stream"] == stream]
    if not here:
        elsewhere = ", ".join(f"{p['stream']} (knot {p['knot']})" for p in places) or "nowhere"
        raise WeftError(
            f"Stream '{stream}' has no record '{id}'. It is in: {elsewhere}.",
            code="record.missing",
            domain="missing",
            hint="Ids are in the column _weft.id; dead and late records are in `.dead` and `.late`.",
            stream=stream,
        )
    origin = weaver.catalog.stream(stream).origin
    knot = weaver.knots.get(origin, here[0]["knot"])
    history = StoredHistory(weaver.knots, weaver.catalog)
    return {
        "id": id,
        "places": places,
        "rules": [rule.id for rule in knot.rules],
        "lineage": trace(history, stream, knot.number, direction="both"),
    }
