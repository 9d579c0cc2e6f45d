"""The columns of a table that declares none, from the newest event of its topic that tells its schema. Called by the
project's check."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from weft.declared.read import made
from weft.schema.schema import Schema
from weft.sources.debezium import DebeziumSource
from weft.sources.envelope import envelope_columns
from weft.sources.options import SourceError

ANSWER_S = 10.0
NEWEST = 20
"""So many events from the end of each partition on are looked at: tombstones and deletions tell no columns."""


def learn_columns(options: Mapping[str, Any]) -> Schema:
    """The columns that the events of a Debezium source tell; refuses a topic that tells none."""
    source = made(DebeziumSource, options)
    topic = source.topic.partition(",")[0].strip()
    found = None
    for value in _newest(source.servers, topic, source.client):
        found = envelope_columns(value) or found
    if found is None:
        raise SourceError(
            f"topic {topic!r} at {source.servers} has no event yet that tells its schema",
            hint="Declare the columns, or switch schemas on in the connector's converter.",
        )
    return found


def _newest(servers: str, topic: str, client: Mapping[str, Any]) -> list[bytes]:
    """The values of the newest events of a topic."""
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    consumer = Consumer(
        {
            **client,
            "bootstrap.servers": servers,
            "group.id": "weft-check",
            "enable.auto.commit": False,
            "enable.partition.eof": False,
            "log_level": 0,
        }
    )
    try:
        known = consumer.list_topics(topic, timeout=ANSWER_S).topics[topic]
        places = []
        left = 0
        for number in known.partitions:
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, number), ANSWER_S)
            start = max(low, high - NEWEST)
            left += high - start
            places.append(TopicPartition(topic, number, start))
        consumer.assign(places)
        deadline = time.monotonic() + ANSWER_S
        values: list[bytes] = []
        while left > 0 and time.monotonic() < deadline:
            for message in consumer.consume(left, timeout=0.5):
                left -= 1
                value = message.value() if message.error() is None else None
                values += [value] if isinstance(value, bytes) else []
        return values
    except KafkaException as error:
        raise SourceError(
            f"topic {topic!r} at {servers} cannot be read: {error.args[0].str()}"
        ) from error
    finally:
        consumer.close()
