"""What would happen with another load or other executors: answered by the simulator, for `weft scaling what-if`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from weft.scaling.arrivals import Arrivals
from weft.scaling.optimum import hindsight_hours, peak_executors
from weft.scaling.policy import (
    MOST_EXECUTORS,
    Reactive,
    ScalingError,
    ScalingPolicy,
    ScalingTerms,
    Static,
)
from weft.scaling.simulator import Course, check_playable, play


@dataclass(frozen=True)
class WhatIf:
    """How a number of executors, or the reactive rule, would do."""

    policy: str
    executors: int | None
    within: float
    hours: float
    optimum_hours: float
    longest_lag_s: float
    breaks_at: datetime | None
    """When a record first waits longer than the objective."""
    back_at: datetime | None
    """When none does any longer, for good; none if it never breaks or never comes back."""
    enough: int | None
    """The smallest number of executors with which it never breaks, whether there may be so many or not; none if no
    number is enough."""


def what_if(arrivals: Arrivals, terms: ScalingTerms, *, executors: int | None = None) -> WhatIf:
    """Play so many executors, or the reactive rule where no number is given, over these arrivals."""
    if executors is not None and not terms.minimum <= executors <= terms.maximum:
        raise ScalingError(
            f"{executors} executors are not between the {terms.minimum} and {terms.maximum} that there may be.",
            hint="Ask for a number that may be, or allow more.",
        )
    check_playable(arrivals, terms)
    policy: ScalingPolicy = Reactive() if executors is None else Static(executors)
    course = play(policy, arrivals, terms, initial=executors)
    broken = np.flatnonzero(~course.kept)
    breaks = back = None
    if len(broken):
        breaks = _moment(arrivals, course, int(broken[0]))
        if broken[-1] + 1 < len(course.kept):
            back = _moment(arrivals, course, int(broken[-1]) + 1)
    return WhatIf(
        policy=course.policy,
        executors=executors,
        within=course.within,
        hours=course.hours,
        optimum_hours=hindsight_hours(arrivals, terms),
        longest_lag_s=float(course.lag_s.max()),
        breaks_at=breaks,
        back_at=back,
        enough=enough(arrivals, terms),
    )


def enough(arrivals: Arrivals, terms: ScalingTerms) -> int | None:
    """The smallest number of executors that keeps the objective all the time; None if not even the most do."""
    free = replace(terms, maximum=MOST_EXECUTORS)

    def is_enough(number: int) -> bool:
        return bool(play(Static(number), arrivals, free, initial=number).kept.all())

    low, high = terms.minimum, peak_executors(arrivals, terms)
    while not is_enough(high):
        if high == MOST_EXECUTORS:
            return None
        low, high = high + 1, min(2 * high, MOST_EXECUTORS)
    while low < high:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle + 1
    return high


def _moment(arrivals: Arrivals, course: Course, tick: int) -> datetime:
    return arrivals.start + timedelta(seconds=(tick + 1) * course.tick_s)
