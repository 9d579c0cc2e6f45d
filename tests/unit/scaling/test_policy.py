"""Decisions: the reactive rule, the planned one, and their limits."""

from __future__ import annotations

import numpy as np
import pytest

from weft.scaling.forecast import HORIZON, LEVELS, Forecast
from weft.scaling.policy import Ahead, Load, Reactive, ScalingError, ScalingTerms, Static

TERMS = ScalingTerms(cost_s=0.01)
"""One executor serves 6,000 an interval."""


def forecast(*counts: float, spread: float = 0.0) -> Forecast:
    path = np.array([*counts, *[counts[-1]] * (HORIZON - len(counts))])
    rows = [path * (1 + spread * level) for level in range(len(LEVELS))]
    return Forecast("made", np.stack(rows).astype(np.float32))


def load(arrived: float, *, backlog: float = 0.0, executors: int = 2, starting: int = 0) -> Load:
    return Load(600.0, arrived, backlog, executors, starting)


def test_the_reactive_rule_serves_the_rate_and_the_backlog() -> None:
    assert Reactive().decide(load(11_000), None, TERMS).wanted == 2
    assert Reactive().decide(load(11_000, backlog=6_000), None, TERMS).wanted == 3


def test_without_a_forecast_the_reactive_rule_decides() -> None:
    decision = Ahead().decide(load(30_000), None, TERMS)
    assert (decision.wanted, decision.by) == (5, "ds2")


def test_a_rise_is_answered_before_there_is_a_backlog() -> None:
    decision = Ahead().decide(load(11_000), forecast(11_000, 40_000), TERMS)
    assert decision.wanted > 4 and decision.expected == pytest.approx(40_000 / 60)
    assert decision.model == "made"


def test_a_backlog_that_the_objective_allows_asks_for_nothing() -> None:
    decision = Ahead().decide(load(12_500, backlog=3_000), forecast(12_000), TERMS)
    assert not decision.is_action


def test_a_higher_quantile_asks_for_more() -> None:
    expected = forecast(30_000, spread=0.3)
    wanted = [Ahead(quantile=q).decide(load(12_000), expected, TERMS).wanted for q in LEVELS]
    assert wanted == sorted(wanted) and wanted[-1] > wanted[0]


def test_a_record_that_costs_more_asks_for_more_before_the_backlog_does() -> None:
    dearer = ScalingTerms(cost_s=0.03)
    assert not Ahead().decide(load(11_000), forecast(11_000), TERMS).is_action
    assert Ahead().decide(load(11_000), forecast(11_000), dearer).wanted >= 5


def test_nobody_is_let_go_while_more_waits_than_fewer_may_have() -> None:
    hasty = ScalingTerms(
        cost_s=0.01, objective_s=10.0
    )  # a decision comes later than a record may wait
    few = forecast(2_000)
    behind = load(2_000, backlog=2_500, executors=4)
    assert Ahead().decide(behind, few, hasty).wanted == 4
    assert Ahead().decide(load(2_000, backlog=200, executors=4), few, hasty).wanted == 1


def test_fewer_are_wanted_once_fewer_hold_for_long() -> None:
    few = forecast(5_000)
    assert Ahead().decide(load(5_000, executors=6), few, TERMS).wanted == 1
    soon = forecast(5_000, 5_000, 5_000, 35_000)
    assert Ahead().decide(load(5_000, executors=6), soon, TERMS).wanted == 6


def test_nothing_is_let_go_while_something_starts() -> None:
    new = Load(600.0, 5_000, 0.0, 2, 4, quiet=1)
    assert not Ahead().decide(new, forecast(5_000), TERMS).is_action


def test_what_the_forecast_thought_impossible_is_answered_as_by_the_reactive_rule() -> None:
    surge = load(40_000, backlog=9_000)
    decision = Ahead().decide(surge, forecast(5_000), TERMS)
    assert decision.wanted >= Reactive().decide(surge, None, TERMS).wanted


def test_limits_and_the_budget_of_a_day_hold() -> None:
    limited = ScalingTerms(cost_s=0.01, minimum=2, maximum=4)
    assert Reactive().decide(load(60_000), None, limited).wanted == 4
    assert Reactive().decide(load(10), None, limited).wanted == 2
    poor = ScalingTerms(cost_s=0.01, hours_a_day=24)
    late = Load(43_200.0, 60_000, 0.0, 2, spent_hours=0.0)
    assert Reactive().decide(late, None, poor).wanted == 2
    assert Static(9).decide(late, None, poor).wanted == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"cost_s": 0},
        {"interval_s": float("nan")},
        {"objective_s": -1},
        {"start_up_s": -1},
        {"minimum": 0},
        {"minimum": 4, "maximum": 3},
        {"hours_a_day": 0},
    ],
)
def test_terms_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ScalingError):
        ScalingTerms(**{"cost_s": 0.01, **wrong})  # type: ignore[arg-type]
