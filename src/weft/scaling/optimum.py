"""The bounds of every contest: what would have been enough had one known, and what is always enough. Arrivals in."""

from __future__ import annotations

import math

import numpy as np

from weft.scaling.arrivals import Arrivals
from weft.scaling.policy import ScalingTerms
from weft.scaling.simulator import ROUNDING, ticks_per_interval


def hindsight_hours(arrivals: Arrivals, terms: ScalingTerms) -> float:
    """The executor-hours of one who knows all that will come, and changes the number at every decision for nothing.

    Each interval has as few executors as serve in time what is due in it; what they serve beyond that is due later. So
    they stand idle only where the smallest number is more than what there is.
    """
    per = ticks_per_interval(arrivals, terms)
    tick_s = terms.interval_s / per
    came = arrivals.counts(tick_s)
    intervals = len(came) // per
    total = np.concatenate([[0.0], np.cumsum(came)])
    ends = np.arange(len(total)) * tick_s
    due = np.interp(ends - terms.objective_s, ends, total)
    passed = np.arange(1, per + 1) * tick_s / terms.cost_s
    served, executors = 0.0, 0
    for interval in range(intervals):
        ticks = slice(interval * per + 1, (interval + 1) * per + 1)
        most = float(np.max((due[ticks] - served) / passed))
        needed = min(terms.maximum, max(terms.minimum, math.ceil(most - ROUNDING)))
        for at in range(interval * per + 1, (interval + 1) * per + 1):
            served = min(float(total[at]), served + needed * tick_s / terms.cost_s)
        executors += needed
    return executors * terms.interval_s / 3600


def peak_executors(arrivals: Arrivals, terms: ScalingTerms) -> int:
    """As many as the busiest interval needs."""
    busiest = float(np.max(arrivals.counts(terms.interval_s)))
    return min(
        terms.maximum, max(terms.minimum, math.ceil(busiest / terms.per_interval - ROUNDING))
    )
