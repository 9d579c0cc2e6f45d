"""Who decides: won in a review of the past, kept until that is old or costs otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from weft.scaling.arrivals import Series
from weft.scaling.contest import DEARER, REVIEW, _review
from weft.scaling.naive import LastValue, SeasonalNaive
from weft.scaling.pilot import LEAST_PAST, Lead, Past, look, review
from weft.scaling.policy import Ahead, Reactive, ScalingTerms

DAY = 96
TERMS = ScalingTerms(cost_s=1.0, interval_s=900.0, start_up_s=60.0, objective_s=60.0)
"""Intervals of a quarter of an hour, so that days are short; an executor does 900 an interval."""


def days(count: int) -> Series:
    """Days on each of which the work doubles at noon for some hours."""
    quarters = np.arange(count * DAY) % DAY
    return np.where((quarters >= 48) & (quarters < 60), 1_700.0, 850.0)


def test_who_knows_a_rise_of_every_day_leads_and_expects_it() -> None:
    past = days(9)[: 8 * DAY + 47]
    lead = review(Past(past), TERMS, (LastValue(), SeasonalNaive()))
    assert lead.model == "seasonal"
    outlook = look(lead, Past(past), TERMS)
    assert outlook.forecast is not None and outlook.forecast.path(0.5)[2] > 1_500


def test_where_nobody_did_better_the_reactive_rule_leads() -> None:
    random = np.random.default_rng(5)
    lead = review(Past(random.uniform(0, 5_000, 200)), TERMS, (SeasonalNaive(),))
    assert lead.policy == Reactive() and look(lead, Past(days(1)), TERMS).forecast is None
    assert look(None, Past(days(1)), TERMS).policy == Reactive()


@pytest.mark.parametrize(
    ("late", "billed", "leader"),
    [
        (10, 99, 1),  # as good and cheaper
        (11, 99, 0),  # cheaper, and worse
        (5, 100 * DEARER, 1),  # half as late, and hardly dearer
        (5, 103, 0),
        (6, 101, 0),
    ],
)
def test_to_beat_the_reactive_rule_is_to_serve_as_well_for_less_or_far_better_for_hardly_more(
    late: float, billed: float, leader: int
) -> None:
    sums = (np.array([10.0, late]), np.array([100.0, billed]), np.array([3.0, 3.0]))
    assert _review(0, *sums, limit=20) == leader


def test_nothing_that_costs_more_is_better_than_never_late() -> None:
    sums = (np.zeros(2), np.array([100.0, 101.0]), np.array([3.0, 1.0]))
    assert _review(0, *sums, limit=20) == 0


def test_a_lead_is_over_when_it_is_old_or_the_past_costs_otherwise() -> None:
    past = days(2)
    lead = Lead(Past(past), Ahead(), "seasonal")
    grown = np.concatenate([past, past[:3]])
    assert not lead.is_over(Past(grown), 3)
    assert not lead.is_over(Past(grown * 1.1), 3)
    assert lead.is_over(Past(grown * 1.3), 3)
    assert lead.is_over(Past(grown), REVIEW)
    assert lead.is_over(Past(past[:2]), 3)
    assert lead.is_over(Past(grown, calendar={"sale": ("2026-01-01",)}), 3)


def test_a_past_without_work_is_not_reviewed() -> None:
    assert not Past(np.zeros(500)).is_enough
    assert not Past(np.ones(LEAST_PAST - 1)).is_enough
    assert Past(np.ones(LEAST_PAST)).is_enough
