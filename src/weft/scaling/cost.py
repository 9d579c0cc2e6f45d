"""What batches and records cost: measured work in, the seconds of one of each at a complexity out.

A batch takes time for its tasks however few records it has, and the more there are the less of that falls on each:
what a record costs in small batches says little of how many an executor can serve. So both are told apart, as far as
what was measured allows. A rule that is attached makes every record dearer from its first batch on; what it will cost
is told from what steps and rules cost so far, before there is a batch with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.scaling.arrivals import Series
from weft.scaling.policy import ScalingError

RECENT = 200
"""Measurements that count."""
NEWEST = 20
"""Those that say what all costs together now."""
LEAST_SHARE = 0.25
"""A record costs at least this share of what it does now, however much simpler it becomes: reading and writing stay."""
LEAST_SLOPE = 0.05
"""And of all that was measured at least this share is the records', however little they seem to cost."""
DOUBT = 2.0
"""By so many standard errors a record may cost more than it seems."""
ODD = 4.0
"""What is so many times as far from the line as others are, such as a pause of Java's, does not count for it."""


@dataclass(frozen=True)
class MeasuredCost:
    """Some batches: the steps and rules that each record went through, how many there were, and executor-seconds."""

    complexity: float
    run_s: float
    records: float
    batches: float = 1.0

    @property
    def of_record(self) -> float:
        """All of it, by the record."""
        return self.run_s / self.records


@dataclass(frozen=True)
class Cost:
    """The executor-seconds of a record, and those that a batch takes besides."""

    record_s: float
    batch_s: float = 0.0


def cost_at(complexity: float, measured: Sequence[MeasuredCost]) -> Cost:
    """What a record costs at this complexity, and a batch.

    With batches at several complexities it is the line through them, with one complexity in proportion to it. Steps
    never make a record cheaper, and the newest batches say what it costs at their own complexity.
    """
    recent = [one for one in measured if one.run_s > 0 and one.records > 0 and one.batches > 0]
    recent = recent[-RECENT:]
    if not recent:
        raise ScalingError(
            "Nothing was measured yet, so that the cost of a record is not known.",
            hint="It is known after the first batch with records.",
        )
    at = np.array([one.complexity for one in recent])
    cost = np.array([one.of_record for one in recent])
    now = recent[-1].complexity
    alike = [one for one in recent if one.complexity == now]
    here = float(np.median([one.of_record for one in alike[-NEWEST:]]))
    if np.ptp(at) > 0:
        slope = max(0.0, float(np.polyfit(at, cost, 1)[0]))
    else:
        slope = here / (1.0 + now)
    dearer = max(LEAST_SHARE * here, here + slope * (complexity - now)) / here
    parts = _told_apart(alike)
    return Cost(parts.record_s * dearer, parts.batch_s)


def _told_apart(alike: Sequence[MeasuredCost]) -> Cost:
    """The line through batches of several sizes. Where they are too much alike to tell, all of it is the records'."""
    size = np.array([one.records / one.batches for one in alike])
    spent = np.array([one.run_s / one.batches for one in alike])
    whole = float(np.median(spent[-NEWEST:] / size[-NEWEST:]))
    record_s = max(LEAST_SLOPE * whole, _slope(size, spent))
    if record_s >= whole:
        return Cost(whole)
    return Cost(record_s, max(0.0, float(np.median((spent - record_s * size)[-NEWEST:]))))


def _slope(size: Series, spent: Series) -> float:
    """The most that one more record may cost; infinite where nothing can be said."""
    for is_last in (False, True):
        if len(size) < 4 or not np.ptp(size):
            break
        slope, rest = np.polyfit(size, spent, 1)
        far = np.abs(spent - slope * size - rest)
        if is_last:
            error = np.sqrt(np.sum(far**2) / (len(far) - 2) / np.sum((size - size.mean()) ** 2))
            return float(slope + DOUBT * error)
        usual = far <= ODD * max(float(np.median(far)), 1e-12)
        size, spent = size[usual], spent[usual]
    return float("inf")
