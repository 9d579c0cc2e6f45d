"""Spark's side of the mock source: admits records as they fall due and has them made in its Python workers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from weft.locations.location import Location
from weft.project.definition import SourceSpec, StreamSpec
from weft.schema.path import find_path
from weft.schema.schema import Schema
from weft.sources import raw
from weft.sources.generate import CHUNK, Generator, Recipe
from weft.sources.mock import KEYS, MockSource
from weft.sources.options import Again, Opening, check_source
from weft.sources.pace import Pace
from weft.sources.spark.again import read_again

if TYPE_CHECKING:
    import pyarrow as pa


def open_mock(
    spark: SparkSession, source: MockSource, stream: StreamSpec, opening: Opening
) -> DataFrame:
    """The records of a mock source in raw form."""
    spark.dataSource.register(MockData)
    reader = spark.readStream.format(MockData.name())
    return reader.options(**_options(source, stream, opening)).load()


def mock_again(
    spark: SparkSession, source: MockSource, stream: StreamSpec, asked: Again
) -> DataFrame:
    """Records that a mock source has made before."""
    options = _options(source, stream, asked)
    if asked.only is not None and asked.only.position.isdecimal():
        turns = source.partitions or asked.processing.parallelism
        record = int(asked.only.position) * turns + asked.only.partition
        if (asked.start or {"record": 0})["record"] <= record < asked.end["record"]:
            asked = replace(asked, start={"record": record}, end={"record": record + 1})
    return read_again(spark, MockData(options), asked)


def _options(source: MockSource, stream: StreamSpec, opening: Opening) -> dict[str, str]:
    options = dict(stream.source.options) if stream.source else {}
    spec = {
        "name": stream.name,
        "schema": stream.schema.to_json(),
        "key": stream.key[0] if stream.key else None,
        "event_time": stream.event_time,
        "options": options | {"start": _start(source.start, opening.checkpoint)},
        "parallelism": opening.processing.parallelism,
    }
    return {"spec": json.dumps(spec), "maxRows": str(opening.processing.queue_size)}


def check_recipe(stream: StreamSpec, *, partitions: int) -> Recipe:
    """What the options of a stream's mock source say; refuses wrong ones."""
    source = check_source(stream.name, "mock", stream.source.options if stream.source else {})
    assert isinstance(source, MockSource)
    place = find_path(stream.key[0], stream.schema) if stream.key else None
    key = "/".join(place.names) if place else None
    if key == "id" and source.keys is None and source.skew is None:
        key = None  # an id is its record's own number unless keys are asked for
    timed = find_path(stream.event_time, stream.schema) if stream.event_time else None
    return Recipe(
        schema=stream.schema,
        seed=source.seed,
        partitions=source.partitions or partitions,
        pace=Pace(0.0 if source.rate == "max" else source.rate, source.bursts),
        start=source.first,
        disorder_ms=source.disorder_ms,
        bad_share=source.bad_share,
        event_time=timed.names[0] if timed else None,
        key=key,
        keys=source.keys or KEYS,
        skew=source.skew or 0.0,
    )


def _start(start: str, checkpoint: Location) -> str:
    """The first event time; that of `now` is fixed when the source is first opened."""
    if start != "now":
        return str(start)
    kept = checkpoint / "source" / "start"
    if not kept.exists():
        kept.put(datetime.now(UTC).isoformat().encode())
    return kept.read().decode()


class MockData(DataSource):
    """Spark's view of the mock source. Options: `spec`, what `open_mock` wrote, and `maxRows` of a
    batch."""

    @classmethod
    def name(cls) -> str:
        return "weft-mock"

    def schema(self) -> StructType:
        return StructType([*raw.FIELDS])

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        return MockReader(json.loads(self.options["spec"]), int(self.options["maxRows"]))


class MockRange(InputPartition):
    """The records `first` to `last` of one partition."""

    def __init__(self, partition: int, first: int, last: int) -> None:
        self.partition = partition
        self.first = first
        self.last = last


class MockReader(DataSourceStreamReader):
    """Admits records as they fall due, at most so many a batch. The offset is how many there
    were."""

    def __init__(self, spec: Mapping[str, Any], max_rows: int) -> None:
        stream = StreamSpec(
            name=spec["name"],
            schema=Schema.from_json(spec["schema"]),
            source=SourceSpec("mock", spec["options"]),
            key=(spec["key"],) if spec["key"] else (),
            event_time=spec["event_time"],
        )
        self._recipe = check_recipe(stream, partitions=spec["parallelism"])
        self._events: int = spec["options"].get("events", 0)
        self._max_rows = max_rows
        self._began: tuple[float, float] | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"record": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._max_rows)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        first = start["record"]
        last = first + (limit.max_rows if isinstance(limit, ReadMaxRows) else self._max_rows)
        if self._recipe.pace.rate:
            last = min(last, self._due(first))
        if self._events:
            last = min(last, self._events)
        return {"record": max(first, last)}

    def _due(self, first: int) -> int:
        """How many records have happened by now, if record `first` was due when the source was
        opened."""
        pace, now = self._recipe.pace, time.monotonic()
        if self._began is None:
            self._began = (now, pace.seconds_at(first))
        began, seconds = self._began
        return int(pace.records_until(seconds + now - began))

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        turns = self._recipe.partitions
        slices = [
            MockRange(p, _ceil(start["record"] - p, turns), _ceil(end["record"] - p, turns))
            for p in range(turns)
        ]
        return [one for one in slices if one.first < one.last]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, MockRange)
        generator = Generator(self._recipe, partition.partition)
        for first in range(partition.first, partition.last, CHUNK):
            yield generator.batch(first, min(CHUNK, partition.last - first))


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)
