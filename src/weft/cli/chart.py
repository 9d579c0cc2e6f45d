"""Measures over time, drawn in a line each; within 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.cli.output import Printer

BARS = " ▁▂▃▄▅▆▇█"
COLUMNS = 36
NAMES = {
    "rate_in": "in, a second",
    "rate_out": "out, a second",
    "backlog": "backlog",
    "backlog_s": "backlog, s",
    "batch_ms": "batch, ms",
    "batch_records": "in a batch",
    "per_core_s": "by core, a second",
    "complexity": "steps and rules",
    "executors": "executors",
    "cpu": "CPU",
    "memory": "memory",
    "watermark_lag_s": "watermark lag, s",
}


def bars(values: Sequence[float | None]) -> str:
    """A column for each value, from nothing to the highest; what is not known is left out."""
    known = [value for value in values if value is not None]
    highest = max(known, default=0.0)
    drawn = []
    for value in values:
        if value is None or highest <= 0:
            drawn.append(BARS[0] if value is None else BARS[1])
        else:
            drawn.append(BARS[max(1, min(8, round(8 * value / highest)))])
    return "".join(drawn)


def render_load(output: Printer, found: dict[str, Any]) -> None:
    """The last steps of a load: each measure with what it is now and its peak."""
    rows = found["rows"]
    if not rows:
        output.line(
            f"Nothing was measured of pipeline '{found['pipeline']}' yet; a worker says it every five seconds.",
            style="dim",
        )
        return
    step, last = found["step_s"], rows[-1]["start_s"]
    by_start = {row["start_s"]: row for row in rows}
    starts = [last - step * back for back in range(COLUMNS - 1, -1, -1)]
    shown = [by_start.get(start) for start in starts if start >= rows[0]["start_s"]]
    first = last - step * (len(shown) - 1)
    output.line(
        f"{found['pipeline']}, {_moment(first)} to {_moment(last + step)} in steps of {step} s"
    )
    for measure, name in NAMES.items():
        values = [row["mean"].get(measure) if row else None for row in shown]
        known = [value for value in values if value is not None]
        if known:
            peak = max(row["peak"].get(measure, 0.0) for row in shown if row)
            output.line(f"{name:18}{bars(values):{COLUMNS}}  {known[-1]:.4g}, peak {peak:.4g}")


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%m-%d %H:%M:%S}"
