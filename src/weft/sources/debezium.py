"""The Debezium source: the change events of a table, which Kafka Connect writes to a topic, in raw form. They become
rows of a changing stream in `parse`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from weft.declared.key import Key
from weft.declared.limit import FLAG, Fault, Limit, Mistake, choice
from weft.project.definition import StreamSpec
from weft.sources.kafka import CLIENT, SERVERS, START, TOPIC, KafkaSource
from weft.sources.options import Again, Opening, Source

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

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


def _rows_or_transactions(written: Mapping[str, Any]) -> Fault | None:
    if written.get("unwrapped") and written.get("transactions"):
        return Fault("unknown-value", "left out: transactions are no rows", ("unwrapped",))
    return None


@dataclass(frozen=True)
class DebeziumSource(Source):
    """Changes of a table of a database, as Debezium writes them to Kafka: in JSON, with their schema or without, or in
    Avro with a `registry` of schemas.

    Rows that `ExtractNewRecordState` has unwrapped are taken too: with `unwrapped`, or if it rewrites deletions. Where
    an event has no schema, `times: auto` tells by a number's magnitude what it counts: below 10¹¹ seconds, below 10¹⁴
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
    unwrapped: Annotated[
        bool,
        Key(
            FLAG,
            "Whether `ExtractNewRecordState` has unwrapped its rows, so that a record without a value deletes its key.",
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

    together = staticmethod(_rows_or_transactions)

    def open(self, spark: SparkSession, stream: StreamSpec, opening: Opening) -> DataFrame:
        """The events of a topic, or of several, in raw form."""
        return self._events(self._kafka().records(spark, opening))

    def again(self, spark: SparkSession, stream: StreamSpec, asked: Again) -> DataFrame:
        """The events from the topic, which must still have them."""
        return self._events(self._kafka().records_again(spark, stream, asked))

    def newest(self) -> NewestEvents | None:
        """The end of its topic, where that tells the columns of one table."""
        from weft.sources.newest import NewestEvents

        if self.transactions or self.registry or "," in self.topic:
            return None
        return NewestEvents(self.servers, self.topic, self.client)

    def _events(self, records: DataFrame) -> DataFrame:
        """Events in JSON and in raw form; one that cannot be read keeps its bytes, and says why.

        A record without a value lets Kafka forget a key. The event of the deletion came before it and has said it
        all, but where rows are unwrapped there is none.
        """
        from pyspark.sql import functions as f

        from weft import kernel

        kafka, session = self._kafka(), records.sparkSession
        if not self.unwrapped:
            records = records.where("value IS NOT NULL")
            if self.registry is None:
                return kafka.raw(records)
        event = self._json(records, f.col("value"))
        if self.unwrapped:
            call = kernel.call(session, "source.Tombstones.areIn", event.getField("value"))
            event = f.when(kernel.to_column(call), self._deletion(records)).otherwise(event)
        raw = kafka.raw(records.withColumn("value", event))
        beside = [name for name in raw.columns if name != "value"]
        return raw.select("value.value", *beside, "value.bad")

    def _json(self, records: DataFrame, written: Column) -> Column:
        """JSON of what is written in Avro, and why there is none; what is in JSON already stays."""
        from pyspark.sql import functions as f

        from weft import kernel

        if self.registry is None:
            return f.struct(written.alias("value"), f.lit(None).cast("string").alias("bad"))
        call = kernel.call(records.sparkSession, "avro.AvroEvents.json", written, self.registry)
        return kernel.to_column(call)

    def _deletion(self, records: DataFrame) -> Column:
        """The deletion of a record's key."""
        from pyspark.sql import functions as f

        from weft import kernel

        key = self._json(records, f.col("key"))
        call = kernel.call(
            records.sparkSession, "source.Tombstones.deletions", key.getField("value")
        )
        return f.when(key.getField("bad").isNotNull(), key).otherwise(kernel.to_column(call))

    def _kafka(self) -> KafkaSource:
        return KafkaSource(
            servers=self.servers, topic=self.topic, start=self.start, client=self.client
        )
