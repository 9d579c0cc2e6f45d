"""The history of load: rollups, retention, a budget, and a clock that jumps."""

from __future__ import annotations

import numpy as np
import pytest

from weft.codec import StoredError
from weft.scaling.history import KEPT_S, LEVELS, MEASURES, ROW, LoadHistory, LoadPoint, add_up


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
    assert 150_000 < history.size <= 200_000


def test_pages_that_were_stored_are_read_again() -> None:
    history = measured(LoadHistory(), 0, 3 * 3_600)
    pages = [history.page(60, start, start + 3_600) for start in range(0, 3 * 3_600, 3_600)]
    assert [len(page) // ROW.size for page in pages] == [60, 60, 59]
    again = LoadHistory()
    for page in pages:
        again.restore(60, page)
    assert again.page(60, 0, 10**9) == b"".join(pages)
    assert again.begins_s(60) == 0


def test_a_page_that_is_read_twice_counts_once() -> None:
    history = measured(LoadHistory(), 0, 3_600)
    page = history.page(60, 0, 3_600)
    history.restore(60, page)
    assert history.page(60, 0, 3_600) == page


def test_a_point_says_which_rows_it_has_completed() -> None:
    history = measured(LoadHistory(), 0, 55)
    assert history.add(LoadPoint(59.0)) == [(5, 50)]
    assert history.add(LoadPoint(60.0)) == [(5, 55), (60, 0)]
    assert history.add(LoadPoint(61.0)) == []


@pytest.mark.parametrize("cut", [1, ROW.size - 1])
def test_a_page_that_is_cut_off_is_refused(cut: int) -> None:
    page = measured(LoadHistory(), 0, 600).page(60, 0, 600)
    with pytest.raises(StoredError):
        LoadHistory().restore(60, page[:-cut])


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


def test_a_clock_that_is_set_far_ahead_leaves_out_what_was_before() -> None:
    history = LoadHistory()
    for minute in range(10):
        history.add(LoadPoint(60.0 * minute, rate_in=5.0))
    ahead = 60.0 * 10**9
    for minute in range(4):
        history.add(LoadPoint(ahead + 60 * minute, rate_in=7.0))
    assert history.begins_s(60) == ahead
    assert history.series("rate_in", 60).tolist() == [7.0, 7.0, 7.0]


def test_series_are_added_up_by_their_time() -> None:
    first, second = (0, np.ones(3)), (120, np.full(3, 10.0))
    begin, total = add_up([first, second], 60)
    assert (begin, total.tolist()) == (0, [1.0, 1.0, 11.0, 10.0, 10.0])
    kept = KEPT_S[60]
    begin, total = add_up([first, (kept + 60, np.full(2, 10.0))], 60)
    assert (begin, len(total), total[0], total[-1]) == (180, kept // 60, 0.0, 10.0)
    begin, total = add_up([first, (kept, np.ones(1))], 60)
    assert (begin, total[:3].tolist()) == (60, [1.0, 1.0, 0.0])
    far = 60 * 10**12
    assert add_up([first, (far, np.ones(2))], 60)[1].sum() == 2.0
