"""Events, as they happen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.responses import Response, StreamingResponse

from weft import canonical
from weft.weaver.events import Event
from weft.weaver.routes import Answer, Count, KnotNumber, UsesWeaver, make_router

router = make_router("events")
STREAM = "text/event-stream"


class EventModel(BaseModel):
    """Something that happened; its facts stand beside its number, kind and time."""

    model_config = ConfigDict(extra="allow")

    number: int
    kind: str
    at: str


@router.get(
    "/events",
    response_model=list[EventModel],
    responses={200: {"content": {STREAM: {"schema": {"type": "string"}}}}},
)
async def follow(
    weaver: UsesWeaver, after: KnotNumber | None = None, stream: bool = True, limit: Count = 1000
) -> Response:
    """Server-sent events after number `after`, by default from now on; with `stream=false` a list, of the newest."""
    if not stream:
        start = max(0, weaver.events.last - limit) if after is None else after
        found = weaver.events.since(start, limit=limit)
        await weaver.events.keep()
        return Answer([_form(event) for event in found])
    start = weaver.events.last if after is None else after

    async def body() -> AsyncIterator[bytes]:
        yield b": weft\n\n"
        async for event in weaver.events.follow(start):
            yield b"id: %d\nevent: %s\ndata: %s\n\n" % (
                event.number,
                event.kind.encode(),
                canonical.encode(_form(event)),
            )

    return StreamingResponse(body(), media_type=STREAM)


def _form(event: Event) -> dict[str, Any]:
    return {**event.facts, "number": event.number, "kind": event.kind, "at": event.at}
