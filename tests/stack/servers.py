"""What tests and benches do with a real broker: they write topics and read them. The servers are `weft.servers`."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import NewPartitions

from weft.servers import kafka
from weft.servers.process import READY_S


@dataclass(frozen=True)
class Message:
    """One record of a topic, as a reader gets it."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes]

    @property
    def document(self) -> Any:
        """The value, read as JSON."""
        return None if self.value is None else json.loads(self.value)


class Kafka(kafka.Kafka):
    """A broker, its topics written and read."""

    def add_partitions(self, name: str, total: int) -> None:
        """Raise the number of partitions of a topic to `total`."""
        admin = self.admin()
        for future in admin.create_partitions([NewPartitions(name, total)]).values():
            future.result(READY_S)

    def partitions(self, name: str) -> int:
        """How many partitions a topic has."""
        admin = self.admin()
        return len(admin.list_topics(name, timeout=READY_S).topics[name].partitions)

    def produce(
        self,
        topic: str,
        values: Iterable[Mapping[str, Any] | str | bytes | None],
        *,
        keys: Iterable[str | bytes | None] | None = None,
        partition: int | None = None,
    ) -> None:
        """Write records and wait until the broker has them; mappings are written as JSON."""
        producer = Producer({"bootstrap.servers": self.servers, "linger.ms": 1})
        chosen = {} if partition is None else {"partition": partition}
        values = list(values)
        for key, value in zip(keys or [None] * len(values), values, strict=True):
            body = json.dumps(value) if isinstance(value, Mapping) else value
            producer.produce(topic, body, key, **chosen)
            producer.poll(0)
        left = producer.flush(READY_S)
        if left:
            raise TimeoutError(f"{left} records were not written to topic {topic}")

    def consume(self, topic: str, *, committed: bool = True) -> list[Message]:
        """All records of the topic by partition and offset; of transactions, the committed ones."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": f"test-{uuid.uuid4()}",
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


def _read_to_end(consumer: Consumer, open_partitions: set[int]) -> list[Message]:
    messages = []
    end = time.monotonic() + READY_S
    while open_partitions:
        if time.monotonic() > end:
            raise TimeoutError(f"partitions {open_partitions} were not read to their end")
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error():
            if message.error().code() != KafkaError._PARTITION_EOF:
                raise KafkaException(message.error())
            open_partitions.discard(message.partition())
            continue
        messages.append(
            Message(
                partition=message.partition(),
                offset=message.offset(),
                key=message.key(),
                value=message.value(),
                headers=dict(message.headers() or ()),
            )
        )
    return sorted(messages, key=lambda found: (found.partition, found.offset))
