"""Parquet files as numbered rows: how many there are, and a range of them in raw form with the
declared columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from weft.sources.segment import encode

ROWS = 8192


def count(path: str) -> int:
    """How many rows a file has; one that is not Parquet counts as one row, which is bad."""
    try:
        return int(pq.read_metadata(path).num_rows)
    except pa.ArrowInvalid:
        return 1


def rows(path: str, first: int, last: int | None, columns: pa.StructType) -> Iterator[Any]:
    """The rows from `first` to `last`, as (number of the first, values, columns, reason) for some
    at a time.

    Rows whose types do not fit the declared ones come as JSON in `values`, so that each gets its
    own reason.
    """
    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        yield 0, [b""], pa.nulls(1, columns), f"the file is not Parquet: {error}"
        return
    with file:
        at = 0
        end = file.metadata.num_rows if last is None else last
        for batch in file.iter_batches(ROWS):
            lead, tail = max(first - at, 0), min(end - at, batch.num_rows)
            if lead < tail:
                yield at + lead, *_fit(batch.slice(lead, tail - lead), columns), None
            at += batch.num_rows
            if at >= end:
                return


def _fit(batch: pa.RecordBatch, columns: pa.StructType) -> tuple[Any, Any]:
    try:
        arrays = [_column(batch, field) for field in columns]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return [encode(row) for row in batch.to_pylist()], pa.nulls(batch.num_rows, columns)
    return pa.nulls(batch.num_rows, pa.binary()), pa.StructArray.from_arrays(
        arrays, fields=list(columns)
    )


def _column(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    """A column as it is declared: that of its name, or else of its name in another case, or nulls."""
    names = batch.schema.names
    similar = [name for name in names if name.lower() == field.name.lower()]
    if not similar:
        return pa.nulls(batch.num_rows, field.type)
    found = field.name if field.name in names else similar[0]
    return batch.column(names.index(found)).cast(field.type)
