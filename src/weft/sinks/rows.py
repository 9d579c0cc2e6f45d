"""The rows of a knot as sinks get them: Arrow batches or dictionaries, read when asked for.

Rows hold the stream's columns in their order, and `_weft` last.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from weft.locations.parquet import open_parquet
from weft.schema.weft import WEFT

BATCH_ROWS = 8_192


@dataclass(frozen=True)
class RowFile:
    """A Parquet file of a stream: its path or its address in an object store, and its place among those of its knot."""

    path: str
    rows: int
    bytes: int
    knot: int
    place: int


class Rows(Protocol):
    """Rows that can be gone through more than once."""

    @property
    def count(self) -> int:
        """How many rows there are."""

    @property
    def files(self) -> Sequence[RowFile] | None:
        """The files that hold them and nothing else, in their order; None where there are no such files."""

    @property
    def before(self) -> Rows | None:
        """Of rows of a changing stream that are taken back: what their keys had before them, deletions included."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow batches of the stream's columns and `_weft`."""

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows one by one as dictionaries of Python values, maps as dictionaries."""


@dataclass(frozen=True)
class FilePart:
    """A file whose rows are wanted: all of them, or those of the knots in (after, upto]."""

    path: str
    after: int | None = None
    upto: int | None = None

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a batch that are wanted."""
        if self.after is None:
            return batch
        knots = pc.struct_field(batch.column(WEFT), "knot")
        wanted = pc.and_(pc.greater(knots, self.after), pc.less_equal(knots, self.upto))
        return batch.filter(wanted)


class ParquetRows:
    """The rows in Parquet files, in their order."""

    def __init__(
        self, files: Iterable[RowFile], columns: Sequence[str], before: Rows | None = None
    ) -> None:
        self.files = tuple(files)
        self._columns = [*columns, WEFT]
        self.before = before

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(file.rows for file in self.files)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow batches of the stream's columns and `_weft`."""
        for one in self.files:
            with open_parquet(one.path) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=self._columns):
                    yield _whole(batch, self._columns)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows one by one as dictionaries of Python values."""
        for batch in self.batches():
            yield from to_records(batch)


class SharedRows:
    """The rows of knots that share files with others, in their order."""

    files: Sequence[RowFile] | None = None

    def __init__(
        self, parts: Iterable[FilePart], columns: Sequence[str], before: Rows | None = None
    ) -> None:
        self._parts = tuple(parts)
        self._columns = [*columns, WEFT]
        self.before = before

    @cached_property
    def count(self) -> int:
        """How many rows there are: from the footers of files whose rows are all wanted."""
        total = 0
        for part in self._parts:
            with open_parquet(part.path) as file:
                if part.after is None:
                    total += file.metadata.num_rows
                else:
                    system = file.iter_batches(BATCH_ROWS, columns=[f"{WEFT}.knot"])
                    total += sum(part.of(batch).num_rows for batch in system)
        return total

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow batches of the stream's columns and `_weft`."""
        for part in self._parts:
            with open_parquet(part.path) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=self._columns):
                    yield _whole(part.of(batch), self._columns)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows one by one as dictionaries of Python values."""
        for batch in self.batches():
            yield from to_records(batch)


def _whole(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """All columns of the stream: one that a rule has dropped is null."""
    for name in columns:
        if name not in batch.schema.names:
            batch = batch.append_column(name, pa.nulls(batch.num_rows))
    return batch.select(columns)


class TableRows:
    """Rows in memory."""

    files: Sequence[RowFile] | None = None
    before: Rows | None = None

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self._table.num_rows)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow batches."""
        yield from self._table.to_batches(BATCH_ROWS)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows one by one as dictionaries of Python values."""
        for batch in self.batches():
            yield from to_records(batch)


def to_records(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a batch as dictionaries of Python values.

    A time outside Python's years 1 to 9999, which expressions can make, is its text; bytes that are no text
    are replaced in one; of a key that a map has twice the last counts.
    """
    try:
        return list(batch.to_pylist(maps_as_pydicts="strict"))
    except (OverflowError, UnicodeDecodeError, KeyError):
        names = batch.schema.names
        columns = [[_plain(value) for value in column] for column in batch.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(value: pa.Scalar) -> Any:
    """A value as Python has it, also where only its text can be had."""
    if not value.is_valid:
        return None
    kind = value.type
    if pa.types.is_struct(kind):
        return {field.name: _plain(value[field.name]) for field in kind}
    if pa.types.is_map(kind):
        return {_plain(pair["key"]): _plain(pair["value"]) for pair in value.values}
    if pa.types.is_list(kind):
        return [_plain(one) for one in value.values]
    try:
        return value.as_py()
    except OverflowError:
        return str(value.cast(pa.string()))
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes().decode(errors="replace")


def first(rows: Rows, limit: int) -> list[dict[str, Any]]:
    """The first rows, without reading the others."""
    return list(itertools.islice(rows.records(), limit))
