"""What tests and benches do with a real broker: they write topics and read them. The servers are `weft.servers`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import NewPartitions

from weft.servers import kafka
from weft.servers.process import READY_S
from weft.servers.topic import TopicMessage as Message
from weft.servers.topic import read_topic

__all__ = ["Kafka", "Message"]


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
        return read_topic(self.servers, topic, committed=committed)
