"""The contest: who takes part, and who may act."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from weft.scaling.arrivals import Arrivals, Series
from weft.scaling.contest import Contest, contest, terms_for
from weft.scaling.forecast import FittedModel
from weft.scaling.naive import LastValue, SeasonalNaive
from weft.scaling.policy import ScalingError, ScalingTerms
from weft.scaling.timeline import Timeline

START = datetime(2026, 1, 1, tzinfo=UTC)
TERMS = ScalingTerms(cost_s=1.0)


def by_minute(counts: Series) -> Arrivals:
    return Arrivals(START, 60.0, np.concatenate([[0.0], np.cumsum(counts)]))


def days(number: int, *, seed: int = 5) -> Series:
    random = np.random.default_rng(seed)
    time = np.arange(number * 1440)
    mean = 5_000 * (1.3 + np.sin(2 * np.pi * time / 1440))
    return random.poisson(mean * random.gamma(40, 1 / 40, len(time))).astype(float)


def run(counts: Series) -> Contest:
    arrivals = by_minute(counts)
    return contest(arrivals, terms_for(arrivals, TERMS), models=[LastValue(), SeasonalNaive()])


def test_what_acts_is_cheaper_than_the_reactive_rule_and_serves_as_well() -> None:
    found = run(days(3))
    chosen, reactive = found.standing("weft"), found.standing("ds2")
    assert chosen.within >= reactive.within >= 0.99
    assert chosen.hours < reactive.hours
    assert chosen.vs_optimum < 1.4
    assert chosen.actions_a_day < reactive.actions_a_day / 3
    assert {decision.by for decision in found.decisions} != {"ds2"}


def test_of_those_that_cost_as_much_the_one_acts_that_is_late_least() -> None:
    """Each day the rate doubles for two hours: who knows costs a little more than who is late every time."""
    random = np.random.default_rng(7)
    minute = np.arange(5 * 1440) % 1440
    counts = random.poisson(np.where((minute >= 700) & (minute < 820), 2_640, 1_320)).astype(float)
    terms = ScalingTerms(cost_s=0.065, start_up_s=6, objective_s=6, maximum=4)
    found = contest(by_minute(counts), terms, models=[LastValue(), SeasonalNaive()])
    chosen, reactive = found.standing("weft"), found.standing("ds2")
    assert chosen.within > reactive.within
    assert chosen.hours <= 1.02 * reactive.hours
    acted = {one.name: one.acted or 0.0 for one in found.standings}
    assert sum(share for name, share in acted.items() if name.startswith("seasonal")) > 0.5


def test_a_cold_start_is_that_of_the_reactive_rule() -> None:
    found = run(days(1)[:55])
    assert found.standing("weft").hours == found.standing("ds2").hours
    assert found.standing("ds2").acted == 1.0


def test_a_model_that_is_worse_than_the_reactive_rule_does_not_act() -> None:
    class Liar:
        name = "liar"

        def fit(self, series: Series, times: Timeline) -> FittedModel:
            return LyingForecast()

    class LyingForecast:
        def predict(self, series: Series, origins: Series, times: Timeline) -> Series:
            return np.full((len(origins), 4, 20), 90_000.0)

    arrivals = by_minute(days(2))
    found = contest(arrivals, terms_for(arrivals, TERMS), models=[Liar()])
    assert found.standing("ds2").acted == 1.0
    assert found.standing("weft").hours == found.standing("ds2").hours


def test_nothing_is_decided_by_what_came_later() -> None:
    counts, cut = days(2), 2_000
    other = counts.copy()
    other[cut:] = 40_000.0
    terms = terms_for(by_minute(counts), TERMS)
    first, second = (
        contest(by_minute(one), terms, models=[LastValue()]) for one in (counts, other)
    )
    before = [
        [decision for decision in one.decisions if decision.at_s <= cut * 60.0]
        for one in (first, second)
    ]
    assert before[0] == before[1] and len(before[0]) > 10


def test_an_executor_serves_an_eighth_of_the_busy_rate() -> None:
    counts = np.arange(1.0, 101.0)
    terms = terms_for(by_minute(counts), TERMS)
    assert terms.per_interval == pytest.approx(np.quantile(counts, 0.99) / 8)


@pytest.mark.parametrize("counts", [np.zeros(10), np.ones(1)])
def test_arrivals_that_are_nothing_or_too_short_are_refused(counts: Series) -> None:
    with pytest.raises(ScalingError):
        terms_for(by_minute(counts), TERMS)
