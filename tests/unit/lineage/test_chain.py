"""The checks of `weft verify` that need knots only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from weft.lineage.chain import Line, check_chain, check_consumed, check_inputs, live_numbers
from weft.lineage.facts import DataFile, Output, StepRecord
from weft.lineage.finding import Verification
from weft.lineage.knot import Knot, Parent, Status
from weft.lineage.ledger import Ledger
from weft.lineage.offsets import Offsets

MOMENT = "2026-01-01T00:00:00.000000Z"


def make_knot(number: int, before: Knot | None = None, **fields: Any) -> Knot:
    """A sealed knot of two records that follows another one."""
    files = (DataFile(f"{number:010d}.parquet", rows=2, bytes=10, sha256="0" * 64),)
    knot = Knot(
        id=f"id-{number}",
        stream="orders",
        pipeline="orders",
        number=number,
        epoch=0,
        batch=number - 1,
        parents=(),
        offsets=Offsets(),
        rules=(),
        now=MOMENT,
        seed=1,
        previous=before.number if before else None,
        previous_hash=before.hash if before else None,
        outputs={
            "orders": Output(rows=2, bytes=10, hash=f"{number:064x}", version=number, files=files)
        },
        ledger=Ledger(rows_in=2, out=2),
        completed=MOMENT,
    )
    return replace(knot, **fields).sealed()


def make_line(*knots: Knot, head: int | None = None) -> Line:
    """A stream with these knots, which stands at the last one."""
    by_number = {knot.number: knot for knot in knots}
    head = head or (knots[-1].number if knots else None)
    return Line("orders", by_number, head, max(by_number, default=0), live_numbers(by_number, head))


def check(line: Line) -> list[str]:
    report = Verification()
    check_chain(line, report)
    return [finding.code for finding in report.findings]


def history() -> list[Knot]:
    first = make_knot(1)
    second = make_knot(2, first)
    return [first, second, make_knot(3, second)]


def test_a_chain_as_it_was_tied_is_clean() -> None:
    assert check(make_line(*history())) == []
    assert check(make_line()) == []


def test_a_knot_with_other_content_than_was_sealed_is_found() -> None:
    first, second, third = history()
    altered = Knot.from_dict({**second.to_dict(), "duration_ms": 7})
    assert check(make_line(first, altered, third)) == ["knot.altered"]


def test_a_knot_that_was_sealed_anew_breaks_the_chain() -> None:
    first, _, third = history()
    forged = make_knot(2, first, ledger=Ledger(rows_in=3, out=2, dead=1))
    assert check(make_line(first, forged, third)) == ["knot.broken-chain"]


def test_a_knot_that_is_gone_is_found() -> None:
    first, _, third = history()
    assert "knot.missing" in check(make_line(first, third))
    assert "knot.missing" in check(make_line(first, head=2))


def test_a_line_whose_oldest_knots_are_forgotten_begins_with_the_one_that_was_written_down() -> (
    None
):
    _, second, third = history()
    line = make_line(second, third)
    assert check(line) == ["knot.missing"]
    assert check(replace(line, floor=2, before=second.previous_hash)) == []
    assert check(replace(line, floor=2, before="0" * 64)) == ["knot.broken-chain"]
    report = Verification()
    check_consumed(replace(line, floor=2, before=second.previous_hash), report)
    assert report.is_clean


@pytest.mark.parametrize("status", [Status.ROLLED_BACK, Status.IN_PROGRESS, Status.FAILED])
def test_a_live_knot_is_complete(status: Status) -> None:
    first, second, third = history()
    assert check(make_line(first, replace(second, status=status), third)) == ["knot.status"]


def test_a_knot_beside_the_live_line_is_not_complete() -> None:
    first, second, third = history()
    after = make_knot(4, first)
    rolled_back = [replace(knot, status=Status.ROLLED_BACK) for knot in (second, third)]
    assert check(make_line(first, *rolled_back, after)) == []
    assert check(make_line(first, second, rolled_back[1], after)) == ["knot.status"]


def test_a_ledger_balances_with_itself_and_with_what_was_written() -> None:
    for ledger in (Ledger(rows_in=3, out=2), Ledger(rows_in=3, out=3)):
        assert "knot.unbalanced" in check(make_line(make_knot(1, ledger=ledger)))


def test_what_a_knot_consumed_is_what_its_inputs_wrote() -> None:
    def line(input_hash: str) -> Line:
        step = StepRecord("clean", "v", {}, input_hash, None, 4, 2, MOMENT, MOMENT, "host")
        return make_line(make_knot(1, parents=(Parent("raw", 1, 2),), steps=(step,)))

    written = {"raw": {1: 5, 2: 2**256 - 1}}
    report = Verification()
    check_inputs(line(f"{4:064x}"), written, {}, report)
    assert report.is_clean
    # What it consumed of knots that are forgotten is not asked about; of others it is.
    check_inputs(line(f"{5:064x}"), written, {"raw": 2}, report)
    assert report.is_clean
    check_inputs(line(f"{5:064x}"), written, {"raw": 1}, report)
    assert [finding.code for finding in report.findings] == ["knot.input-hash"]


def test_a_knot_begins_where_the_one_before_it_ended() -> None:
    def line(start: int) -> Line:
        first = make_knot(1, offsets=Offsets((None,), ({"knot": 3},)))
        second = make_knot(2, first, offsets=Offsets(({"knot": start},), ({"knot": 9},)))
        return make_line(first, second)

    def found(start: int) -> list[str]:
        report = Verification()
        check_consumed(line(start), report)
        return [finding.code for finding in report.findings]

    assert found(3) == []
    assert found(2) == found(4) == ["knot.gap"]


def test_only_what_a_second_look_finds_too_is_told() -> None:
    first, second = Verification(), Verification()
    first.add("table.missing-knot", "table of orders", "it lacks knot 7")
    first.add("file.altered", "file a", "it is not what knot 3 wrote")
    second.add("file.altered", "file a", "it is not what knot 3 wrote")
    assert [finding.code for finding in first.confirmed_by(second).findings] == ["file.altered"]
