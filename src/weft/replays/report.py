"""What came of a leg: how much was run, and where it differs from what is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from weft.lineage.facts import Facts, Output
from weft.lineage.knot import Knot
from weft.project.provenance import PROVENANCE
from weft.project.settings import RAW

What = Literal["knot", "definition", "input", "output", "ledger", "watermark"]
NOTHING = Output(rows=0, bytes=0, hash="0" * 64)
MOST_MISMATCHES = 20


@dataclass(frozen=True)
class Mismatch:
    """One thing that is not as it was recorded, and where."""

    stream: str
    knot: int
    what: What
    text: str
    recorded: Any = None
    found: Any = None


@dataclass(frozen=True)
class LegReport:
    """What one leg has run, and what differs."""

    pipeline: str
    stream: str
    knots: int
    rows: int
    seconds: float
    differing: int = 0
    """How many knots differ from what is recorded."""
    mismatches: tuple[Mismatch, ...] = ()
    """The first of what differs, in the order of knots."""
    behind_s: float | None = None
    """The furthest that a knot began after its time, where a speed was asked for."""


def compare(recorded: Knot, found: Facts) -> list[Mismatch]:
    """What a knot that was run again did otherwise than is recorded."""
    different = [
        _output(recorded, name, recorded.outputs.get(name), found.outputs.get(name))
        for name in sorted({*recorded.outputs, *found.outputs})
        # What was done to records is told with where it was done, and that is elsewhere now; what a source gave is
        # where a replay begins.
        if not name.endswith((PROVENANCE, RAW))
        and _sum(recorded.outputs.get(name)) != _sum(found.outputs.get(name))
    ]
    if recorded.ledger != found.ledger:
        text = "its ledger counts otherwise"
        different.append(_mismatch(recorded, "ledger", text, recorded.ledger, found.ledger))
    if recorded.watermark != found.watermark:
        text = "its watermark stands elsewhere"
        different.append(
            _mismatch(recorded, "watermark", text, recorded.watermark, found.watermark)
        )
    return different


def first_of(legs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first mismatch of a replay's legs, in their stored form."""
    found: list[Mapping[str, Any]] = [one for leg in legs for one in leg["mismatches"]]
    return found[0] if found else None


def _sum(output: Output | None) -> tuple[int, str]:
    return (output or NOTHING).rows, (output or NOTHING).hash


def _output(knot: Knot, name: str, before: Output | None, after: Output | None) -> Mismatch:
    rows = f"{(before or NOTHING).rows} and {(after or NOTHING).rows} rows"
    text = f"its rows in {name} have another hash ({rows})"
    return _mismatch(
        knot, "output", text, (before or NOTHING).hash, (after or NOTHING).hash, stream=name
    )


def _mismatch(
    knot: Knot, what: What, text: str, recorded: Any, found: Any, *, stream: str | None = None
) -> Mismatch:
    return Mismatch(stream or knot.stream, knot.number, what, text, recorded, found)
