"""What a record costs: measured seconds and complexities in, the seconds at another complexity out.

A rule that is attached makes every record dearer from its first batch on. What it will cost is told from what steps and
rules cost so far, before there is a batch with it; the policy gets it as `ScalingTerms.cost_s`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.scaling.policy import ScalingError

RECENT = 200
"""Measurements that count."""
LEAST_SHARE = 0.25
"""A record costs at least this share of what it does now, however much simpler it becomes: reading and writing stay."""


@dataclass(frozen=True)
class MeasuredCost:
    """One batch or more: how many steps and rules a record went through, and the executor-seconds that it took."""

    complexity: float
    cost_s: float


def cost_at(complexity: float, measured: Sequence[MeasuredCost]) -> float:
    """The executor-seconds of a record at this complexity.

    With batches at several complexities it is the line through them, with one complexity in proportion to it. Steps
    never make a record cheaper, and the newest batches say what it costs at their own complexity.
    """
    recent = [one for one in measured if one.cost_s > 0][-RECENT:]
    if not recent:
        raise ScalingError(
            "Nothing was measured yet, so that the cost of a record is not known.",
            hint="It is known after the first batch with records.",
        )
    at = np.array([one.complexity for one in recent])
    cost = np.array([one.cost_s for one in recent])
    now = recent[-1].complexity
    here = float(np.median(cost[at == now][-20:]))
    if np.ptp(at) > 0:
        slope = max(0.0, float(np.polyfit(at, cost, 1)[0]))
    else:
        slope = here / (1.0 + now)
    return max(LEAST_SHARE * here, here + slope * (complexity - now))
