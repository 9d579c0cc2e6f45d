"""Streams: what there is, with which columns, written by whom."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from weft.weaver.catalog import Stream
from weft.weaver.routes import UsesWeaver
from weft.weaver.weaver import Weaver

router = APIRouter(tags=["streams"])


@router.get("/streams")
async def list_streams(weaver: UsesWeaver) -> list[dict[str, Any]]:
    """All streams, side, late and dead-letter streams included."""
    return [_describe(weaver, stream) for stream in weaver.catalog.streams()]


@router.get("/streams/{name}")
async def show(weaver: UsesWeaver, name: str) -> dict[str, Any]:
    """One stream: its columns, where it stands, who reads it."""
    return _describe(weaver, weaver.catalog.stream(name))


def _describe(weaver: Weaver, stream: Stream) -> dict[str, Any]:
    head = weaver.knots.head(stream.origin)
    schema = weaver.catalog.schema(stream.schema) if stream.schema else None
    return {
        **asdict(stream),
        "columns": schema,
        "knot": head.number,
        "last_number": head.last,
        "readers": [pipeline.name for pipeline in weaver.catalog.readers(stream.name)],
    }
