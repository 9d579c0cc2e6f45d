"""The newest row of each key of a changing stream, from its rows in any order. Used by whatever shows what is, not what
happened: documents by their key and what they were made of, `stream rows --current`, the test kit."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cmp_to_key
from typing import Any

from weft.schema.change import CHANGE, EMPTIED, GONE
from weft.schema.weft import WEFT

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Newest:
    """A row as it is, and the changes that brought those of its columns that the newest change left as they were."""

    row: Row
    brought: Mapping[str, Row] = field(default_factory=dict)


def current(rows: Iterable[Row], key: Sequence[str]) -> Iterator[Row]:
    """The rows that are there after these changes, each the newest of its key, in the order of first sight."""
    return (newest.row for newest in newest_of(rows, key))


def key_of(row: Row, key: Sequence[str]) -> tuple[Any, ...]:
    """The values of a row by which it is the same as others: as Spark has it, NaN is equal to NaN."""
    return comparable(row[column] for column in key)


def comparable(values: Iterable[Any]) -> tuple[Any, ...]:
    """Values that are equal where Spark would have them be, also across types: a day is its first moment in UTC."""
    return tuple(map(_hashable, values))


def newest_of(rows: Iterable[Row], key: Sequence[str]) -> Iterator[Newest]:
    """The rows that are there after these changes, with what they are made of.

    Changes are ordered by their positions in the database's log; where one has none, as they were written: by knot,
    then by place in their source. A table that was truncated, or read anew from its first row to its last, has lost all
    that was there before.
    """
    found: dict[tuple[Any, ...], _Changes] = {}
    sweep: Row | None = None
    for row in rows:
        if _is_sweep(row) and (sweep is None or _sweeps(row, sweep)):
            sweep = row
        if row[CHANGE]["op"] == EMPTIED:
            continue
        found.setdefault(key_of(row, key), _Changes()).add(row)
    for changes in found.values():
        newest = changes.newest()
        row = newest.row
        if row[CHANGE]["op"] != GONE and (sweep is None or not _sweeps(sweep, row)):
            yield newest


class _Changes:
    """The changes of one key that count: the newest whole one, and those after it that leave columns as they were."""

    def __init__(self) -> None:
        self._kept: list[Row] = []

    def add(self, row: Row) -> None:
        if not self._kept or (_is_whole(row) and not _is_before(row, self._kept[-1])):
            self._kept = [row]
            return
        if _is_whole(self._kept[0]) and _is_before(row, self._kept[0]):
            return
        insort(self._kept, row, key=_ORDER)
        whole = [at for at, one in enumerate(self._kept) if _is_whole(one)]
        del self._kept[: whole[-1] if whole else 0]

    def newest(self) -> Newest:
        *older, last = self._kept
        if _is_whole(last):
            return Newest(last)
        row, brought = dict(last), {}
        for column in last[CHANGE]["kept"]:
            bringing = [one for one in older if column not in (one[CHANGE].get("kept") or ())]
            if bringing and bringing[-1][CHANGE]["op"] != GONE:
                brought[column] = bringing[-1]
                row[column] = bringing[-1][column]
        return Newest(row, brought)


def _is_whole(row: Row) -> bool:
    return not row[CHANGE].get("kept")


def _is_sweep(row: Row) -> bool:
    change = row[CHANGE]
    ends_snapshot = change["position"] is not None and (change["snapshot"] or "").startswith("last")
    return ends_snapshot or change["op"] == EMPTIED


def _sweeps(mark: Row, row: Row) -> bool:
    """Whether a row was there before a sweep; rows at the same position are of the same snapshot."""
    ours, theirs = mark[CHANGE]["position"], row[CHANGE]["position"]
    if ours is not None and theirs is not None:
        return bool(theirs.encode() < ours.encode())
    return _arrival(row) < _arrival(mark)


def _is_before(one: Row, other: Row) -> bool:
    ours, theirs = one[CHANGE]["position"], other[CHANGE]["position"]
    if ours is not None and theirs is not None and ours != theirs:
        return bool(ours.encode() < theirs.encode())
    return _arrival(one) < _arrival(other)


def _arrival(row: Row) -> tuple[int, int]:
    last = str(row[WEFT]["id"]).rpartition("/")[2]
    return row[WEFT]["knot"], int(last) if last.isdecimal() else 0


def _compare(one: Row, other: Row) -> int:
    return -1 if _is_before(one, other) else int(_is_before(other, one))


_ORDER = cmp_to_key(_compare)
_NAN = (math.nan,)
"""What stands for every NaN: a tuple is equal to itself whatever is in it, and no value of a column is one."""


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return tuple((name, _hashable(one)) for name, one in value.items())
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return _NAN if isinstance(value, float) and math.isnan(value) else value
