"""The rows of files hashed again, to be compared with what was recorded of them: in Python on every core."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from weft.lineage.fingerprint import MODULUS, hasher
from weft.lineage.hashtree import HashTree
from weft.locations.location import locate

SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
POOLED_BYTES = 4 << 20
"""With less to read than this, processes take longer to start than the work."""


@dataclass(frozen=True)
class FileHash:
    """What was found in a file: its rows, the sum of their hashes and the root over them, or why it cannot be read."""

    path: str
    rows: int = 0
    total: int = 0
    flaw: str | None = None
    root: str | None = None
    """None where rows are not hashed in their order."""


class Rehash(Protocol):
    """Anything that hashes the rows of files."""

    def __call__(self, paths: Sequence[str]) -> Iterator[FileHash]:
        """What is in each of these files, in any order."""
        ...


def plain(paths: Sequence[str]) -> Iterator[FileHash]:
    """Hash files row by row in Python: a second implementation of what the kernel does, which proves the more."""
    workers = min(len(paths), os.cpu_count() or 1)
    sizes = {path: locate(path).size() for path in paths}
    if workers < 2 or sum(sizes.values()) < POOLED_BYTES:
        yield from map(hash_file, paths)
        return
    # Largest first, so that no process is left with a large one at the end.
    ordered = sorted(paths, key=lambda path: -sizes[path])
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(hash_file, ordered, chunksize=1)


def hash_file(path: str) -> FileHash:
    """Hash the rows of one Parquet file of a stream."""
    total = rows = 0
    tree = HashTree()
    try:
        with locate(path).open() as file, pq.ParquetFile(file) as parquet:
            hashed = hasher(spark_schema(parquet))
            for record in records_of(parquet):
                found = hashed(record)
                total += int.from_bytes(found, "big")
                tree.add(found)
                rows += 1
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        return FileHash(path, flaw=f"{type(error).__name__}: {error}")
    return FileHash(path, rows, total % MODULUS, root=tree.root())


def spark_schema(parquet: pq.ParquetFile) -> dict[str, Any]:
    """The schema of a stream's file, as Spark writes it in JSON."""
    schema: dict[str, Any] = orjson.loads(parquet.schema_arrow.metadata[SPARK_SCHEMA])
    return schema


def records_of(parquet: pq.ParquetFile) -> Iterator[dict[str, Any]]:
    """The rows of a stream's file in their order, as they are hashed."""
    for batch in parquet.iter_batches():
        assert isinstance(batch, pa.RecordBatch)
        yield from _counted(batch).to_pylist(maps_as_pydicts="strict")


def _counted(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Times as numbers: Python's own end at the year 9999, and Spark's do not."""
    for position, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type):
            numbers = (
                batch.column(position).cast(pa.timestamp("us", field.type.tz)).cast(pa.int64())
            )
            batch = batch.set_column(position, pa.field(field.name, pa.int64()), numbers)
        elif pa.types.is_date32(field.type):
            numbers = batch.column(position).cast(pa.int32())
            batch = batch.set_column(position, pa.field(field.name, pa.int32()), numbers)
    return batch
