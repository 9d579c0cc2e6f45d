"""The load of one pipeline or stream over time: points in as they are measured, rollups out, within a budget of bytes.

Every few seconds there is a point. It goes into a row of each level: seconds for an hour, minutes for a week, quarters
of an hour for three months, each with the mean and the peak of every measure. Rows are kept packed, in memory as they
are stored, page by page. Forecasts read a measure as an even series.
"""

from __future__ import annotations

import math
import struct
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from weft.codec import StoredError

LEVELS = ((5, 720), (60, 10_080), (900, 8_640))
"""The seconds of a row and how many rows are kept: an hour, a week, ninety days."""
KEPT_S = {step: step * rows for step, rows in LEVELS}
BUDGET = 9 * 2**18
SMALLEST_BUDGET = 20_000


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """What was measured at a moment; what is not known is NaN."""

    at_s: float
    rate_in: float = math.nan
    rate_out: float = math.nan
    backlog: float = math.nan
    """Records that wait."""
    backlog_s: float = math.nan
    batch_ms: float = math.nan
    per_core_s: float = math.nan
    """Records that a core serves in a second."""
    complexity: float = math.nan
    """Steps and rules that a record goes through."""
    executors: float = math.nan
    cpu: float = math.nan
    memory: float = math.nan
    watermark_lag_s: float = math.nan
    batch_records: float = math.nan


MEASURES = tuple(one.name for one in fields(LoadPoint) if one.name != "at_s")


def row_of(measures: int) -> struct.Struct:
    """The form of a row with so many measures: when it begins, its points, the means, the peaks."""
    return struct.Struct(f"<qI{2 * measures}f")


ROW = row_of(len(MEASURES))


@dataclass(frozen=True, slots=True)
class LoadRow:
    """The points of one step together; measures that none of them knew are left out."""

    start_s: int
    step_s: int
    points: int
    mean: dict[str, float]
    peak: dict[str, float]


@dataclass
class _Open:
    """The step of a level that is being filled."""

    start_s: int = 0
    points: int = 0
    known: list[int] = field(default_factory=lambda: [0] * len(MEASURES))
    sums: list[float] = field(default_factory=lambda: [0.0] * len(MEASURES))
    peaks: list[float] = field(default_factory=lambda: [math.nan] * len(MEASURES))

    def take(self, point: LoadPoint) -> None:
        self.points += 1
        for place, name in enumerate(MEASURES):
            value = getattr(point, name)
            if math.isfinite(value):
                self.known[place] += 1
                self.sums[place] += value
                peak = self.peaks[place]
                self.peaks[place] = value if math.isnan(peak) else max(peak, value)

    def packed(self) -> bytes:
        means = (
            total / known if known else math.nan
            for total, known in zip(self.sums, self.known, strict=True)
        )
        return ROW.pack(self.start_s, self.points, *means, *self.peaks)


class LoadHistory:
    """The history of one pipeline or stream."""

    def __init__(self, budget: int = BUDGET) -> None:
        wanted = sum(rows for _, rows in LEVELS) * ROW.size
        share = min(1.0, max(budget, SMALLEST_BUDGET) / wanted)
        self._levels = {step: deque[bytes](maxlen=int(rows * share)) for step, rows in LEVELS}
        self._open = {step: _Open() for step, _ in LEVELS}

    def add(self, point: LoadPoint) -> list[tuple[int, int]]:
        """Take in a point; says which rows, by their steps and starts, it has completed.

        Where the clock was set back, what it had measured ahead of now is dropped.
        """
        full = []
        for step, rows in self._levels.items():
            start = math.floor(point.at_s / step) * step
            filling = self._open[step]
            if start != filling.start_s:
                if filling.points and start > filling.start_s:
                    rows.append(filling.packed())
                    full.append((step, filling.start_s))
                while rows and ROW.unpack_from(rows[-1])[0] >= start:
                    rows.pop()
                filling = self._open[step] = _Open(start)
            filling.take(point)
        return full

    def rows(self, step_s: int, *, since_s: float = 0.0) -> Iterator[LoadRow]:
        """The rows of a level from a moment on, oldest first, with the one that is being filled."""
        filling = self._open[step_s]
        packed = [*self._levels[step_s], *([filling.packed()] if filling.points else [])]
        for row in packed:
            start, points, *values = ROW.unpack(row)
            if start + step_s > since_s:
                means, peaks = values[: len(MEASURES)], values[len(MEASURES) :]
                yield LoadRow(start, step_s, points, _known(means), _known(peaks))

    def begins_s(self, step_s: int) -> int | None:
        """When the first full row of a level begins; those are left out from before the clock was set far ahead."""
        rows = self._levels[step_s]
        if not rows:
            return None
        oldest = ROW.unpack_from(rows[-1])[0] - KEPT_S[step_s]
        starts: Iterator[int] = (ROW.unpack_from(row)[0] for row in rows)
        return next(start for start in starts if start > oldest)

    def series(self, measure: str, step_s: int) -> NDArray[np.float64]:
        """The means of a measure at even steps, up to the last full one; steps without a point repeat one before."""
        packed = self._levels[step_s]
        if not packed:
            return np.zeros(0)
        known = np.frombuffer(b"".join(packed), dtype=_ROWS)
        known = known[known["start"] >= self.begins_s(step_s)]
        values = known["means"][:, MEASURES.index(measure)].astype(float)
        places = (known["start"] - known["start"][0]) // step_s
        even = np.full(int(places[-1]) + 1, np.nan)
        even[places] = values
        found = np.flatnonzero(~np.isnan(even))
        if not len(found):
            return np.zeros(0)
        last = np.maximum.accumulate(np.where(np.isnan(even), found[0], np.arange(len(even))))
        filled: NDArray[np.float64] = even[last]
        return filled

    @property
    def size(self) -> int:
        """The bytes of all rows; never more than the budget."""
        return sum(len(rows) for rows in self._levels.values()) * ROW.size

    def page(self, step_s: int, start_s: int, end_s: int) -> bytes:
        """The full rows of a level that begin between two moments, as they are stored."""
        found: deque[bytes] = deque()
        for row in reversed(self._levels[step_s]):
            start = ROW.unpack_from(row)[0]
            if start < start_s:
                break
            if start < end_s:
                found.appendleft(row)
        return b"".join(found)

    def restore(self, step_s: int, page: bytes) -> None:
        """Take in the rows of a page that was stored; pages come in the order of their time."""
        if len(page) % ROW.size or step_s not in self._levels:
            raise StoredError(
                f"This is no page of a history of load in steps of {step_s} s.",
                hint="It was changed from outside, or written by another version of Weft.",
                kind="LoadHistory",
            )
        rows = self._levels[step_s]
        for at in range(0, len(page), ROW.size):
            row = page[at : at + ROW.size]
            if not rows or ROW.unpack_from(rows[-1])[0] < ROW.unpack_from(row)[0]:
                rows.append(row)


def repacked(page: bytes, measures: Sequence[str]) -> bytes:
    """Rows that were stored with other measures: what is measured still they keep, what was not is not known."""
    rows = []
    for start, points, *values in row_of(len(measures)).iter_unpack(page):
        halves = (values[: len(measures)], values[len(measures) :])
        known = [dict(zip(measures, half, strict=True)) for half in halves]
        rows.append(
            ROW.pack(start, points, *(half.get(n, math.nan) for half in known for n in MEASURES))
        )
    return b"".join(rows)


def add_up(
    parts: Sequence[tuple[int, NDArray[np.float64]]], step_s: int
) -> tuple[int, NDArray[np.float64]]:
    """The sum of several series of a level, each with the second in which it begins; as much as a level keeps."""
    end = max(begin // step_s + len(values) for begin, values in parts)
    first = max(min(begin // step_s for begin, _ in parts), end - KEPT_S[step_s] // step_s)
    total = np.zeros(end - first)
    for begin, values in parts:
        place = begin // step_s - first
        known = values[max(0, -place) :]
        total[max(0, place) : max(0, place) + len(known)] += known
    return first * step_s, total


_ROWS = np.dtype(
    [
        ("start", "<i8"),
        ("points", "<u4"),
        ("means", "<f4", (len(MEASURES),)),
        ("peaks", "<f4", (len(MEASURES),)),
    ]
)


def _known(values: list[float]) -> dict[str, float]:
    return {
        name: value for name, value in zip(MEASURES, values, strict=True) if not math.isnan(value)
    }
