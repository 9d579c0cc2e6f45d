"""Spark's side of the file source. A batch ends anywhere within a file, so that it admits no more than it may. Text is
read by the kernel, which asks the follower in the worker how far; Parquet in Spark's Python processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructField, StructType

from weft import kernel
from weft.errors import WeftError
from weft.locations.location import Location
from weft.project.definition import StreamSpec
from weft.sources import parquet, raw
from weft.sources.admission import LOG
from weft.sources.arrays import binaries, number, numbers, text
from weft.sources.content import HEAD, look
from weft.sources.files import FilesSource
from weft.sources.follow import Follower
from weft.sources.offset import BEGINNING
from weft.sources.options import Again, Opening
from weft.sources.pack import GONE, FileRange, Pack
from weft.sources.spark import failures
from weft.sources.spark.again import read_again

TEXT = "weft.kernel.source.FileSource"


def open_files(
    spark: SparkSession, source: FilesSource, stream: StreamSpec, opening: Opening
) -> DataFrame:
    """The records of a directory or pattern of files in raw form."""
    spec, most = _spec(source, stream, opening), opening.processing.queue_size
    if not source.gives_bytes:
        spark.dataSource.register(ParquetData)
        reader = spark.readStream.format(ParquetData.name()).option("spec", json.dumps(spec))
        return reader.option("maxRows", str(most)).load()
    name = opening.checkpoint.address
    failures.take(opening.checkpoint)
    kernel.hand_over(
        spark, "source.FileSource.open", name, KernelFollower(opening.checkpoint, spec)
    )
    return spark.readStream.format(TEXT).option("name", name).option("most", str(most)).load()


def files_again(
    spark: SparkSession, source: FilesSource, stream: StreamSpec, asked: Again
) -> DataFrame:
    """Records of files that were read before, as far as those still hold them."""
    spec = _spec(source, stream, asked)
    if not source.gives_bytes:
        return read_again(spark, ParquetData({"spec": json.dumps(spec), "maxRows": "0"}), asked)
    # What fails here is no failure of the query that reads the same files.
    start = BEGINNING if asked.start is None else asked.start
    packs = [] if asked.end is None else _packs(Follower(spec), spec, start, asked.end)
    return spark.read.format(TEXT).option("packs", json.dumps(packs)).load()


def _packs(
    follower: Follower, spec: Mapping[str, Any], start: Mapping[str, Any], end: Mapping[str, Any]
) -> list[list[dict[str, Any]]]:
    """The ranges that the tasks of a batch read, a list for each."""
    packs = follower.packs(start, end)
    return [[range_form(part, spec) for part in pack.slices] for pack in packs]


def _spec(source: FilesSource, stream: StreamSpec, opening: Opening) -> dict[str, Any]:
    return {
        "path": os.path.join(os.path.abspath(source.path), source.pattern),
        "format": source.format,
        "header": source.header,
        "separator": source.separator,
        "settle_ms": source.settle_ms,
        "schema": stream.schema.to_json(),
        "log": (opening.checkpoint / LOG).address,
        "parallelism": opening.processing.parallelism,
    }


class KernelFollower:
    """What the kernel asks for batches of text files; called by the thread of the query."""

    class Java:
        """The interface of the kernel's that this is."""

        implements = ("weft.kernel.source.FileFollower",)

    def __init__(self, folder: Location, spec: Mapping[str, Any]) -> None:
        self._folder = folder
        self._spec = spec

    @cached_property
    def _follower(self) -> Follower:
        return Follower(self._spec)

    def ahead(self, start: str, most: int) -> str:
        """The offset at most so many records ahead of another; the same if none is new."""
        with self._kept():
            return json.dumps(self._follower.ahead(json.loads(start), most))

    def packs(self, start: str, end: str) -> str:
        """The ranges that the tasks of a batch read, a list for each."""
        with self._kept():
            packs = _packs(self._follower, self._spec, json.loads(start), json.loads(end))
            return json.dumps(packs)

    @contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except WeftError as error:
            failures.keep(self._folder, error)
            raise


def range_form(part: FileRange, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A range of a text file as the kernel reads it, with what the file was when it was found."""
    form = {
        "name": part.name,
        "suffix": part.suffix,
        "line": part.first.line,
        "first": part.first.byte,
        "header": part.header,
        "reason": part.reason,
    }
    found = None if part.path is None else look(part.path)
    # A text that may grow and has less in it than it had was replaced.
    if found is None or (not part.file.whole and found.size < (part.end or 0)):
        return {**form, "reason": part.reason or GONE}
    return {
        **form,
        "path": part.path,
        "end": -1 if part.end is None else part.end,
        "least": found.size if part.file.whole else part.file.size,
        "whole": part.file.whole,
        "modified": found.mtime_ns,
        "head": part.file.head,
        "seen": min(part.file.seen, HEAD),
        "separator": spec["separator"] if spec["format"] == "csv" else None,
    }


class ParquetData(DataSource):
    """Spark's view of Parquet files. Options: `spec`, what `open_files` wrote, and `maxRows` of a batch."""

    @classmethod
    def name(cls) -> str:
        return "weft-parquet"

    def schema(self) -> StructType:
        spec = json.loads(self.options["spec"])
        columns = StructField("columns", StructType.fromJson(spec["schema"]))
        return StructType([*raw.FIELDS, raw.BAD, columns])

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return ParquetReader(json.loads(self.options["spec"]), int(self.options["maxRows"]))


class ParquetReader(DataSourceStreamReader):
    """Hands out what the follower finds, and reads it in Spark's Python workers."""

    def __init__(self, spec: Mapping[str, Any], max_rows: int) -> None:
        self._spec = spec
        self._max_rows = max_rows

    def __reduce__(self) -> tuple[Any, ...]:
        # What was followed is of no use to the workers.
        return ParquetReader, (self._spec, self._max_rows)

    @cached_property
    def _follower(self) -> Follower:
        return Follower(self._spec)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return BEGINNING

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._max_rows)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else self._max_rows
        return self._follower.ahead(start, most)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return self._follower.packs(start, end)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Pack)
        for part in partition.slices:
            yield from self._read(part)

    def _read(self, part: FileRange) -> Iterator[pa.RecordBatch]:
        path = None if part.lost else part.file.locate()
        if path is None:
            yield self._one_bad(part)
        else:
            yield from self._read_rows(part, path)

    def _one_bad(self, part: FileRange) -> pa.RecordBatch:
        """What is said in the place of records that are not there any more."""
        positions = _positions(part, numbers([part.first.line + 1]))
        columns = pa.nulls(1, self._declared())
        return _batch(binaries([b""]), positions, part.reason or GONE, columns)

    def _read_rows(self, part: FileRange, path: str) -> Iterator[pa.RecordBatch]:
        declared = self._declared()
        for first, values, columns, reason in parquet.rows(
            path, part.first.line, part.end, declared
        ):
            positions = _positions(part, numbers(range(first + 1, first + 1 + len(columns))))
            yield _batch(pa.array(values, pa.binary()), positions, reason, columns)

    def _declared(self) -> pa.StructType:
        return to_arrow_type(StructType.fromJson(self._spec["schema"]), timezone="UTC")


def _positions(part: FileRange, places: pa.Array) -> pa.Array:
    """Where records stand: the name of their file and their lines."""
    named = (text(f"{part.name}#"), places.cast(pa.string()), text(part.suffix))
    return pc.binary_join_element_wise(*named, text(""))


def _batch(
    values: pa.Array, positions: pa.Array, reason: str | None, columns: pa.Array
) -> pa.RecordBatch:
    count = len(positions)
    made = {
        "value": values,
        "partition": pa.repeat(number(0, pa.int32()), count),
        "position": positions,
        "timestamp": pa.nulls(count, raw.ARROW.field("timestamp").type),
        "bad": pa.repeat(text(reason), count),
        "columns": columns,
    }
    return pa.RecordBatch.from_pydict(made)
