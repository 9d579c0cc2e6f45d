"""What a knot says of its stream, as numbers that a detector can watch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weft.anomalies.detector import ALARM, ALARM_OF_MANY
from weft.clock import parse_iso
from weft.lineage.knot import Knot

SHORTEST_S = 1e-3


@dataclass(frozen=True)
class Measured:
    """One measure of a knot: when, which, and how much."""

    at_s: float
    measure: str
    value: float
    alarm: float = ALARM
    """The likelihood from which on it is told."""


def measures(knot: Knot, before: Knot | None) -> Iterator[Measured]:
    """The measures of a knot: rate, batch time, lag, the shares of records that were dead, late or filtered, and how
    the values of its columns are: the share that is missing, their mean and their spread.
    """
    at_s = _seconds(knot)
    ledger = knot.ledger
    if before is not None:
        rate = ledger.rows_in / max(SHORTEST_S, at_s - _seconds(before))
        yield Measured(at_s, "rate", rate)
    yield Measured(at_s, "batch_ms", float(knot.duration_ms))
    if knot.watermark is not None:
        yield Measured(at_s, "lag_s", at_s - knot.watermark / 1000)
    if ledger.rows_in:
        shares = {
            "dead_share": ledger.dead,
            "late_share": ledger.late,
            "filtered_share": sum(ledger.filtered.values()),
        }
        for name, count in shares.items():
            yield Measured(at_s, name, count / ledger.rows_in)
    written = knot.outputs.get(knot.stream)
    if written is not None and written.rows:
        for name, column in knot.columns.items():
            shown = {"nulls": column.nulls / written.rows, "mean": column.mean}
            for what, value in {**shown, "spread": column.spread}.items():
                if value is not None:
                    yield Measured(at_s, f"{what}.{name}", value, ALARM_OF_MANY)


def _seconds(knot: Knot) -> float:
    return parse_iso(knot.completed or knot.now).timestamp()
