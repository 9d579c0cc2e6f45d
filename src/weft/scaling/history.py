"""The load of one pipeline or stream over time: points in as they are measured, rollups out, within a budget of bytes.

Every few seconds there is a point. It goes into a row of each level: seconds for an hour, minutes for a week, quarters
of an hour for three months, each with the mean and the peak of every measure. Rows are kept packed, in memory as they
are stored. Forecasts read a measure as an even series.
"""

from __future__ import annotations

import math
import struct
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from weft.codec import StoredError

LEVELS = ((5, 720), (60, 10_080), (900, 8_640))
"""The seconds of a row and how many rows are kept: an hour, a week, ninety days."""
BUDGET = 2 * 2**20
SMALLEST_BUDGET = 20_000
MAGIC = b"weftload"
FORMAT = 1


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


MEASURES = tuple(one.name for one in fields(LoadPoint) if one.name != "at_s")
ROW = struct.Struct(f"<qI{2 * len(MEASURES)}f")
HEADER = struct.Struct("<8sHHI")


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
        share = min(1.0, max(budget, SMALLEST_BUDGET) / (wanted + HEADER.size * len(LEVELS)))
        self._levels = {step: deque[bytes](maxlen=int(rows * share)) for step, rows in LEVELS}
        self._open = {step: _Open() for step, _ in LEVELS}

    def add(self, point: LoadPoint) -> None:
        """Take in a point. Where the clock was set back, what it had measured ahead of now is dropped."""
        for step, rows in self._levels.items():
            start = math.floor(point.at_s / step) * step
            filling = self._open[step]
            if start != filling.start_s:
                if filling.points and start > filling.start_s:
                    rows.append(filling.packed())
                while rows and ROW.unpack_from(rows[-1])[0] >= start:
                    rows.pop()
                filling = self._open[step] = _Open(start)
            filling.take(point)

    def rows(self, step_s: int, *, since_s: float = 0.0) -> Iterator[LoadRow]:
        """The rows of a level from a moment on, oldest first, with the one that is being filled."""
        filling = self._open[step_s]
        packed = [*self._levels[step_s], *([filling.packed()] if filling.points else [])]
        for row in packed:
            start, points, *values = ROW.unpack(row)
            if start + step_s > since_s:
                means, peaks = values[: len(MEASURES)], values[len(MEASURES) :]
                yield LoadRow(start, step_s, points, _known(means), _known(peaks))

    def series(self, measure: str, step_s: int) -> NDArray[np.float64]:
        """The means of a measure at even steps, up to the last full one; steps without a point repeat one before."""
        packed = self._levels[step_s]
        if not packed:
            return np.zeros(0)
        known = np.frombuffer(b"".join(packed), dtype=_ROWS)
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

    def to_bytes(self) -> bytes:
        """All of it, as it is stored; never more than its budget."""
        parts = []
        for step, rows in self._levels.items():
            parts.append(HEADER.pack(MAGIC, FORMAT, step, len(rows)))
            parts.extend(rows)
        return b"".join(parts)

    @classmethod
    def from_bytes(cls, stored: bytes, budget: int = BUDGET) -> Self:
        """What `to_bytes` wrote; rows beyond a budget that is smaller now are the oldest ones, and are dropped."""
        history = cls(budget)
        at = 0
        while at < len(stored):
            if len(stored) - at < HEADER.size:
                raise _damaged("it ends in the middle")
            magic, number, step, count = HEADER.unpack_from(stored, at)
            if magic != MAGIC or number != FORMAT or step not in history._levels:
                raise _damaged(f"it has format {number} and steps of {step} s")
            at += HEADER.size
            end = at + count * ROW.size
            if end > len(stored):
                raise _damaged("it ends in the middle")
            rows = (stored[place : place + ROW.size] for place in range(at, end, ROW.size))
            history._levels[step].extend(rows)
            at = end
        return history


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


def _damaged(why: str) -> StoredError:
    return StoredError(
        f"This is not a stored history of load: {why}.",
        hint="It was changed from outside, or written by a newer version of Weft.",
        kind="LoadHistory",
    )
