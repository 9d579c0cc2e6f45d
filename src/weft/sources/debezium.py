"""The Debezium source: the change events of a table, which Kafka Connect writes to a topic, in raw form. They become
rows of a changing stream in `parse`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from weft.declared.key import Key
from weft.declared.limit import FLAG, Limit, Mistake, choice
from weft.project.definition import StreamSpec
from weft.sources.kafka import CLIENT, SERVERS, START, TOPIC, KafkaSource
from weft.sources.options import Again, Opening, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from weft.sources.newest import NewestEvents


def _address(value: Any) -> Mistake | None:
    if not isinstance(value, str):
        return "wrong-type"
    return None if _ADDRESS.fullmatch(value) else "unknown-value"


_ADDRESS = re.compile(r"https?://[^/\s?#@]+(/[^\s?#]*)?")
ADDRESS = Limit(
    "an address such as http://localhost:8081",
    _address,
    {"type": "string", "pattern": "^https?://"},
)


@dataclass(frozen=True)
class DebeziumSource(Source):
    """Changes of a table of a database, as Debezium writes them to Kafka: in JSON, with their schema or without, or in
    Avro with a `registry` of schemas.

    Rows that `ExtractNewRecordState` has unwrapped are taken too, if it adds `op` or rewrites deletions. Where an event
    has no schema, `times: auto` tells by a number's magnitude what it counts: below 10¹¹ seconds, below 10¹⁴
    milliseconds, below 10¹⁷ microseconds, else nanoseconds since 1970. Without one, a decimal that comes as base64 has
    the scale of its column, and a text of digits alone is a number.
    """

    changes: ClassVar[bool] = True

    topic: Annotated[str, TOPIC]
    servers: Annotated[str, SERVERS] = "localhost:9092"
    start: Annotated[Literal["earliest", "latest"], START] = "earliest"
    times: Annotated[
        Literal["auto", "s", "ms", "us", "ns"],
        Key(
            choice("auto", "s", "ms", "us", "ns"),
            "What a number in a timestamp column counts, where an event has no schema.",
            "us",
        ),
    ] = "auto"
    transactions: Annotated[
        bool,
        Key(
            FLAG,
            "Whether it is the topic of transactions, which tells where each of them begins and ends.",
            True,
        ),
    ] = False
    registry: Annotated[
        str | None,
        Key(
            ADDRESS,
            "The registry of schemas, of events that are in Avro.",
            "http://localhost:8081",
            unsaid="events are JSON",
        ),
    ] = None
    client: Annotated[Mapping[str, Any], CLIENT] = field(default_factory=dict)

    def open(self, spark: SparkSession, stream: StreamSpec, opening: Opening) -> DataFrame:
        """The events of a topic, or of several, in raw form.

        Records without a value are left out: they let Kafka forget a key, and the event of the deletion before them
        has said it all.
        """
        records = self._kafka().open(spark, stream, opening)
        return self._json(records.where("value IS NOT NULL"))

    def again(self, spark: SparkSession, stream: StreamSpec, asked: Again) -> DataFrame:
        """The events from the topic, which must still have them."""
        return self._json(self._kafka().again(spark, stream, asked).where("value IS NOT NULL"))

    def newest(self) -> NewestEvents | None:
        """The end of its topic, where that tells the columns of one table."""
        from weft.sources.newest import NewestEvents

        if self.transactions or self.registry or "," in self.topic:
            return None
        return NewestEvents(self.servers, self.topic, self.client)

    def _json(self, records: DataFrame) -> DataFrame:
        """The same events in JSON; those in Avro that cannot be read keep their bytes, and say why."""
        if self.registry is None:
            return records
        from pyspark.sql import functions as f

        from weft import kernel

        call = kernel.call(
            records.sparkSession, "avro.AvroEvents.json", f.col("value"), self.registry
        )
        read = records.withColumn("_read", kernel.to_column(call))
        kept = [f.col(name) for name in records.columns if name != "value"]
        return read.select(
            f.col("_read.value").alias("value"), *kept, f.col("_read.bad").alias("bad")
        )

    def _kafka(self) -> KafkaSource:
        return KafkaSource(
            servers=self.servers, topic=self.topic, start=self.start, client=self.client
        )
