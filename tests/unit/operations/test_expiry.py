"""How far rows go: by age and size, and never what somebody needs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from weft.operations.expiry import MEGABYTE, KnotRows, RowNeed, decide
from weft.project.settings import HistorySpec

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def knots(*, megabytes: int = 1, numbers: range = range(1, 11)) -> list[KnotRows]:
    """Ten knots, one a day; the newest was tied just now."""
    last = numbers[-1]
    return [
        KnotRows(number, NOW - timedelta(days=last - number), 100, megabytes * MEGABYTE)
        for number in numbers
    ]


def upto(history: HistorySpec, *needs: RowNeed, expired: int = 0) -> int:
    kept = [one for one in knots() if one.number > expired]
    return decide(history, kept, needs, now=NOW, expired=expired).upto


def test_everything_is_kept_where_nothing_is_said() -> None:
    assert upto(HistorySpec()) == 0


@pytest.mark.parametrize(("days", "last"), [(30, 0), (9, 0), (3, 6), (0.5, 9)])
def test_what_is_older_goes(days: float, last: int) -> None:
    assert upto(HistorySpec(keep_days=days)) == last


@pytest.mark.parametrize(("size", "last"), [(100, 0), (10, 0), (9, 1), (3, 7), (0, 10)])
def test_what_is_too_much_goes_oldest_first(size: int, last: int) -> None:
    assert upto(HistorySpec(keep_mb=size)) == last


def test_whichever_limit_is_reached_first_counts() -> None:
    assert upto(HistorySpec(keep_days=3, keep_mb=9)) == 6
    assert upto(HistorySpec(keep_days=8.5, keep_mb=2)) == 8


def test_what_anybody_needs_stays_and_it_is_said_who() -> None:
    needs = [RowNeed(4, "pipeline clean"), RowNeed(7, "replay-1"), RowNeed(9, "its newest knot")]
    found = decide(HistorySpec(keep_mb=0), knots(), needs, now=NOW)
    assert (found.upto, found.due, found.held_by) == (4, 10, "pipeline clean")


def test_a_need_that_keeps_nothing_back_is_not_named() -> None:
    found = decide(HistorySpec(keep_days=3), knots(), [RowNeed(6, "clean")], now=NOW)
    assert (found.upto, found.held_by) == (6, None)


def test_what_is_gone_stays_gone_whoever_needs_it() -> None:
    assert upto(HistorySpec(keep_mb=0), RowNeed(2, "pipeline clean"), expired=5) == 5
    assert upto(HistorySpec(), expired=5) == 5


def test_the_number_is_one_of_a_knot_that_has_rows() -> None:
    gaps = [one for one in knots() if one.number not in (4, 5)]
    found = decide(HistorySpec(keep_mb=0), gaps, [RowNeed(5, "clean")], now=NOW)
    assert found.upto == 3


def test_a_clock_that_went_back_lets_nothing_young_go() -> None:
    odd = knots()
    odd[2] = KnotRows(3, NOW, 100, MEGABYTE)
    assert decide(HistorySpec(keep_days=3), odd, [], now=NOW).upto == 2
