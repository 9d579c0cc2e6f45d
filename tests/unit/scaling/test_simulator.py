"""The simulator: what queues, what it costs, and what would have been enough."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from weft.scaling.arrivals import Arrivals, steady
from weft.scaling.optimum import hindsight_hours, peak_executors
from weft.scaling.policy import Reactive, ScalingError, ScalingTerms, Static
from weft.scaling.simulator import play, ticks_per_interval
from weft.scaling.what_if import enough, what_if

START = datetime(2026, 1, 1, tzinfo=UTC)
TERMS = ScalingTerms(cost_s=0.01)


def by_minute(*counts: float) -> Arrivals:
    return Arrivals(START, 60.0, np.concatenate([[0.0], np.cumsum(counts)]))


def test_enough_executors_keep_the_objective() -> None:
    course = play(Static(2), by_minute(*[12_000] * 30), TERMS, initial=2)
    assert (course.within, course.hours, course.actions_a_day) == (1.0, 1.0, 0.0)
    assert course.lag_s.max() == pytest.approx(0.0)


def test_a_lag_grows_where_they_are_too_few() -> None:
    # 100 a second are served of 125: the lag grows by a fifth of a second a second.
    course = play(Static(1), steady(125, seconds=1200, start=START), TERMS)
    assert course.lag_s[-1] == pytest.approx(0.2 * 1200, rel=0.01)
    assert course.within == pytest.approx(300 / 1200, abs=0.06)


def test_executors_serve_after_their_start_and_cost_from_when_they_are_asked_for() -> None:
    course = play(Reactive(), by_minute(6_000, 12_000, 12_000, 12_000, 6_000), TERMS)
    assert course.billed.tolist()[:3] == [1, 1, 3]
    assert course.lag_s[2] > 0


def test_executors_that_have_not_started_can_be_taken_back() -> None:
    slow = ScalingTerms(cost_s=0.01, start_up_s=180.0)
    course = play(Reactive(), by_minute(6_000, 60_000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), slow)
    assert course.billed[-1] == 1 and course.billed.min() >= 1


def test_the_optimum_serves_in_time_with_the_least() -> None:
    burst = by_minute(6_000, 24_000, 6_000, 6_000)
    assert hindsight_hours(burst, TERMS) * 60 <= 1 + 1 + 4 + 1
    assert peak_executors(burst, TERMS) == 4
    calm = by_minute(*[600] * 60)
    assert hindsight_hours(calm, TERMS) == 1.0


def test_nobody_costs_less_than_the_optimum_and_serves_all_in_time() -> None:
    random = np.random.default_rng(7)
    arrivals = by_minute(*random.gamma(2.0, 9_000, 600))
    best = hindsight_hours(arrivals, TERMS)
    for policy in (Reactive(), *(Static(number) for number in range(1, 8))):
        course = play(policy, arrivals, TERMS)
        assert course.hours >= best or course.within < 1.0


@pytest.mark.parametrize("late_s", [5.0, 30.0, 55.0])
def test_nobody_costs_less_than_the_optimum_when_records_come_in_lumps(late_s: float) -> None:
    lumps = np.zeros(12 * 60)
    lumps[int(late_s / 5) :: 12] = 6_000
    arrivals = Arrivals(START, 5.0, np.concatenate([[0.0], np.cumsum(lumps)]), "arrivals")
    best = hindsight_hours(arrivals, TERMS)
    served = [play(Static(n), arrivals, TERMS, initial=n) for n in range(1, 20)]
    assert best <= min(course.hours for course in served if course.within == 1.0)


def test_what_is_enough_may_be_more_than_there_may_be() -> None:
    load = by_minute(*[6_000] * 5, *[60_000] * 20)
    few = ScalingTerms(cost_s=0.01, maximum=4)
    assert enough(load, few) == enough(load, TERMS) == 10
    with pytest.raises(ScalingError, match="8 executors are not between"):
        what_if(load, few, executors=8)
    with pytest.raises(ScalingError, match="at least 9 and at most 4"):
        ScalingTerms(cost_s=0.01, minimum=9, maximum=4)


def test_arrivals_one_by_one_are_played_finely() -> None:
    fine = Arrivals(START, 5.0, np.arange(100.0), "arrivals")
    assert ticks_per_interval(fine, TERMS) == 12
    assert ticks_per_interval(by_minute(1, 2, 3), TERMS) == 1
    assert ticks_per_interval(by_minute(1, 2, 3), ScalingTerms(cost_s=1, start_up_s=30.0)) == 2


def test_what_if_says_when_it_breaks_and_what_is_enough() -> None:
    load = by_minute(*[6_000] * 10, *[18_000] * 10, *[6_000] * 40)
    found = what_if(load, TERMS, executors=2)
    assert found.breaks_at is not None and found.back_at is not None
    assert START < found.breaks_at < found.back_at
    assert found.enough == enough(load, TERMS) == 3
    assert what_if(load, TERMS, executors=found.enough).within == 1.0
    assert what_if(load, TERMS, executors=found.enough - 1).within < 1.0
