"""The newest row of each key of a changing stream, from its rows in any order. Used by whatever shows what is, not what
happened: documents by their key, `stream rows --current`, the test kit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from weft.schema.change import CHANGE, EMPTIED, GONE
from weft.schema.weft import WEFT

Row = Mapping[str, Any]


def current(rows: Iterable[Row], key: Sequence[str]) -> Iterator[Row]:
    """The rows that are there after these changes, each the newest of its key, in the order of first sight.

    Changes are ordered by their positions in the database's log; where one has none, as they were written: by knot,
    then by place in their source. A table that was truncated, or read anew from its first row to its last, has lost all
    that was there before.
    """
    newest: dict[tuple[Any, ...], Row] = {}
    sweep: Row | None = None
    for row in rows:
        if _is_sweep(row) and (sweep is None or _sweeps(row, sweep)):
            sweep = row
        if row[CHANGE]["op"] == EMPTIED:
            continue
        name = tuple(_hashable(row[column]) for column in key)
        known = newest.get(name)
        if known is None or not is_before(row, known):
            newest[name] = row
    for row in newest.values():
        if row[CHANGE]["op"] != GONE and (sweep is None or not _sweeps(sweep, row)):
            yield row


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


def is_before(one: Row, other: Row) -> bool:
    ours, theirs = one[CHANGE]["position"], other[CHANGE]["position"]
    if ours is not None and theirs is not None and ours != theirs:
        return bool(ours.encode() < theirs.encode())
    return _arrival(one) < _arrival(other)


def _arrival(row: Row) -> tuple[int, int]:
    last = str(row[WEFT]["id"]).rpartition("/")[2]
    return row[WEFT]["knot"], int(last) if last.isdecimal() else 0


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
