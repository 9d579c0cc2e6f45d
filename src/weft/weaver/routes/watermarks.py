"""Watermarks: how far event time has come, per stream and source partition."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from weft.clock import to_ms
from weft.weaver.catalog import Stream
from weft.weaver.routes import UsesWeaver
from weft.weaver.weaver import Weaver

router = APIRouter(tags=["watermarks"])


@router.get("/watermarks")
async def list_watermarks(weaver: UsesWeaver, stream: str | None = None) -> list[dict[str, Any]]:
    """The watermark of each stream, its lag, each partition's, and what holds the minimum back."""
    if stream is not None:
        return [_describe(weaver, weaver.catalog.stream(stream))]
    return [_describe(weaver, s) for s in weaver.catalog.streams() if s.kind == "main"]


def _describe(weaver: Weaver, stream: Stream) -> dict[str, Any]:
    head = weaver.knots.head(stream.origin).number
    knot = weaver.knots.find(stream.origin, head) if head is not None else None
    watermark = knot.watermark if knot else None
    detail = knot.watermarks if knot else {}
    now = to_ms(weaver.clock.now())
    return {
        "stream": stream.name,
        "pipeline": stream.pipeline,
        "knot": head,
        "watermark": watermark,
        "lag_ms": None if watermark is None else now - watermark,
        "held_by": detail.get("held_by", _lowest(detail.get("inputs", {}))),
        "partitions": {
            name: {**state, "lag_ms": _lag(state["watermark"], now)}
            for name, state in detail.get("partitions", {}).items()
        },
        "inputs": detail.get("inputs", {}),
    }


def _lowest(inputs: dict[str, int | None]) -> list[str]:
    if not inputs:
        return []
    missing = sorted(name for name, mark in inputs.items() if mark is None)
    known = [mark for mark in inputs.values() if mark is not None]
    return missing or sorted(name for name, mark in inputs.items() if mark == min(known))


def _lag(watermark: int | None, now: int) -> int | None:
    return None if watermark is None else now - watermark
