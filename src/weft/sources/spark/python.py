"""Spark's side of a source of the user's own: an `EventSource` behind a journal, or a data source written for Spark."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from weft.project.definition import StreamSpec
from weft.schema.schema import Field, quote
from weft.sources import raw
from weft.sources.arrays import binaries, number, texts
from weft.sources.feed import check_segments
from weft.sources.journal import Journal, records
from weft.sources.options import Again, Opening
from weft.sources.own import check_class, given, is_native, load_class
from weft.sources.python import PythonSource
from weft.sources.segment import JOURNAL
from weft.sources.spark.again import read_again


def open_python(
    spark: SparkSession, source: PythonSource, stream: StreamSpec, opening: Opening
) -> DataFrame:
    """The records of the class that a project names, in raw form."""
    options = stream.source.options if stream.source else {}
    found = check_class(source.source, options, stream=stream.name)
    if is_native(found):
        return _open_native(spark, found, given(options), stream)
    spark.dataSource.register(EventDataSource)
    reader = spark.readStream.format(EventDataSource.name())
    return reader.options(**_options(source, options, opening)).load()


def python_again(
    spark: SparkSession, source: PythonSource, stream: StreamSpec, asked: Again
) -> DataFrame:
    """Records that the class of a project has given before, from its journal if it has one."""
    options = stream.source.options if stream.source else {}
    found = check_class(source.source, options, stream=stream.name)
    if not is_native(found):
        check_segments(asked.checkpoint / JOURNAL, asked)
        journal = _options(source, options, asked)
        return read_again(spark, EventDataSource(journal), asked)
    texts = {name: str(value) for name, value in given(options).items()}
    return _in_raw_form(read_again(spark, found(texts), asked), stream)


def _options(source: PythonSource, options: Mapping[str, Any], opening: Opening) -> dict[str, str]:
    spec = {
        "class": source.source,
        "options": given(options),
        "journal": (opening.checkpoint / JOURNAL).address,
        "keep": source.keep,
        "path": sys.path,
    }
    return {"spec": json.dumps(spec), "maxRows": str(opening.processing.queue_size)}


class EventDataSource(DataSource):
    """Spark's view of an event source. Options: `spec`, what `open_python` wrote, and `maxRows` of
    a batch."""

    @classmethod
    def name(cls) -> str:
        return "weft-events"

    def schema(self) -> StructType:
        return StructType([*raw.FIELDS])

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        return EventReader(json.loads(self.options["spec"]), int(self.options["maxRows"]))


class EventReader(DataSourceStreamReader):
    """Journals what the source delivers, then tells Spark of it. The offset is how many segments
    there were."""

    def __init__(self, spec: Mapping[str, Any], max_rows: int) -> None:
        self._spec = spec
        self._max_rows = max_rows
        self._journal: Journal | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_journal": None}  # executors read the journal and never the source

    @property
    def _opened(self) -> Journal:
        """The journal with its source, which is created when it is first needed."""
        if self._journal is None:
            sys.path.extend(entry for entry in self._spec["path"] if entry not in sys.path)
            source = load_class(self._spec["class"])(**self._spec["options"])
            self._journal = Journal(self._spec["journal"], source, keep=self._spec["keep"])
        return self._journal

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"segment": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._max_rows)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else self._max_rows
        return {"segment": self._opened.next(start["segment"], max_events=most)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [
            InputPartition(number) for number in range(start["segment"] + 1, end["segment"] + 1)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        found = list(records(self._spec["journal"], partition.value))
        columns = [
            binaries([value for _, value in found]),
            pa.repeat(number(0, pa.int32()), len(found)),
            texts(position for position, _ in found),
            pa.nulls(len(found), raw.ARROW.field("timestamp").type),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=raw.ARROW)

    def commit(self, end: dict[str, int]) -> None:
        self._opened.committed(end["segment"])

    def stop(self) -> None:
        if self._journal is not None:
            self._journal.close()


def _open_native(
    spark: SparkSession, source: type[DataSource], options: Mapping[str, Any], stream: StreamSpec
) -> DataFrame:
    """A data source of Spark's in raw form."""
    # The project's Python is not on the executors: the class travels with its code.
    cloudpickle.register_pickle_by_value(sys.modules[source.__module__])  # type: ignore[no-untyped-call]
    spark.dataSource.register(source)
    texts = {name: str(value) for name, value in options.items()}
    return _in_raw_form(spark.readStream.format(source.name()).options(**texts).load(), stream)


def _in_raw_form(rows: DataFrame, stream: StreamSpec) -> DataFrame:
    """The columns of a data source of Spark's as a raw record.

    Its columns `_partition` and `_position` say where a record is; without a position, records that
    are equal in every column have the same id.
    """
    whole = f.md5(f.to_json(f.struct(*(f.col(quote(name)) for name in rows.columns))))
    columns = [_typed(rows, field) for field in stream.schema]
    return rows.select(
        f.lit(None).cast("binary").alias("value"),
        (f.col("_partition") if "_partition" in rows.columns else f.lit(0))
        .cast("int")
        .alias("partition"),
        (f.col("_position") if "_position" in rows.columns else whole)
        .cast("string")
        .alias("position"),
        f.lit(None).cast("timestamp").alias("timestamp"),
        f.struct(*columns).alias("columns"),
        f.coalesce(*(_misfit(rows, field) for field in stream.schema)).alias("bad"),
    )


def _find(rows: DataFrame, name: str) -> str | None:
    """The column of a name, or else of that name in another case."""
    similar = [column for column in rows.columns if column.lower() == name.lower()]
    return name if name in similar else next(iter(similar), None)


def _typed(rows: DataFrame, field: Field) -> Column:
    found = _find(rows, field.name)
    if found is None:
        return f.lit(None).cast(str(field.type)).alias(field.name)
    return f.col(quote(found)).try_cast(str(field.type)).alias(field.name)


def _misfit(rows: DataFrame, field: Field) -> Column:
    """Why the value of a column is not of the declared type, or null."""
    name = _find(rows, field.name)
    if name is None:
        return f.lit(None).cast("string")
    given = f.col(quote(name))
    found = f.substring(f.to_json(f.struct(given.alias("v"))), 6, 60)
    reason = f.concat(
        f.lit(f"column '{field.name}': expected {field.type}, found "), f.rtrim(found, f.lit("}"))
    )
    return f.when(given.isNotNull() & given.try_cast(str(field.type)).isNull(), reason)
