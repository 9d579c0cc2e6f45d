"""What a record and a batch cost, and at another complexity."""

from __future__ import annotations

import random

import pytest

from weft.scaling.cost import Cost, MeasuredCost, cost_at
from weft.scaling.policy import ScalingError


def _one(complexity: float, cost_s: float) -> MeasuredCost:
    """A batch of a hundred records that took so long for each."""
    return MeasuredCost(complexity, 100 * cost_s, 100)


def _record_s(complexity: float, measured: list[MeasuredCost]) -> float:
    return cost_at(complexity, measured).record_s


def test_the_cost_now_is_what_the_newest_batches_say() -> None:
    measured = [_one(2, 0.5)] * 5 + [_one(3, 0.010)] * 40
    assert _record_s(3, measured) == pytest.approx(0.010)


def test_one_rule_more_costs_what_rules_cost_before() -> None:
    measured = [_one(c, 0.001 + 0.002 * c) for c in (1, 2, 3, 2, 1)]
    assert _record_s(5, measured) == pytest.approx(0.011)


def test_with_one_complexity_the_cost_is_in_proportion() -> None:
    assert _record_s(3, [_one(1, 0.01)]) == pytest.approx(0.02)


def test_a_rule_never_makes_a_record_cheaper_nor_less_than_nothing() -> None:
    falling = [_one(1, 0.03), _one(2, 0.02), _one(3, 0.01)]
    assert _record_s(9, falling) == pytest.approx(0.01)
    assert _record_s(0, [_one(5, 0.01), _one(6, 0.1)]) > 0


def test_nothing_measured_is_told() -> None:
    with pytest.raises(ScalingError):
        cost_at(1, [MeasuredCost(1, 0.0, 100)])
    with pytest.raises(ScalingError):
        cost_at(1, [MeasuredCost(1, 1.0, 0)])


def _noisy(count: int, sizes: tuple[int, int], *, seed: int = 1) -> list[MeasuredCost]:
    """Reports of five batches, each of which takes 0.8 s and 0.03 s for each of its records, more or less."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        records = sum(chance.randint(*sizes) for _ in range(5))
        run_s = sum(0.8 * chance.uniform(0.9, 1.1) for _ in range(5)) + 0.03 * records
        found.append(MeasuredCost(1, run_s, records, 5))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_what_a_batch_takes_is_not_a_cost_of_its_records(seed: int) -> None:
    found = cost_at(1, _noisy(60, (8, 24), seed=seed))
    assert found.record_s == pytest.approx(0.03, abs=0.02)
    assert found.batch_s == pytest.approx(0.8, abs=0.3)


def test_batches_that_are_alike_tell_nothing_and_all_is_the_records() -> None:
    assert cost_at(1, [MeasuredCost(1, 1.0, 50, 5)] * 20) == Cost(0.02, 0.0)
    assert cost_at(1, [MeasuredCost(1, 1.0, 50), MeasuredCost(1, 5.0, 60)]).batch_s == 0


def test_a_pause_says_nothing_of_what_records_cost() -> None:
    measured = _noisy(60, (8, 24))
    paused = [*measured[:30], MeasuredCost(1, 60.0, 140, 5), *measured[30:]]
    assert cost_at(1, paused).record_s == pytest.approx(cost_at(1, measured).record_s, rel=0.3)


def test_records_that_seem_to_cost_nothing_cost_a_little() -> None:
    measured = [MeasuredCost(1, 10.0 - size / 100, size) for size in range(1, 40)]
    assert _record_s(1, measured) > 0
