"""A knot walked step by step at a terminal: rows as they came in, then after each transformation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from weft.cli.output import Printer


def render_walk(output: Printer, found: Mapping[str, Any]) -> None:
    """All steps, one after the other."""
    for place in range(len(found["steps"]) + 1):
        _render_step(output, found, place)


def step_through(output: Printer, found: Mapping[str, Any]) -> None:
    """One step at a time, forward and back, as keys are pressed."""
    place, last = 0, len(found["steps"])
    while True:
        output.console.clear()
        _render_step(output, found, place)
        output.line(f"{place} of {last}: any key goes on, b goes back, q ends it.", style="dim")
        key = click.getchar()
        if key == "q" or (place == last and key != "b"):
            return
        place = max(0, place - 1) if key == "b" else place + 1


def _render_step(output: Printer, found: Mapping[str, Any], place: int) -> None:
    from weft.cli.output import short
    from weft.cli.rows import text_of

    if place == 0:
        output.line(f"Knot {found['knot']} of {found['stream']}: as rows came in", style="bold")
        rows: Sequence[Mapping[str, Any]] = found["first"]
    else:
        step = found["steps"][place - 1]
        kind, said = next(iter(step["step"].items()))
        shown = text_of(said) if isinstance(said, Mapping) else said
        output.line(f"{place}. {step['by']}: {kind} {shown}", style="bold")
        rows = step["rows"]
    output.table(
        ["RECORD", "HASH", "ROW"],
        (
            [
                row["id"],
                short(row["hash"]) if row["hash"] else "-",
                text_of(row["row"]) if row["row"] is not None else _ended(row),
            ]
            for row in rows
        ),
        empty="No row comes here.",
        gives=["ROW"],
    )
    output.line()


def _ended(row: Mapping[str, Any]) -> str:
    reason = f": {row['reason']}" if row["reason"] else ""
    return f"{row['ended']}{reason}"
