"""The score of the Numenta Anomaly Benchmark, by its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from weft.anomalies.nab import NOTHING, PROFILES, Labelled, probation, score, worth

STANDARD, LOW_FP, LOW_FN = PROFILES


def labelled(alarms: list[int], *windows: tuple[int, int], rows: int = 1000) -> Labelled:
    likelihoods = np.zeros(rows)
    likelihoods[alarms] = 1.0
    return Labelled("made", likelihoods, windows)


def sigmoid(position: float) -> float:
    return 2 / (1 + math.exp(5 * position)) - 1


def test_the_first_rows_are_not_scored() -> None:
    assert [probation(rows) for rows in (100, 999, 5_000, 20_000)] == [15, 149, 750, 750]
    assert score([labelled([3, 40, 149], (500, 599))], STANDARD).false_alarms == 0


def test_one_who_says_nothing_scores_nothing_and_one_who_is_perfect_a_hundred() -> None:
    for profile in PROFILES:
        silent = score([labelled([], (500, 599))], profile)
        assert (silent.score, silent.threshold, silent.found) == (0.0, NOTHING, 0)
        assert score([labelled([500], (500, 599))], profile).score == pytest.approx(100.0)


def test_a_window_is_worth_less_the_later_it_is_found() -> None:
    middle = score([labelled([550], (500, 599))], STANDARD)
    expected = sigmoid(-(599 - 550 + 1) / 100) / sigmoid(-1.0)
    assert middle.score == pytest.approx(100 * (expected + 1) / 2)
    assert score([labelled([550, 551, 590], (500, 599))], STANDARD).score == middle.score


def test_a_false_alarm_costs_more_the_further_it_is_behind_a_window() -> None:
    values = worth(1000, [(500, 599)])
    assert values[499] == -1.0
    assert values[610] == pytest.approx(sigmoid(11 / 99))
    assert values[599 + 3 * 99] == pytest.approx(sigmoid(3.0))
    assert values[599 + 3 * 99 + 1] == -1.0


def test_profiles_weigh_what_is_wrong() -> None:
    alarms = labelled([300, 500], (500, 599), (800, 899))
    by_name = {profile.name: score([alarms], profile).score for profile in PROFILES}
    assert by_name["standard"] == pytest.approx(100 * (1 - 0.11 - 1 + 2) / 4)
    assert by_name["reward_low_FP_rate"] == pytest.approx(100 * (1 - 0.22 - 1 + 2) / 4)
    assert by_name["reward_low_FN_rate"] == pytest.approx(100 * (1 - 0.11 - 2 + 4) / 6)


def test_one_threshold_is_chosen_for_all_series() -> None:
    sure, loud = labelled([500], (500, 599)), labelled([], (500, 599))
    loud.likelihoods[200:1000:7] = 0.4
    found = score([sure, loud], STANDARD)
    assert (found.threshold, found.found, found.windows) == (1.0, 1, 2)
    loud.likelihoods[500] = 0.7
    found = score([sure, loud], STANDARD)
    assert (found.threshold, found.score) == (0.7, pytest.approx(100.0))


def test_a_series_without_windows_counts_by_its_false_alarms() -> None:
    quiet, loud = labelled([]), labelled([400, 700])
    sure = labelled([500], (500, 599))
    assert score([sure, quiet], STANDARD).score == pytest.approx(100.0)
    assert score([sure, loud], STANDARD).score == pytest.approx(100 * (1 - 0.22 + 1) / 2)
    assert score([quiet], STANDARD).score == 0.0
