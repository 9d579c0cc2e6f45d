"""Spark's side of the file source: JSON lines, CSV, Parquet. A batch ends anywhere within a file,
so that it admits no more than it may."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructField, StructType

from weft.project.definition import StreamSpec
from weft.sources import lines, parquet, raw
from weft.sources.admission import LOG
from weft.sources.arrays import binaries, number, numbers, text
from weft.sources.content import look
from weft.sources.files import FilesSource
from weft.sources.follow import Follower
from weft.sources.lines import Block, Text
from weft.sources.options import Again, Opening
from weft.sources.pack import FileRange, Pack
from weft.sources.spark.again import read_again

BLANK = binaries([b"", b" ", b"\t", b"\n", b"\r", b"\v", b"\f"])
"""What a blank record begins with."""
RETURN = binaries([b"\r"])


def open_files(
    spark: SparkSession, source: FilesSource, stream: StreamSpec, opening: Opening
) -> DataFrame:
    """The records of a directory or pattern of files in raw form."""
    spark.dataSource.register(FileData)
    reader = spark.readStream.format(FileData.name())
    return reader.options(**_options(source, stream, opening)).load()


def files_again(
    spark: SparkSession, source: FilesSource, stream: StreamSpec, asked: Again
) -> DataFrame:
    """Records of files that were read before, as far as those still hold them."""
    options = _options(source, stream, asked)
    return read_again(spark, FileData(options), asked)


def _options(source: FilesSource, stream: StreamSpec, opening: Opening) -> dict[str, str]:
    spec = {
        "path": os.path.join(os.path.abspath(source.path), source.pattern),
        "format": source.format,
        "header": source.header,
        "separator": source.separator,
        "settle_ms": source.settle_ms,
        "schema": stream.schema.to_json(),
        "log": (opening.checkpoint / LOG).address,
        "parallelism": opening.processing.parallelism,
    }
    return {"spec": json.dumps(spec), "maxRows": str(opening.processing.queue_size)}


class FileData(DataSource):
    """Spark's view of the file source. Options: `spec`, what `open_files` wrote, and `maxRows` of a
    batch."""

    @classmethod
    def name(cls) -> str:
        return "weft-files"

    def schema(self) -> StructType:
        spec = json.loads(self.options["spec"])
        last = raw.HEADER
        if spec["format"] == "parquet":
            last = StructField("columns", StructType.fromJson(spec["schema"]))
        return StructType([*raw.FIELDS, raw.BAD, last])

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return FileReader(json.loads(self.options["spec"]), int(self.options["maxRows"]))


class FileReader(DataSourceStreamReader):
    """Hands out what the follower finds, and reads it in Spark's Python workers."""

    def __init__(self, spec: Mapping[str, Any], max_rows: int) -> None:
        self._spec = spec
        self._max_rows = max_rows

    def __reduce__(self) -> tuple[Any, ...]:
        return FileReader, (
            self._spec,
            self._max_rows,
        )  # what was followed is of no use to the workers

    @cached_property
    def _follower(self) -> Follower:
        return Follower(self._spec)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return {"file": 0, "line": 0, "byte": 0}

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
        if path is None or self._is_short(part, path):
            yield self._one_bad(part)
        elif self._spec["format"] == "parquet":
            yield from self._read_rows(part, path)
        else:
            yield from self._read_lines(part, path)

    @staticmethod
    def _is_short(part: FileRange, path: str) -> bool:
        """Whether a text that may grow has less in it than it had."""
        found = look(path)
        return not part.file.whole and part.end is not None and (not found or found.size < part.end)

    def _one_bad(self, part: FileRange) -> pa.RecordBatch:
        """What is said in the place of records that are not there any more."""
        gone = "the file was replaced before its records from here on were read; they are gone"
        positions = _positions(part, numbers([part.first.line + 1]))
        last, column = "header", pa.nulls(1, pa.string())
        if self._spec["format"] == "parquet":
            last, column = "columns", pa.nulls(1, self._declared())
        return _batch(binaries([b""]), positions, part.reason or gone, last, column)

    def _read_lines(self, part: FileRange, path: str) -> Iterator[pa.RecordBatch]:
        whole = Text(path, part.end, _separator(self._spec))
        for block in lines.blocks(whole, part.first):
            values, places = _kept(block)
            positions = _positions(part, places)
            header = pa.repeat(text(part.header), len(values))
            yield _batch(values, positions, block.damage or part.reason, "header", header)

    def _read_rows(self, part: FileRange, path: str) -> Iterator[pa.RecordBatch]:
        declared = self._declared()
        for first, values, columns, reason in parquet.rows(
            path, part.first.line, part.end, declared
        ):
            positions = _positions(part, numbers(range(first + 1, first + 1 + len(columns))))
            yield _batch(pa.array(values, pa.binary()), positions, reason, "columns", columns)

    def _declared(self) -> pa.StructType:
        return to_arrow_type(StructType.fromJson(self._spec["schema"]), timezone="UTC")


def _separator(spec: Mapping[str, Any]) -> bytes | None:
    return str(spec["separator"]).encode() if spec["format"] == "csv" else None


def _kept(block: Block) -> tuple[pa.Array, pa.Array]:
    """The records of a block that are not blank, without what their line ends leave, and the line of each."""
    values = binaries(block.records)
    begins, ends = pc.binary_slice(values, 0, 1), pc.binary_slice(values, -1)
    odd = pc.or_(pc.is_in(begins, BLANK), pc.is_in(ends, RETURN))
    if block.damage is None and not pc.any(odd).as_py():  # as most are: nothing is done for each
        return values, numbers(block.numbers)
    kept = [
        (number, record.removesuffix(b"\r"))
        for number, record in zip(block.numbers, block.records, strict=True)
        if record.strip() or block.damage
    ]
    return binaries([record for _, record in kept]), numbers(number for number, _ in kept)


def _positions(part: FileRange, places: pa.Array) -> pa.Array:
    """Where records stand: the name of their file and their lines."""
    named = (text(f"{part.name}#"), places.cast(pa.string()), text(part.suffix))
    return pc.binary_join_element_wise(*named, text(""))


def _batch(
    values: pa.Array, positions: pa.Array, reason: str | None, last: str, column: pa.Array
) -> pa.RecordBatch:
    count = len(positions)
    columns = {
        "value": values,
        "partition": pa.repeat(number(0, pa.int32()), count),
        "position": positions,
        "timestamp": pa.nulls(count, raw.ARROW.field("timestamp").type),
        "bad": pa.repeat(text(reason), count),
        last: column,
    }
    return pa.RecordBatch.from_pydict(columns)
