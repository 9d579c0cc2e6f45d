"""What is committed to a table once, however many try."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import LongType, StructField, StructType

from weft.streams.note import Note, TableKnot
from weft.streams.table import TableConflictError
from weft.streams.tables import Tables

COLUMNS = StructType([StructField("id", LongType())])


class Table:
    """A table that keeps its knots in memory."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    def exists(self) -> bool:
        return True

    def schema(self) -> Any:
        return COLUMNS.jsonValue()

    def find(self, knot: int) -> TableKnot | None:
        return next((TableKnot(0, note) for note in self.notes if note.knot == knot), None)

    def head(self) -> TableKnot | None:
        return TableKnot(0, self.notes[-1]) if self.notes else None

    def version(self) -> int:
        return len(self.notes)

    def commit(self, expected: int, note: Note, *_: Any, **__: Any) -> int:
        assert expected == len(self.notes)
        self.notes.append(note)
        return len(self.notes)


def filled(first: int, knot: int) -> Note:
    return Note(
        knot,
        f"fill-{first}-{knot}",
        "side",
        "orders",
        "h",
        "g",
        "l",
        1,
        "00",
        fill="r",
        first=first,
    )


def test_knots_that_an_earlier_try_has_filled_in_are_not_filled_in_again() -> None:
    table, tables = Table(), Tables(None, None)  # type: ignore[arg-type]
    tables._open["side"] = table  # type: ignore[assignment]
    tables.commit("side", COLUMNS, filled(1, 10), ())
    with pytest.raises(TableConflictError) as refused:
        tables.commit("side", COLUMNS, filled(1, 12), ())  # it began before the other was done
    assert refused.value.retryable
    tables.commit("side", COLUMNS, filled(11, 12), ())
    assert [note.knot for note in table.notes] == [10, 12]
