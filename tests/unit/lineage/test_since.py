"""From where on history is verified: what people write, and what becomes of it."""

from __future__ import annotations

import pytest

from tests.unit.lineage.test_chain import make_knot, make_line
from weft.errors import WeftError
from weft.lineage.chain import Line
from weft.lineage.finding import Verification
from weft.lineage.knot import Knot
from weft.lineage.since import Since, begin, parse_since


def test_a_number_is_a_knot_a_date_a_moment_and_hex_digits_a_hash() -> None:
    assert parse_since("12", "orders") == Since(stream="orders", knot=12)
    assert parse_since("AB" * 32).head == "ab" * 32
    assert parse_since("12ab34cd").head == "12ab34cd"
    assert parse_since("2026-11-16").moment == "2026-11-16T00:00:00.000000Z"
    assert parse_since("2026-11-16T02:00:00+02:00").moment == "2026-11-16T00:00:00.000000Z"


@pytest.mark.parametrize(
    "text", ["12", "", "abc", "yesterday", "ab" * 33, "9999-12-31T23:59:59-23:59", "'; drop", "-1"]
)
def test_what_is_none_of_them_is_refused(text: str) -> None:
    with pytest.raises(WeftError) as refused:
        parse_since(text)
    assert refused.value.code == "verify.bad-since"


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}.000000Z"


def history() -> list[Knot]:
    """Three knots, the second of which was rolled back."""
    first = make_knot(1, completed=at(1))
    return [first, make_knot(2, first, completed=at(2)), make_knot(3, first, completed=at(3))]


SHARED = {"orders": "orders", "orders.dead": "orders", "visits": "visits"}


def begun(since: Since) -> tuple[dict[str, int], Verification]:
    report = Verification()
    visits = Line("visits", {}, None, 0)
    lines = begin(since, {"orders": make_line(*history()), "visits": visits}, SHARED, report)
    return {name: line.start for name, line in lines.items()}, report


@pytest.mark.parametrize(
    ("since", "start"),
    [
        (Since(moment=at(0)), 0),
        (Since(moment=at(3)), 2),
        (Since(moment=at(9)), 3),
        (Since(stream="orders", knot=2), 1),
        (Since(stream="orders.dead", knot=3), 2),
    ],
)
def test_knots_that_were_tied_before_are_passed_over(since: Since, start: int) -> None:
    found, report = begun(since)
    assert found["orders"] == start and report.is_clean


def test_a_head_in_the_chain_is_told_and_one_that_is_not_is_found() -> None:
    first, second, third = history()
    found, report = begun(Since(head=str(first.hash)[:12]))
    assert found["orders"] == 0 and report.is_clean and "knot 1 of orders" in report.remarks[0]
    assert "newest" in begun(Since(head=str(third.hash)))[1].remarks[0]
    _, report = begun(Since(head=str(second.hash)))
    assert [finding.code for finding in report.findings] == ["head.rolled-back"]
    found, report = begun(Since(head="ab" * 32))
    assert found["orders"] == 0 and [one.code for one in report.findings] == ["head.unknown"]
    _, report = begun(Since(stream="visits", head=str(first.hash)))
    assert [one.code for one in report.findings] == ["head.unknown"]


@pytest.mark.parametrize(
    ("since", "code"),
    [
        (Since(stream="nowhere", knot=1), "stream.missing"),
        (Since(stream="orders", knot=4), "knot.missing"),
        (Since(stream="visits", knot=1), "knot.missing"),
    ],
)
def test_a_knot_that_is_not_there_is_refused(since: Since, code: str) -> None:
    with pytest.raises(WeftError) as refused:
        begun(since)
    assert refused.value.code == code


def test_a_clock_that_was_set_back_hides_no_knot() -> None:
    first = make_knot(1, completed=at(9))
    knots = make_line(first, make_knot(2, first, completed=at(1)))
    lines = begin(Since(moment=at(5)), {"orders": knots}, SHARED, Verification())
    assert lines["orders"].start == 0
