"""Watermarks as a table: how far event time has come, in each stream and each partition of its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weft.cli.output import Printer, duration, moment_ms


def render_watermarks(output: Printer, streams: Sequence[Mapping[str, Any]]) -> None:
    """A line per stream and partition; what holds a stream's watermark back is marked."""
    output.table(
        ["STREAM", "PARTITION", "WATERMARK", "LAG", "STATE", "HOLDS BACK", "AHEAD"],
        [line for stream in streams for line in _lines(stream)],
        empty="There are no streams with a watermark.",
        optional=("AHEAD",),
    )


def _lines(stream: Mapping[str, Any]) -> Iterator[list[Any]]:
    mark, lag = moment_ms(stream["watermark"]), duration(stream["lag_ms"])
    yield [stream["stream"], "all", mark, lag, "", "", ""]
    held = set(stream["held_by"])
    for name, state in stream["partitions"].items():
        mark, lag = moment_ms(state["watermark"]), duration(state["lag_ms"])
        holds = "yes" if name in held else ""
        yield ["", name, mark, lag, state["state"], holds, state["ahead"]]
    for name, watermark in stream["inputs"].items():
        yield ["", f"from {name}", moment_ms(watermark), "", "", "yes" if name in held else "", ""]
