"""State: what windowed pipelines keep, now or as of an earlier knot."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from weft.weaver.routes import KnotNumber, UsesWeaver
from weft.weaver.weaver import Weaver

router = APIRouter(tags=["state"])

Limit = Annotated[int, Query(ge=1, le=10_000)]


@router.get("/windows")
async def list_windows(
    weaver: UsesWeaver,
    pipeline: str | None = None,
    prefix: str = "",
    after: str | None = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """The windows that are open, of one pipeline or of all: key, bounds, records so far."""
    names = [pipeline] if pipeline is not None else weaver.stateful_pipelines()
    found = []
    for name in names:
        page = await _page(weaver, name, None, prefix, after, limit)
        found += [{"pipeline": name, **window} for window in page["entries"]]
    return {"windows": found}


@router.get("/state")
async def scan(
    weaver: UsesWeaver,
    pipeline: str,
    prefix: str = "",
    knot: KnotNumber | None = None,
    after: str | None = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """What a pipeline keeps for keys that begin with `prefix`, with paging; `knot` looks back."""
    return await _page(weaver, pipeline, knot, prefix, after, limit)


async def _page(
    weaver: Weaver, pipeline: str, knot: int | None, prefix: str, after: str | None, limit: int
) -> dict[str, Any]:
    place = weaver.state_of(pipeline, knot)
    asked = {**place, "prefix": prefix, "after": after, "limit": limit}
    page: dict[str, Any] = await weaver.ask("state", asked, timeout=60)
    return {"pipeline": pipeline, "knot": place["knot"], **page}
