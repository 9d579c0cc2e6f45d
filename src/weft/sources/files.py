"""The file source: files of a directory or pattern, in the order in which they settled. JSON lines,
CSV, Parquet. A batch ends anywhere within a file, so that it admits no more than it may; an
admitted file that changes is an error."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructField, StructType

from weft.project.definition import Processing, StreamSpec
from weft.sources import lines, parquet, raw
from weft.sources.admission import AdmissionLog, Admitted, Watch
from weft.sources.lines import Place
from weft.sources.options import check_source


def open_files(
    spark: SparkSession, stream: StreamSpec, *, checkpoint: Path, processing: Processing
) -> DataFrame:
    """The records of a directory or pattern of files in raw form."""
    options = dict(stream.source.options) if stream.source else {}
    check_source(stream.name, "files", options)
    spec = {
        "path": os.path.join(os.path.abspath(options["path"]), options.get("pattern", "")),
        "format": options.get("format", "json"),
        "header": options.get("header", True),
        "settle_ms": options.get("settle_ms", 1000),
        "schema": stream.schema.to_json(),
        "log": str(checkpoint / "source" / "admitted.jsonl"),
        "parallelism": processing.parallelism,
    }
    spark.dataSource.register(FileSource)
    reader = spark.readStream.format(FileSource.name()).option("spec", json.dumps(spec))
    return reader.option("maxRows", processing.queue_size).load()


class FileSource(DataSource):
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


class Slice(InputPartition):
    """The records of one file between two places; a `last` of None is the end of the file."""

    def __init__(
        self, file: Admitted, first: Place, last: Place | None, header: str | None
    ) -> None:
        self.file = file
        self.first = first
        self.last = last
        self.header = header


class FileReader(DataSourceStreamReader):
    """Admits settled files. The offset is a place: so many files whole, and so many lines and bytes
    of the next."""

    def __init__(self, spec: Mapping[str, Any], max_rows: int) -> None:
        self._spec = spec
        self._max_rows = max_rows
        self._log = AdmissionLog(Path(spec["log"]))
        self._watch = Watch(spec["path"], settle_ms=spec["settle_ms"])
        self._next_look = 0.0
        self._files: list[Admitted] = []

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"file": 0, "line": 0, "byte": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._max_rows)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        files = self._look()
        number, place = _from_offset(start)
        left = limit.max_rows if isinstance(limit, ReadMaxRows) else self._max_rows
        while left > 0 and number < len(files):
            file = files[number]
            file.check()
            place = self._enter(file, place)
            reached = self._reach(file, place, left)
            left -= reached.place.line - place.line
            number, place = (number + 1, Place()) if reached.ended else (number, reached.place)
        return {"file": number, "line": place.line, "byte": place.byte}

    def _look(self) -> list[Admitted]:
        """The admitted files, after a look for new ones; a poll that comes too soon does not
        look."""
        now = time.monotonic()
        if now < self._next_look:
            return self._files
        self._next_look = now + min(max(self._spec["settle_ms"] / 4000, 0.02), 1.0)
        self._files = self._log.files()
        settled = self._watch.settled(self._log.known)
        if settled:
            self._files = self._log.admit(settled)
        return self._files

    def _enter(self, file: Admitted, place: Place) -> Place:
        """The same place, but behind the header of a CSV file."""
        return self._header(file)[1] if place == Place() else place

    def _header(self, file: Admitted) -> tuple[str | None, Place]:
        if self._spec["format"] == "csv" and self._spec["header"]:
            return lines.read_header(file.path)
        return None, Place()

    def _reach(self, file: Admitted, place: Place, most: int) -> lines.Reach:
        if self._spec["format"] != "parquet":
            return lines.reach(file.path, place, most)
        rows = parquet.count(file.path)
        last = min(place.line + most, rows)
        return lines.Reach(Place(last), ended=last == rows)

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        files = self._log.files()
        (first_file, first), (last_file, last) = _from_offset(start), _from_offset(end)
        slices: list[InputPartition] = []
        for number in range(first_file, last_file + (last.line > 0)):
            file = files[number]
            file.check()
            header = self._header(file)[0]
            begin = self._enter(file, first if number == first_file else Place())
            finish = last if number == last_file else None
            slices += (Slice(file, a, b, header) for a, b in self._split(file, begin, finish))
        return slices

    def _split(
        self, file: Admitted, first: Place, last: Place | None
    ) -> list[tuple[Place, Place | None]]:
        if self._spec["format"] == "parquet":
            return [(first, last)]
        return lines.split(file.path, first, last, self._spec["parallelism"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Slice)
        partition.file.check()
        if self._spec["format"] == "parquet":
            return self._read_rows(partition)
        return self._read_lines(partition)

    def _read_lines(self, part: Slice) -> Iterator[pa.RecordBatch]:
        name = self._name(part.file)
        for block in lines.blocks(part.file.path, part.first, part.last):
            numbered = enumerate(block.lines, block.first.line + 1)
            kept = [
                (number, line.removesuffix(b"\r"))
                for number, line in numbered
                if line.strip() or block.damage
            ]
            values = pa.array([line for _, line in kept], pa.binary())
            positions = [f"{name}#{number}" for number, _ in kept]
            header = pa.repeat(pa.scalar(part.header, pa.string()), len(kept))
            yield _batch(values, positions, block.damage, "header", header)

    def _read_rows(self, part: Slice) -> Iterator[pa.RecordBatch]:
        name = self._name(part.file)
        declared = to_arrow_type(StructType.fromJson(self._spec["schema"]), timezone="UTC")
        last = None if part.last is None else part.last.line
        for first, values, columns, reason in parquet.rows(
            part.file.path, part.first.line, last, declared
        ):
            positions = [
                f"{name}#{number}" for number in range(first + 1, first + 1 + len(columns))
            ]
            yield _batch(pa.array(values, pa.binary()), positions, reason, "columns", columns)

    def _name(self, file: Admitted) -> str:
        """The path of a file as its records are known by: from the directory on, which may move."""
        base = self._spec["path"].split("*")[0].split("?")[0].split("[")[0]
        return os.path.relpath(file.path, base if os.path.isdir(base) else os.path.dirname(base))


def _from_offset(offset: Mapping[str, int]) -> tuple[int, Place]:
    return offset["file"], Place(offset["line"], offset["byte"])


def _batch(
    values: pa.Array, positions: list[str], reason: str | None, last: str, column: pa.Array
) -> pa.RecordBatch:
    count = len(positions)
    columns = {
        "value": values,
        "partition": pa.repeat(pa.scalar(0, pa.int32()), count),
        "position": pa.array(positions, pa.string()),
        "timestamp": pa.nulls(count, raw.ARROW.field("timestamp").type),
        "bad": pa.repeat(pa.scalar(reason, pa.string()), count),
        last: column,
    }
    return pa.RecordBatch.from_pydict(columns)
