"""A pipeline with executors, played over arrivals: a policy in, what it cost and how it served out.

Records are a fluid that executors serve in order at their capacity. Executors that are asked for serve after their
start-up and cost from the moment they are asked for. Used by the contest and by what-if.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.scaling.arrivals import Arrivals, Series
from weft.scaling.forecast import Forecast
from weft.scaling.policy import (
    DAY_S,
    MOST_EXECUTORS,
    Decision,
    Load,
    ScalingError,
    ScalingPolicy,
    ScalingTerms,
)

FINEST = 12
"""The most ticks of one interval."""
MOST_INTERVALS = 366 * 24 * 60
"""A year of minutes, which takes minutes to play."""
LONGEST_DELAY = 10_000
"""Executors that serve so many decisions later are asked for by nobody."""
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Course:
    """How it went, tick by tick."""

    policy: str
    tick_s: float
    billed: NDArray[np.int64]
    """Executors that cost something: those that serve, and those that start."""
    kept: NDArray[np.bool_]
    """Whether no record had waited longer than the objective."""
    lag_s: Series
    """How long the oldest record had waited."""
    decisions: tuple[Decision, ...]
    """Those that changed something."""

    @property
    def hours(self) -> float:
        """Executor-hours."""
        return float(self.billed.sum()) * self.tick_s / 3600

    @property
    def within(self) -> float:
        """The share of time within the objective."""
        return float(self.kept.mean())

    @property
    def actions_a_day(self) -> float:
        """How often the number was changed."""
        return len(self.decisions) * DAY_S / (len(self.billed) * self.tick_s)


def check_playable(arrivals: Arrivals, terms: ScalingTerms) -> None:
    """Refuse what has no interval, or more of them than can be played."""
    intervals = arrivals.span_s / terms.interval_s
    if not 1 - ROUNDING <= intervals <= MOST_INTERVALS:
        raise ScalingError(
            f"{arrivals.span_s:,.0f} s of arrivals are {intervals:,.1f} intervals of {terms.interval_s:g} s; "
            f"from 1 to {MOST_INTERVALS:,} are played.",
            hint="Choose another interval, or arrivals over another time.",
        )
    if terms.delay > LONGEST_DELAY:
        raise ScalingError(
            f"A start-up of {terms.start_up_s:,.0f} s is {terms.delay:,} intervals of {terms.interval_s:g} s; "
            f"{LONGEST_DELAY:,} are played at most.",
            hint="Choose a longer interval, or a shorter start-up.",
        )


def ticks_per_interval(arrivals: Arrivals, terms: ScalingTerms) -> int:
    """How finely to play: arrivals one by one as finely as can be, counts as their times of start need it."""
    if arrivals.form == "arrivals":
        return FINEST
    fine = [n for n in (1, 2, 3, 4, 6) if _is_whole(terms.start_up_s * n / terms.interval_s)]
    steps = terms.interval_s / arrivals.step_s
    return next((n for n in fine if n >= steps - ROUNDING), FINEST)


def play(
    policy: ScalingPolicy,
    arrivals: Arrivals,
    terms: ScalingTerms,
    forecasts: Sequence[Forecast | None] = (),
    *,
    initial: int | None = None,
) -> Course:
    """Run a pipeline under a policy, which decides at the beginning of every interval but the first."""
    per = ticks_per_interval(arrivals, terms)
    tick_s = terms.interval_s / per
    came = arrivals.counts(tick_s)
    came = came[: len(came) // per * per]
    by_interval = came.reshape(-1, per).sum(axis=1).tolist()
    delay = int(np.ceil(terms.start_up_s / tick_s - ROUNDING))
    served_by_one = tick_s / terms.cost_s
    ready, starting = max(terms.minimum, initial or 0), [0] * (len(came) + delay + 1)
    waiting, backlog, quiet, spent = 0, 0.0, MOST_EXECUTORS, 0.0
    billed, behind, taken = [], [], []
    for tick, arriving in enumerate(came.tolist()):
        if starting[tick]:
            ready, waiting = ready + starting[tick], waiting - starting[tick]
        interval, within = divmod(tick, per)
        if tick * tick_s % DAY_S == 0:
            spent = 0.0
        if not within and interval:
            load = Load(
                at_s=tick * tick_s,
                arrived=by_interval[interval - 1],
                backlog=backlog,
                executors=ready,
                starting=waiting,
                quiet=quiet,
                spent_hours=spent,
            )
            expected = forecasts[interval] if interval < len(forecasts) else None
            decision = policy.decide(load, expected, terms)
            quiet += 1
            if decision.is_action:
                taken.append(decision)
                quiet = 0
                change = decision.wanted - decision.had
                if change > 0:
                    starting[tick + delay] += change
                    waiting += change
                    if not delay:
                        ready, waiting = ready + change, waiting - change
                else:
                    left = _cancel(starting, tick, delay, -change)
                    waiting -= -change - left
                    ready -= left
        backlog = max(0.0, backlog + arriving - ready * served_by_one)
        spent += (ready + waiting) * tick_s / 3600
        billed.append(ready + waiting)
        behind.append(backlog)
    kept, lag_s = _judged(came, np.array(behind), tick_s, terms.objective_s)
    return Course(policy.name, tick_s, np.array(billed), kept, lag_s, tuple(taken))


def _cancel(starting: list[int], tick: int, delay: int, fewer: int) -> int:
    """Take back executors that have not started yet, the last ones first; how many are still too many."""
    for at in range(tick + delay, tick, -1):
        gone = min(fewer, starting[at])
        starting[at] -= gone
        fewer -= gone
    return fewer


def _judged(
    came: Series, behind: Series, tick_s: float, objective_s: float
) -> tuple[NDArray[np.bool_], Series]:
    """At the end of each tick: whether all had been served in time, and how long the oldest had waited."""
    total = np.concatenate([[0.0], np.cumsum(came)])
    served = total[1:] - behind
    ends = np.arange(1, len(came) + 1) * tick_s
    starts = np.arange(len(total)) * tick_s
    due = np.interp(ends - objective_s, starts, total)
    kept = served >= due - ROUNDING * np.maximum(1.0, due)
    # Where nothing came for a while many moments have one total: the oldest waiting record came at the last of them.
    oldest = np.interp(served, total + np.arange(len(total)) * 1e-9, starts)
    lag = np.where(behind > ROUNDING, np.maximum(0.0, ends - oldest), 0.0)
    return kept, lag


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < ROUNDING
