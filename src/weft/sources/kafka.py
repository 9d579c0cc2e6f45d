"""The Kafka source: Spark's own, with its records in raw form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from weft.declared.key import Key
from weft.declared.limit import TEXT, Limit, Mistake, choice, settings
from weft.project.definition import StreamSpec
from weft.sources.options import (
    SEPARATOR,
    Again,
    Opening,
    RecordAt,
    Source,
    SourceError,
    csv_alone,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")

Offsets = Mapping[str, Mapping[str, int]]
"""By topic and partition."""

EARLIEST = -2
"""The offset by which Spark says the first one that a partition still has."""

# The source sets these itself, and Spark refuses to start with most of them.
_OURS = (
    "bootstrap.servers",
    "auto.offset.reset",
    "key.deserializer",
    "value.deserializer",
    "enable.auto.commit",
    "interceptor.classes",
)


_SETTINGS = {"fetch.max.wait.ms": 1}
"""Unless a project says otherwise. Behind the last record Spark's reader asks for more, and then where the topic ends.
A broker answers one question after the other, and would keep the first for half a second: that long took each batch of
a topic that rests."""


def _topics(value: Any) -> Mistake | None:
    if not isinstance(value, str) or not value.strip():
        return "wrong-type"
    names = [name.strip() for name in value.split(",")]
    known = all(_TOPIC.fullmatch(name) and name not in (".", "..") for name in names)
    return None if known else "unknown-value"


TOPICS = Limit(
    "a topic, or several with commas between; letters, digits, dot, _ and - make a name",
    _topics,
    {"type": "string", "minLength": 1},
)


SERVERS = Key(TEXT, "Servers to ask first, with commas between.", "localhost:9092")
TOPIC = Key(TOPICS, "The topic, or several with commas between.", "orders")
START = Key(
    choice("earliest", "latest"),
    "Where to begin when the stream is new.",
    "latest",
)
CLIENT = Key(
    settings("a mapping of settings of the Kafka client", taken=_OURS),
    "Settings of the Kafka client, handed on as they are.",
    {"security.protocol": "SSL"},
)


@dataclass(frozen=True)
class KafkaSource(Source):
    """Records of Kafka topics. Those that are gone before they were read are an error, not a gap."""

    servers: Annotated[str, SERVERS]
    topic: Annotated[str, TOPIC]
    start: Annotated[Literal["earliest", "latest"], START] = "earliest"
    format: Annotated[
        Literal["json", "csv"],
        Key(choice("json", "csv"), "How a record's value is written.", "csv"),
    ] = "json"
    separator: Annotated[str, SEPARATOR] = ","
    client: Annotated[Mapping[str, Any], CLIENT] = field(default_factory=dict)

    together = staticmethod(csv_alone)

    def open(self, spark: SparkSession, stream: StreamSpec, opening: Opening) -> DataFrame:
        """The records of one topic, or of several, in raw form."""
        return self.raw(self.records(spark, opening))

    def records(self, spark: SparkSession, opening: Opening) -> DataFrame:
        """The same as Spark's Kafka source gives them, their keys among them."""
        reader = spark.readStream.format("kafka").options(**self._options())
        reader = reader.option("subscribe", ",".join(self._topics))
        reader = reader.option("startingOffsets", self.start)
        return reader.option("maxOffsetsPerTrigger", opening.processing.queue_size).load()

    def again(self, spark: SparkSession, stream: StreamSpec, asked: Again) -> DataFrame:
        """The records from the topic, which must still have them."""
        return self.raw(self.records_again(spark, stream, asked))

    def records_again(self, spark: SparkSession, stream: StreamSpec, asked: Again) -> DataFrame:
        """The same as Spark's Kafka source gives them, their keys among them."""
        if asked.start is None and self.start == "latest":
            raise SourceError(
                f"Where the first batch of stream {stream.name!r} began was for Kafka to say, and is not kept.",
                code="source.not-again",
                hint="Replay from its second knot on.",
                stream=stream.name,
            )
        reader = spark.read.format("kafka").options(**self._options())
        ends: Offsets = asked.end or {}
        starts: Offsets = asked.start or {}
        if asked.only is not None:
            starts, ends = self._around(asked.only, starts, ends)
        first = {
            topic: {part: starts.get(topic, {}).get(part, EARLIEST) for part in parts}
            for topic, parts in ends.items()
        }
        parts = {topic: [int(part) for part in parts] for topic, parts in ends.items()}
        reader = reader.option("assign", json.dumps(parts))
        reader = reader.option("startingOffsets", json.dumps(first))
        return reader.option("endingOffsets", json.dumps(ends)).load()

    def _around(self, record: RecordAt, starts: Offsets, ends: Offsets) -> tuple[Offsets, Offsets]:
        """The offsets of a record and of the one behind it; those that were given where it is not between them."""
        named, _, offset = record.position.rpartition(":")
        topic, part = named or self._topics[0], str(record.partition)
        end = ends.get(topic, {}).get(part, 0)
        first = starts.get(topic, {}).get(part, 0)
        if not offset.isdecimal() or not first <= int(offset) < end:
            return starts, ends
        return {topic: {part: int(offset)}}, {topic: {part: int(offset) + 1}}

    @property
    def _topics(self) -> list[str]:
        return [topic.strip() for topic in self.topic.split(",")]

    def _options(self) -> dict[str, str]:
        settings = {**_SETTINGS, **self.client}
        client = {f"kafka.{name}": str(value) for name, value in settings.items()}
        return {"kafka.bootstrap.servers": self.servers, "failOnDataLoss": "true", **client}

    def raw(self, records: DataFrame) -> DataFrame:
        """Records of Spark's Kafka source in raw form."""
        from pyspark.sql import functions as f

        offset = f.col("offset").cast("string")
        position = offset if len(self._topics) == 1 else f.concat_ws(":", "topic", offset)
        return records.select("value", "partition", position.alias("position"), "timestamp")
