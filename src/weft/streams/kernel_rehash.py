"""The rows of files hashed again by the kernel, a million a second: the fast way of `weft verify --deep`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from weft import kernel
from weft.locations.location import is_local, locate
from weft.schema.schema import quoted
from weft.schema.weft import WEFT
from weft.streams.compacted import KNOT, is_shared
from weft.streams.rehash import SPARK_SCHEMA, FileHash

MOST_FILES = 2_000
"""So many files go into one job."""


class KernelRehash:
    """Hashes files on a Spark session, those of one schema together."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def __call__(self, paths: Sequence[str]) -> Iterator[FileHash]:
        by_schema: dict[tuple[bytes, bool], list[str]] = {}
        for path in paths:
            try:
                with locate(path).open() as file:
                    schema = pq.read_schema(file).metadata[SPARK_SCHEMA]
            except (OSError, KeyError, TypeError, pa.ArrowException) as error:
                yield FileHash(path, flaw=f"{type(error).__name__}: {error}")
                continue
            by_schema.setdefault((schema, is_shared(path)), []).append(path)
        for (schema, shared), alike in by_schema.items():
            columns = StructType.fromJson(orjson.loads(schema))
            for start in range(0, len(alike), MOST_FILES):
                yield from self._hash(columns, alike[start:][:MOST_FILES], shared)

    def _hash(self, schema: StructType, paths: list[str], shared: bool) -> Iterator[FileHash]:
        frame = self._spark.read.schema(schema).parquet(*paths)
        columns = [f.col(quoted(name)) for name in schema.names if name != WEFT]
        # Of what Weft adds to a row only its id is hashed, and so only that is read.
        system = [f.struct("_weft.id").alias(WEFT)] if WEFT in schema.names else []
        # The number of a knot ends where the path begins.
        knot = [f.col(KNOT).cast("string")] if shared else [f.lit("")]
        name = f.concat_ws(":", *knot, f.col("_metadata.file_path"))
        found: dict[str, dict[int | None, dict[str, Any]]] = {path: {} for path in paths}
        for named, sums in fingerprints(frame.select(*columns, *system, name)).items():
            number, _, file = named.partition(":")
            found[_address(unquote(file))][int(number) if number else None] = sums
        for path, by_knot in found.items():
            if not by_knot:
                yield FileHash(path)
            for number_of, sums in by_knot.items():
                yield FileHash(path, sums["rows"], int(sums["hash"], 16), knot=number_of)


def _address(name: str) -> str:
    """The address of a file that Spark names, which has slashes to spare on a disk."""
    if name.startswith("file:") or is_local(name):
        return Path(name.removeprefix("file:")).as_posix().replace("//", "/")
    return name


def fingerprint(rows: DataFrame) -> dict[str, Any]:
    """How many rows there are and the sum of their record hashes, in any order and partitioning."""
    result: dict[str, Any] = orjson.loads(
        kernel.call(rows.sparkSession, "hash.Fingerprints.of", rows)
    )
    return result


def fingerprints(rows: DataFrame) -> dict[str, dict[str, Any]]:
    """The rows and the sum of record hashes of each file; the last column of `rows` is the file's name."""
    found: dict[str, dict[str, Any]] = orjson.loads(
        kernel.call(rows.sparkSession, "hash.Fingerprints.ofFiles", rows)
    )
    return found
