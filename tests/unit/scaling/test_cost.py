"""What a record costs at another complexity."""

from __future__ import annotations

import pytest

from weft.scaling.cost import MeasuredCost, cost_at
from weft.scaling.policy import ScalingError


def test_the_cost_now_is_what_the_newest_batches_say() -> None:
    measured = [MeasuredCost(2, 0.5)] * 5 + [MeasuredCost(3, 0.010)] * 40
    assert cost_at(3, measured) == pytest.approx(0.010)


def test_one_rule_more_costs_what_rules_cost_before() -> None:
    measured = [MeasuredCost(c, 0.001 + 0.002 * c) for c in (1, 2, 3, 2, 1)]
    assert cost_at(5, measured) == pytest.approx(0.011)


def test_with_one_complexity_the_cost_is_in_proportion() -> None:
    assert cost_at(3, [MeasuredCost(1, 0.01)]) == pytest.approx(0.02)


def test_a_rule_never_makes_a_record_cheaper_nor_less_than_nothing() -> None:
    falling = [MeasuredCost(1, 0.03), MeasuredCost(2, 0.02), MeasuredCost(3, 0.01)]
    assert cost_at(9, falling) == pytest.approx(0.01)
    assert cost_at(0, [MeasuredCost(5, 0.01), MeasuredCost(6, 0.1)]) > 0


def test_nothing_measured_is_told() -> None:
    with pytest.raises(ScalingError):
        cost_at(1, [MeasuredCost(1, 0.0)])
