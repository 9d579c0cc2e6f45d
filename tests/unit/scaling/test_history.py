"""The history of load: rollups, retention, a budget, and a clock that jumps."""

from __future__ import annotations

import numpy as np
import pytest

from weft.codec import StoredError
from weft.scaling.history import LEVELS, MEASURES, ROW, LoadHistory, LoadPoint


def measured(history: LoadHistory, start: int, end: int, step: int = 5) -> LoadHistory:
    for at in range(start, end, step):
        history.add(LoadPoint(at, rate_in=float(at % 60), executors=2.0))
    return history


def test_points_are_rolled_up_with_mean_and_peak() -> None:
    rows = list(measured(LoadHistory(), 0, 300).rows(60))
    assert [(row.start_s, row.points) for row in rows] == [(at, 12) for at in range(0, 300, 60)]
    assert rows[0].mean["rate_in"] == pytest.approx(27.5)
    assert rows[0].peak["rate_in"] == 55.0
    assert "cpu" not in rows[0].mean


def test_what_is_seen_of_a_step_includes_the_one_that_is_being_filled() -> None:
    history = measured(LoadHistory(), 0, 130)
    assert [row.points for row in history.rows(60)] == [12, 12, 2]
    assert [row.start_s for row in history.rows(60, since_s=70)] == [60, 120]


def test_each_level_keeps_its_own_number_of_rows() -> None:
    history = measured(LoadHistory(), 0, 3 * 86_400, 60)
    kept = {step: len(list(history.rows(step))) for step, _ in LEVELS}
    assert kept == {5: 721, 60: 4320, 900: 288}


def test_no_more_bytes_are_kept_than_the_budget() -> None:
    history = measured(LoadHistory(200_000), 0, 8 * 86_400, 60)
    assert 150_000 < len(history.to_bytes()) <= 200_000


def test_what_was_stored_is_read_again() -> None:
    history = measured(LoadHistory(), 0, 7_200)
    again = LoadHistory.from_bytes(history.to_bytes())
    assert again.to_bytes() == history.to_bytes()
    smaller = LoadHistory.from_bytes(history.to_bytes(), budget=100_000)
    assert len(smaller.to_bytes()) <= 100_000
    newest = [row.start_s for row in smaller.rows(5)][-1]
    assert newest == [row.start_s for row in again.rows(5)][-1]


@pytest.mark.parametrize("cut", [1, 30, ROW.size + 3])
def test_what_is_damaged_is_refused(cut: int) -> None:
    stored = measured(LoadHistory(), 0, 600).to_bytes()
    with pytest.raises(StoredError):
        LoadHistory.from_bytes(stored[:-cut] if cut != 30 else b"x" + stored[1:])


def test_a_clock_that_is_set_back_leaves_no_rows_from_the_future() -> None:
    history = measured(LoadHistory(), 0, 600)
    history.add(LoadPoint(9e9, rate_in=1.0))
    measured(history, 600, 1_200)
    starts = [row.start_s for row in history.rows(60)]
    assert starts == list(range(0, 1_200, 60))


def test_a_measure_is_read_as_an_even_series() -> None:
    history = LoadHistory()
    for at in (0, 60, 240, 300):
        history.add(LoadPoint(at, rate_in=float(at)))
    assert history.series("rate_in", 60).tolist() == [0, 60, 60, 60, 240]
    assert history.series("cpu", 60).tolist() == []
    assert LoadHistory().series("rate_in", 60).tolist() == []
    assert "rate_in" in MEASURES and isinstance(history.series("rate_in", 60), np.ndarray)
