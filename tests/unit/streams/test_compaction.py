"""Which knots are put together: neighbours, by size, and none across what was cut or filled."""

from __future__ import annotations

from typing import cast

from weft.lineage.facts import DataFile
from weft.streams.compacted import CompactedFile
from weft.streams.compaction import plan
from weft.streams.note import Note, TableKnot
from weft.streams.table import Table


class Listed:
    """A table in memory, as a plan asks about it."""

    def __init__(self, *shared: tuple[int, int, int], knots: list[int], **more: list[int]) -> None:
        self._shared = [CompactedFile(u, a, f"s{a}-{u}", 1, size, "") for a, u, size in shared]
        self._knots = knots
        self._fills = more.get("fills", [])
        self._cuts = more.get("cut", [])

    def cuts(self) -> list[tuple[int, int]]:
        return [(self._cuts[0], self._cuts[1])] if self._cuts else []

    def compacted(self, *, cut: bool) -> list[CompactedFile]:
        return [] if cut else self._shared

    def expired(self) -> int:
        return 0

    def knots(self, after: int, to: int) -> list[TableKnot]:
        return [self._knot(number) for number in self._knots if after < number <= to]

    def _knot(self, number: int) -> TableKnot:
        fill = "rule" if number in self._fills else None
        note = Note(number, "", "s", "s", "h", "g", "l", 1, "", fill=fill)
        return TableKnot(number, note, (DataFile(f"k{number}", 1, 10, ""),))


def spans(table: Listed, upto: int, *, target: int = 1000) -> list[tuple[int, int]]:
    runs = plan(cast("Table", table), upto, target=target, small=0)
    return [(run[0].after, run[-1].upto) for run in runs]


def test_all_that_is_old_enough_comes_together() -> None:
    assert spans(Listed(knots=[1, 2, 3, 4, 5]), 4) == [(0, 4)]
    assert spans(Listed(knots=[1]), 4) == []
    assert spans(Listed(knots=[]), 4) == []


def test_numbers_that_a_stream_has_no_rows_of_leave_no_gap() -> None:
    assert spans(Listed(knots=[2, 5, 9]), 9) == [(1, 9)]
    assert spans(Listed((1, 9, 20), knots=[12, 15]), 15) == [(1, 15)]


def test_a_large_file_waits_until_what_is_newer_is_as_large() -> None:
    assert spans(Listed((0, 4, 40), knots=[5, 6]), 6) == [(4, 6)]
    assert spans(Listed((0, 4, 40), (4, 6, 20), knots=[7, 8]), 8) == [(0, 8)]
    assert spans(Listed((0, 4, 40), (4, 6, 20), knots=[]), 8) == []


def test_no_file_becomes_larger_than_it_should() -> None:
    assert spans(Listed(knots=list(range(1, 11))), 10, target=50) == [(0, 5), (5, 10)]


def test_what_was_cut_or_filled_in_between_keeps_knots_apart() -> None:
    assert spans(Listed(knots=[1, 2, 5, 6], cut=[2, 4]), 6) == [(0, 2), (4, 6)]
    assert spans(Listed(knots=[1, 2, 3, 4, 5], fills=[3]), 5) == [(0, 2), (3, 5)]
    # A knot with files of its own may lie between two that share.
    assert spans(Listed((0, 2, 10), (3, 5, 10), knots=[]), 5) == []
