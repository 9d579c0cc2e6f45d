"""The load of pipelines over time, told from their knots: rates, batch times, complexity and lag of the watermark.

Knots are the record that outlives everything, so the history of a load is read from them and kept nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from weft.clock import parse_iso
from weft.lineage.knot import Knot, Status
from weft.scaling.history import LoadHistory, LoadPoint, LoadRow
from weft.weaver.catalog import Pipeline
from weft.weaver.weaver import Weaver

SHORTEST_S = 1e-3


@dataclass(frozen=True)
class LoadView:
    """The load of a pipeline in steps of some seconds, oldest first."""

    pipeline: str
    stream: str
    step_s: int
    knots: int
    rows: tuple[LoadRow, ...]


def load_of(weaver: Weaver, pipeline: Pipeline, *, step_s: int, knots: int) -> LoadView:
    """The load of a pipeline over its last knots."""
    recent = [
        knot
        for knot in weaver.knots.log(pipeline.stream, limit=knots)
        if knot.status is Status.COMPLETE and knot.completed
    ]
    history = LoadHistory()
    for point in points(recent[::-1]):
        history.add(point)
    rows = tuple(history.rows(step_s))
    return LoadView(pipeline.name, pipeline.stream, step_s, len(recent), rows)


def points(knots: list[Knot]) -> Iterator[LoadPoint]:
    """What each knot after the first says of the time since the one before it."""
    for before, knot in pairwise(knots):
        ended_s = _ended_s(knot)
        seconds = max(SHORTEST_S, ended_s - _ended_s(before))
        rows_out = sum(output.rows for output in knot.outputs.values())
        lag_s = None if knot.watermark is None else ended_s - knot.watermark / 1000
        yield LoadPoint(
            at_s=ended_s,
            rate_in=knot.ledger.rows_in / seconds,
            rate_out=rows_out / seconds,
            batch_ms=float(knot.duration_ms),
            complexity=float(len(knot.steps) + len(knot.rules)),
            watermark_lag_s=float("nan") if lag_s is None else lag_s,
        )


def _ended_s(knot: Knot) -> float:
    assert knot.completed is not None
    return parse_iso(knot.completed).timestamp()
