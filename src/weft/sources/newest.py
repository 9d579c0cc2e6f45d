"""The newest events of a Kafka topic. Asked when a project is checked, for the columns of a table, and before each
batch, whether the table still has them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from weft.sources.options import SourceError

ANSWER_S = 10.0


class NewestEvents:
    """One connection to a topic, over which its end is looked at again and again."""

    def __init__(self, servers: str, topic: str, client: Mapping[str, Any]) -> None:
        self._servers = servers
        self._topic = topic
        self._ends: dict[int, int] = {}
        self._consumer = Consumer(
            {
                **client,
                "bootstrap.servers": servers,
                "group.id": "weft-check",
                "enable.auto.commit": False,
                "enable.partition.eof": False,
                "log_level": 0,
            }
        )

    def read(self, most: int) -> list[bytes] | None:
        """The values of so many events from the end of each partition on, the newest last; None: as when last asked."""
        try:
            known = self._consumer.list_topics(self._topic, timeout=ANSWER_S).topics[self._topic]
            ends, places, left = {}, [], 0
            for number in known.partitions:
                place = TopicPartition(self._topic, number)
                low, ends[number] = self._consumer.get_watermark_offsets(place, ANSWER_S)
                start = max(low, ends[number] - most)
                left += ends[number] - start
                places.append(TopicPartition(self._topic, number, start))
            if ends == self._ends:
                return None
            self._consumer.assign(places)
            found = self._consume(left)
            self._ends = ends
            return found
        except KafkaException as error:
            raise SourceError(
                f"topic {self._topic!r} at {self._servers} cannot be read: {error.args[0].str()}",
                code="source.kafka-away",
                domain="external",
                retryable=True,
                hint="Check that the broker is up and lets this client read. It is asked again.",
                topic=self._topic,
            ) from error

    def close(self) -> None:
        """Let go of the connection."""
        self._consumer.close()

    def _consume(self, left: int) -> list[bytes]:
        deadline = time.monotonic() + ANSWER_S
        values: list[tuple[int, bytes]] = []
        while left > 0 and time.monotonic() < deadline:
            for message in self._consumer.consume(left, timeout=0.5):
                left -= 1
                value = message.value() if message.error() is None else None
                if isinstance(value, bytes):
                    values.append((message.timestamp()[1], value))
        return [value for _, value in sorted(values, key=lambda one: one[0])]
