"""The rows of files hashed again, to be compared with what was recorded of them: in Python on every core."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
from weft.locations.parquet import open_parquet
from weft.schema.weft import WEFT
from weft.streams.compacted import is_shared

SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
WIDTH = 32
"""The bytes of a hash."""
POOLED_BYTES = 4 << 20
"""With less to read than this, processes take longer to start than the work."""


@dataclass(frozen=True)
class FileHash:
    """What was found in a file: its rows, the sum of their hashes and what is over these, or why it cannot be read."""

    path: str
    rows: int = 0
    total: int = 0
    flaw: str | None = None
    knot: int | None = None
    """Of a file that knots share: whose rows these are."""
    root: str | None = None
    """The root over the rows of a file of a knot's own; None where rows are not hashed in their order."""
    leaves: bytes | None = None
    """The hashes of the rows of a knot that shares the file, one behind the other, likewise."""

    def roots(self, counts: Sequence[int]) -> list[str | None]:
        """The roots over so many rows each, one after the other; none where rows are not hashed in their order."""
        if self.leaves is None:
            return [self.root] * len(counts)
        found, place = [], 0
        for count in counts:
            tree = HashTree()
            for at in range(place, place + count):
                tree.add(self.leaves[at * WIDTH : (at + 1) * WIDTH])
            place += count
            found.append(tree.root())
        return found


class Rehash(Protocol):
    """Anything that hashes the rows of files."""

    def __call__(self, paths: Sequence[str]) -> Iterator[FileHash]:
        """What is in each of these files, in any order; of one that knots share, by knot."""
        ...


def plain(paths: Sequence[str]) -> Iterator[FileHash]:
    """Hash files row by row in Python: a second implementation of what the kernel does, which proves the more."""
    workers = min(len(paths), os.cpu_count() or 1)
    sizes = {path: locate(path).size() for path in paths}
    if workers < 2 or sum(sizes.values()) < POOLED_BYTES:
        yield from (found for path in paths for found in hash_file(path))
        return
    # Largest first, so that no process is left with a large one at the end.
    ordered = sorted(paths, key=lambda path: -sizes[path])
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for found in pool.map(hash_file, ordered, chunksize=1):
            yield from found


def hash_file(path: str) -> list[FileHash]:
    """Hash the rows of one Parquet file of a stream; of one that knots share, those of each."""
    try:
        with open_parquet(path) as parquet:
            hashed = hasher(spark_schema(parquet))
            rows = ((record, hashed(record)) for record in records_of(parquet))
            return _by_knot(path, rows) if is_shared(path) else [_whole(path, rows)]
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        return [FileHash(path, flaw=f"{type(error).__name__}: {error}")]


def _whole(path: str, rows: Iterator[tuple[Mapping[str, Any], bytes]]) -> FileHash:
    total = count = 0
    tree = HashTree()
    for _, found in rows:
        total += int.from_bytes(found, "big")
        tree.add(found)
        count += 1
    return FileHash(path, count, total % MODULUS, root=tree.root())


def _by_knot(path: str, rows: Iterator[tuple[Mapping[str, Any], bytes]]) -> list[FileHash]:
    hashes: dict[int, bytearray] = {}
    totals: Counter[int] = Counter()
    for record, found in rows:
        knot = record[WEFT]["knot"]
        hashes.setdefault(knot, bytearray()).extend(found)
        totals[knot] += int.from_bytes(found, "big")
    return [
        FileHash(path, len(held) // WIDTH, totals[knot] % MODULUS, knot=knot, leaves=bytes(held))
        for knot, held in hashes.items()
    ]


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
