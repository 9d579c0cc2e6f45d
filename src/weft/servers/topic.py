"""The records of a topic: its name comes in, out comes all that is in it now. Called by the demo and by tests."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from weft.servers.process import READY_S


@dataclass(frozen=True)
class TopicMessage:
    """One record of a topic, as a reader gets it."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, str | bytes | None]

    @property
    def document(self) -> Any:
        """The value, read as JSON."""
        return None if self.value is None else json.loads(self.value)


def read_topic(servers: str, topic: str, *, committed: bool = True) -> list[TopicMessage]:
    """All records of a topic by partition and offset; of transactions, the committed ones."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"read-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed" if committed else "read_uncommitted",
        }
    )
    try:
        found = consumer.list_topics(topic, timeout=READY_S).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in found])
        return _read_to_end(consumer, set(found))
    finally:
        consumer.close()


def _read_to_end(consumer: Consumer, open_partitions: set[int]) -> list[TopicMessage]:
    messages = []
    end = time.monotonic() + READY_S
    while open_partitions:
        if time.monotonic() > end:
            raise TimeoutError(f"partitions {open_partitions} were not read to their end")
        message = consumer.poll(0.5)
        if message is None:
            continue
        error = message.error()
        if error is not None:
            if error.code() != KafkaError._PARTITION_EOF:
                raise KafkaException(error)
            open_partitions.discard(message.partition() or 0)
            continue
        messages.append(
            TopicMessage(
                partition=message.partition() or 0,
                offset=message.offset() or 0,
                key=message.key(),
                value=message.value(),
                headers=dict(message.headers() or ()),
            )
        )
    return sorted(messages, key=lambda found: (found.partition, found.offset))
