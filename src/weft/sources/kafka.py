"""The Kafka source: Spark's own, with its records in raw form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from weft.declared.key import Key
from weft.declared.limit import TEXT, Limit, Mistake, choice, settings
from weft.project.definition import Processing, StreamSpec
from weft.sources.options import SEPARATOR, Source, csv_alone

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")

# The source sets these itself, and Spark refuses to start with most of them.
_OURS = (
    "bootstrap.servers",
    "auto.offset.reset",
    "key.deserializer",
    "value.deserializer",
    "enable.auto.commit",
    "interceptor.classes",
)


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

    def open(
        self, spark: SparkSession, stream: StreamSpec, *, checkpoint: Path, processing: Processing
    ) -> DataFrame:
        """The records of one topic, or of several, in raw form."""
        from pyspark.sql import functions as f

        topics = [topic.strip() for topic in self.topic.split(",")]
        reader = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.servers)
            .option("subscribe", ",".join(topics))
            .option("startingOffsets", self.start)
            .option("maxOffsetsPerTrigger", processing.queue_size)
            .option("failOnDataLoss", "true")
            .options(**{f"kafka.{name}": str(value) for name, value in self.client.items()})
        )
        offset = f.col("offset").cast("string")
        position = offset if len(topics) == 1 else f.concat_ws(":", "topic", offset)
        return reader.load().select("value", "partition", position.alias("position"), "timestamp")
