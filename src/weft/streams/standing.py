"""The rows that stand in a stream of which each row replaces the one before it with its key: for a sink that has none
of them yet. They go by as Arrow batches; only their keys are held at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weft.schema.change import CHANGE, GONE
from weft.sinks.rows import RowFile, Rows, to_records
from weft.streams.current import key_of


class StandingRows:
    """Of rows in the order in which they were written, the last of each key that is not gone."""

    files: Sequence[RowFile] | None = None
    before: Rows | None = None

    def __init__(self, rows: Rows, key: Sequence[str]) -> None:
        self._rows = rows
        self._key = list(key)

    @cached_property
    def _places(self) -> frozenset[int]:
        """Which of the rows stand, counted from 0."""
        last: dict[tuple[Any, ...], int] = {}
        place = 0
        for batch in self._rows.batches():
            ops = pc.struct_field(batch.column(CHANGE), "op").to_pylist()
            for op, row in zip(ops, to_records(batch.select(self._key)), strict=True):
                if op == GONE:
                    last.pop(key_of(row, self._key), None)
                else:
                    last[key_of(row, self._key)] = place
                place += 1
        return frozenset(last.values())

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self._places)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow batches of the stream's columns and `_weft`."""
        before = 0
        for batch in self._rows.batches():
            places = range(before, before + batch.num_rows)
            yield batch.filter(pa.array([place in self._places for place in places], pa.bool_()))
            before = places.stop

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows one by one as dictionaries of Python values."""
        for batch in self.batches():
            yield from to_records(batch)
