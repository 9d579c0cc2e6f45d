"""The bounds of every contest: what would have been enough had one known, and what is always enough. Arrivals in."""

from __future__ import annotations

import math

import numpy as np

from weft.scaling.arrivals import Arrivals
from weft.scaling.policy import MOST_EXECUTORS, ScalingTerms
from weft.scaling.simulator import ROUNDING


def hindsight_hours(arrivals: Arrivals, terms: ScalingTerms) -> float:
    """The executor-hours of one who knows all that will come, and changes the number at every decision for nothing.

    Each interval has as few executors as have served by its end what is due by then; what they serve beyond that is due
    later. When within an interval something is due is left out, so nobody who serves everything in time has fewer.
    """
    ends = np.arange(1, len(arrivals.counts(terms.interval_s)) + 1) * terms.interval_s
    known = np.arange(len(arrivals.total)) * arrivals.step_s
    came = np.interp(ends, known, arrivals.total)
    due = np.interp(ends - terms.objective_s, known, arrivals.total)
    served, executors = 0.0, 0
    for there, needed_by_now in zip(came, due, strict=True):
        least = math.ceil((needed_by_now - served) / terms.per_interval - ROUNDING)
        needed = min(terms.maximum, max(terms.minimum, least))
        served = min(float(there), served + needed * terms.per_interval)
        executors += needed
    return executors * terms.interval_s / 3600


def peak_executors(arrivals: Arrivals, terms: ScalingTerms) -> int:
    """As many as the busiest interval needs, whether there may be so many or not."""
    busiest = float(np.max(arrivals.counts(terms.interval_s)))
    return min(
        MOST_EXECUTORS, max(terms.minimum, math.ceil(busiest / terms.per_interval - ROUNDING))
    )
