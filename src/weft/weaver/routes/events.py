"""Events, as they happen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from weft import canonical
from weft.weaver.routes import Count, KnotNumber, UsesWeaver

router = APIRouter(tags=["events"])


@router.get("/events")
async def follow(
    weaver: UsesWeaver, after: KnotNumber | None = None, stream: bool = True, limit: Count = 1000
) -> Any:
    """Server-sent events after number `after`, by default from now on; with `stream=false` a list, of the newest."""
    if not stream:
        start = max(0, weaver.events.last - limit) if after is None else after
        return weaver.events.since(start, limit=limit)
    start = weaver.events.last if after is None else after

    async def body() -> AsyncIterator[bytes]:
        yield b": weft\n\n"
        async for event in weaver.events.follow(start):
            yield b"id: %d\nevent: %s\ndata: %s\n\n" % (
                event["number"],
                event["kind"].encode(),
                canonical.encode(event),
            )

    return StreamingResponse(body(), media_type="text/event-stream")
