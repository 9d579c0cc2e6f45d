"""Watermarks: how far event time has come, per stream and source partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weft.clock import to_ms
from weft.weaver.catalog import Stream
from weft.weaver.routes import Answer, UsesWeaver, make_router
from weft.weaver.weaver import Weaver
from weft.windows.watermark import State, Watermarks

router = make_router("watermarks")


@dataclass(frozen=True)
class PartitionView:
    """How far one source partition has come."""

    highest: int | None
    watermark: int | None
    seen_at: int
    state: State
    ahead: int
    lag_ms: int | None


@dataclass(frozen=True)
class WatermarkView:
    """How far event time has come in a stream, and what holds it back."""

    stream: str
    pipeline: str
    knot: int | None
    watermark: int | None
    lag_ms: int | None
    held_by: tuple[str, ...]
    partitions: Mapping[str, PartitionView]
    inputs: Mapping[str, int | None]


@router.get("/watermarks", response_model=list[WatermarkView])
async def list_watermarks(weaver: UsesWeaver, stream: str | None = None) -> Answer:
    """The watermark of each stream, its lag, each partition's, and what holds the minimum back."""
    if stream is not None:
        return Answer([_view(weaver, weaver.catalog.stream(stream))])
    main = [one for one in weaver.catalog.streams() if one.kind == "main"]
    return Answer([_view(weaver, one) for one in main])


def _view(weaver: Weaver, stream: Stream) -> WatermarkView:
    knot = weaver.knots.newest(stream.origin)
    found = knot.watermarks if knot else Watermarks()
    watermark = knot.watermark if knot else None
    now = to_ms(weaver.clock.now())
    return WatermarkView(
        stream=stream.name,
        pipeline=stream.pipeline,
        knot=knot.number if knot else None,
        watermark=watermark,
        lag_ms=_lag(watermark, now),
        held_by=tuple(found.held_by()),
        partitions={
            name: PartitionView(
                highest=part.highest_ms,
                watermark=part.watermark_ms,
                seen_at=part.seen_at_ms,
                state=part.state,
                ahead=part.ahead,
                lag_ms=_lag(part.watermark_ms, now),
            )
            for name, part in found.partitions.items()
        },
        inputs=found.inputs,
    )


def _lag(watermark: int | None, now: int) -> int | None:
    return None if watermark is None else now - watermark
