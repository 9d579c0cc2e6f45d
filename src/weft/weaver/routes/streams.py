"""Streams: what there is, with which columns, written by whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.lineage.facts import StreamKind
from weft.weaver.catalog import Stream
from weft.weaver.routes import Answer, UsesWeaver, make_router
from weft.weaver.weaver import Weaver

router = make_router("streams")


@dataclass(frozen=True)
class StreamView:
    """A stream: its columns, where it stands, who writes and who reads it."""

    name: str
    pipeline: str
    origin: str
    kind: StreamKind
    schema: str | None
    dropped: bool
    columns: Mapping[str, Any] | None
    knot: int | None
    last_number: int
    readers: tuple[str, ...]
    hash: str | None
    """That of its newest live knot."""


@router.get("/streams", response_model=list[StreamView])
async def list_streams(weaver: UsesWeaver) -> Answer:
    """All streams, side, late and dead-letter streams included."""
    return Answer([_view(weaver, stream) for stream in weaver.catalog.streams()])


@router.get("/streams/{name}", response_model=StreamView)
async def show(weaver: UsesWeaver, name: str) -> Answer:
    """One stream: its columns, where it stands, who reads it."""
    return Answer(_view(weaver, weaver.catalog.stream(name)))


def _view(weaver: Weaver, stream: Stream) -> StreamView:
    head = weaver.knots.head(stream.origin)
    newest = weaver.knots.newest(stream.origin)
    schema = weaver.catalog.schema(stream.schema) if stream.schema else None
    return StreamView(
        name=stream.name,
        pipeline=stream.pipeline,
        origin=stream.origin,
        kind=stream.kind,
        schema=stream.schema,
        dropped=stream.dropped,
        columns=schema.to_json() if schema else None,
        knot=head.number,
        last_number=head.last,
        readers=tuple(pipeline.name for pipeline in weaver.catalog.readers(stream.name)),
        hash=newest.hash if newest else None,
    )
