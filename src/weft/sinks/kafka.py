"""A sink that writes each knot to a Kafka topic in one transaction, with its number beside it.

The number is committed as the offset of a consumer group that nobody joins, in the transaction that
holds the records: both are there or neither is, and a new worker reads how far the topic has come.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from weft.declared.key import Key
from weft.declared.limit import TEXT, Limit, Mistake, names, settings, whole
from weft.schema.change import CHANGE, EMPTIED, GONE
from weft.schema.weft import WEFT
from weft.sinks.document import documents, to_json, to_key
from weft.sinks.options import Options
from weft.sinks.rows import Rows
from weft.sinks.sink import Promise, Sink, SinkError, SinkFencedError, Target

T = TypeVar("T")

log = logging.getLogger(__name__)

REPLY_S = 30.0
AGAIN_S = 0.2
TRANSACTION_MS = 120_000
MOST_RETRACTED = 50
"""So many ranges of knots that were taken back are remembered; Kafka keeps 4,096 bytes beside a position."""
FENCED = {KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH}
STARTING = {
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}
COMPACTED = {"cleanup.policy": "compact"}
"""A topic of upserts has the newest value of every key for as long as it is there."""
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


def _topic(value: Any) -> Mistake | None:
    if not isinstance(value, str):
        return "wrong-type"
    return None if _TOPIC.fullmatch(value) and value not in (".", "..") else "unknown-value"


TOPIC = Limit(
    "a topic's name: up to 249 letters, digits, dots, _ and -",
    _topic,
    {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,249}$"},
)


@dataclass(frozen=True)
class KafkaOptions(Options):
    """Writes each knot to a topic in one transaction. Exactly once, for readers of what is committed."""

    topic: Annotated[
        str,
        Key(
            TOPIC,
            "The topic; it is made if it is not there, compacted for documents and queries.",
            "revenue",
        ),
    ]
    servers: Annotated[
        str, Key(TEXT, "Servers to ask first, with commas between.", "kafka-1:9092,kafka-2:9092")
    ] = "localhost:9092"
    key: Annotated[
        tuple[str, ...] | None,
        Key(
            names(),
            "The columns of a record's key; an empty list writes records without one.",
            ["country"],
            unsaid="the stream's key",
        ),
    ] = None
    partitions: Annotated[
        int | None,
        Key(
            whole(1, 100_000),
            "Partitions of a topic that is not there yet.",
            6,
            unsaid="as the servers say",
        ),
    ] = None
    client: Annotated[
        Mapping[str, str | int | float | bool],
        Key(
            settings("a mapping of settings of the Kafka client"),
            "Settings of the Kafka client, handed on as they are.",
            {"compression.type": "zstd"},
        ),
    ] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """Where the rows go."""
        return f"Kafka topic {self.topic} at {self.servers}"

    def columns(self) -> tuple[str, ...]:
        """The key."""
        return self.key or ()

    def open(self, target: Target) -> Sink:
        """The sink, connected."""
        return KafkaSink(self, target)


@dataclass(frozen=True)
class Position:
    """How far a topic has come: the last knot in it, and the ranges of knots that were retracted from it."""

    history: str
    knot: int
    retracted: tuple[tuple[int, int], ...] = ()

    def has_retracted(self, first: int, last: int) -> bool:
        """Whether these knots were taken back already."""
        return any(low <= first and last <= high for low, high in self.retracted)

    def retracting(self, first: int, last: int) -> Position:
        """After these knots were taken back."""
        inside = [one for one in self.retracted if first <= one[0] and one[1] <= last]
        kept = [one for one in self.retracted if one not in inside]
        return replace(self, retracted=(*kept, (first, last))[-MOST_RETRACTED:])

    def restoring(self, knot: int) -> Position:
        """After one knot of those was delivered again."""
        ranges: list[tuple[int, int]] = []
        for low, high in self.retracted:
            parts = [(low, min(high, knot - 1)), (max(low, knot + 1), high)]
            ranges += [part for part in parts if part[0] <= part[1]]
        return replace(self, retracted=tuple(dict.fromkeys(ranges)))

    def to_offset(self, topic: str) -> TopicPartition:
        """The form in which Kafka keeps it; the number is one higher, as a next offset is."""
        kept = {"history": self.history, "retracted": self.retracted}
        return TopicPartition(topic, 0, self.knot + 1, json.dumps(kept))

    @staticmethod
    def from_offset(offset: TopicPartition, history: str) -> Position | None:
        """The position that Kafka kept, or None when it has none of this history."""
        if offset.offset < 0:
            return None
        kept = json.loads(offset.metadata or "{}")
        if kept.get("history") != history:
            return None
        retracted = tuple((low, high) for low, high in kept.get("retracted") or ())
        return Position(history, offset.offset - 1, retracted)


@dataclass(frozen=True)
class Message:
    """One record on its way to the topic."""

    key: bytes | None
    value: bytes | None
    headers: dict[str, str]


class KafkaSink:
    """Exactly once for readers with `isolation.level=read_committed`.

    Opening it ends the transaction of an earlier worker and shuts that one out. After a failure the
    connection is made anew, which settles whether the last transaction counts.
    """

    promise: Promise = "exactly once"

    def __init__(self, options: KafkaOptions, target: Target) -> None:
        self._options = options
        self._target = target
        self._key = target.key if options.key is None else options.key
        self._link: _Link | None = None
        self._fenced: SinkFencedError | None = None
        self._connected()

    def deliver(self, knot: int, rows: Rows) -> None:
        """Write the records of a knot, unless the topic has them; no rows, no transaction."""
        if not rows.count:
            return
        link = self._connected()
        if link.position is not None and knot <= link.position.knot:
            return
        before = link.position or Position(self._target.history, knot)
        self._transact(replace(before, knot=knot), self._messages(rows))

    def delivered(self) -> int | None:
        """The last knot whose records are in the topic."""
        position = self._connected().position
        return None if position is None else position.knot

    def retract(self, knots: range, rows: Rows) -> None:
        """Write a tombstone for each key of these knots, or without keys each record once more with
        the header `weft-retracts`. What had not reached the topic is left out. Keys of a changing stream
        get what they had before."""
        position = self._connected().position
        if not knots or position is None or knots[0] > position.knot:
            return
        if not position.has_retracted(knots[0], knots[-1]):
            retractions = (
                self._retractions(rows, until=position.knot)
                if rows.before is None
                else self._messages(rows.before)
            )
            self._transact(position.retracting(knots[0], knots[-1]), retractions)

    def restore(self, knot: int, rows: Rows) -> None:
        """Write the records of a knot again, if they were taken back."""
        position = self._connected().position
        if position is not None and position.has_retracted(knot, knot):
            self._transact(position.restoring(knot), self._messages(rows))

    def close(self) -> None:
        """Let go of the connection."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def _messages(self, rows: Rows) -> Iterator[Message]:
        columns = list(self._target.columns)
        for batch in rows.batches():
            marks = batch.column(WEFT).to_pylist()
            for mark, document in zip(marks, documents(batch.select(columns)), strict=True):
                headers = {"weft-id": mark["id"], "weft-knot": str(mark["knot"])}
                change = document.pop(CHANGE, None)
                if change is not None and change["op"] == EMPTIED:
                    continue  # of a truncated table nobody knows the keys here
                is_gone = change is not None and change["op"] == GONE
                value = None if is_gone else to_json(document)
                yield Message(to_key(document, self._key), value, headers)

    def _retractions(self, rows: Rows, *, until: int) -> Iterator[Message]:
        seen = set()
        for message in self._messages(rows):
            if int(message.headers["weft-knot"]) > until:
                continue
            headers = {"weft-retracts": message.headers["weft-id"]}
            if not self._key:
                yield replace(message, headers=headers)
            elif message.key not in seen:
                seen.add(message.key)
                yield Message(message.key, None, headers)

    def _transact(self, position: Position, messages: Iterator[Message]) -> None:
        """Write the messages and the position together."""
        try:
            self._connected().transact(position, messages)
        except KafkaException as error:
            raise self._failed(error) from error

    def _connected(self) -> _Link:
        if self._fenced is not None:
            raise self._fenced
        if self._link is None:
            try:
                self._link = _Link(self._options, self._target)
            except KafkaException as error:
                raise self._failed(error) from error
        return self._link

    def _failed(self, error: KafkaException) -> SinkError:
        """The error in our words. The connection is not used again: a new one starts clean."""
        reason: KafkaError = error.args[0]
        self._link = None
        subject = f"Kafka topic '{self._options.topic}' at {self._options.servers}"
        if reason.code() in FENCED:
            self._fenced = SinkFencedError(
                f"{subject} is written by another worker now, and this one is shut out.",
                hint="Nothing is to be done if the pipeline moved; else two projects share a name.",
                stream=self._target.stream,
                topic=self._options.topic,
            )
            return self._fenced
        return SinkError(
            f"{subject} did not take the records of stream '{self._target.stream}': "
            f"{reason.str()}.",
            code="sinks.kafka",
            hint="Check that the broker is up and lets this client write. They are sent again.",
            stream=self._target.stream,
            topic=self._options.topic,
        )


class _Link:
    """One life of the transactional producer, and the position read when it began."""

    def __init__(self, options: KafkaOptions, target: Target) -> None:
        # Slashes: no name of ours holds one, so that two targets never share an id.
        name = "/".join(("weft", target.app, target.pipeline, target.stream, options.topic))
        client = {**options.client, "bootstrap.servers": options.servers}
        # What goes wrong with the two that live briefly is raised; they need not log it too.
        quiet = {**client, "log_level": 0}
        self._topic = options.topic
        self._producer = Producer(
            {
                "transaction.timeout.ms": TRANSACTION_MS,
                "linger.ms": 5,
                "compression.type": "zstd",
                **client,
                "transactional.id": name,
            },
            logger=log,
        )
        is_compacted = target.is_current and options.key != ()
        _ensure_topic(options, AdminClient(quiet), COMPACTED if is_compacted else {})
        # Ends what an earlier producer of this name left open: only then is its position final.
        _asked(lambda: self._producer.init_transactions(REPLY_S))
        consumer = Consumer({**quiet, "group.id": name, "enable.auto.commit": False})
        try:
            place = TopicPartition(self._topic, 0)
            kept = _asked(lambda: consumer.committed([place], timeout=REPLY_S))
            self._group = consumer.consumer_group_metadata()
        finally:
            consumer.close()
        self.position = Position.from_offset(kept[0], target.history)

    def transact(self, position: Position, messages: Iterator[Message]) -> None:
        """Write the messages and the position in one transaction."""
        self._producer.begin_transaction()
        for message in messages:
            self._send(message)
        offset = position.to_offset(self._topic)
        producer = self._producer
        _asked(lambda: producer.send_offsets_to_transaction([offset], self._group, REPLY_S))
        _asked(lambda: producer.commit_transaction(TRANSACTION_MS / 1000))
        self.position = position

    def _send(self, message: Message) -> None:
        """Queue a message; while the queue is full, wait for the broker to take some of it."""
        headers: list[tuple[str, str | bytes | None]] = list(message.headers.items())
        while True:
            try:
                self._producer.produce(self._topic, message.value, message.key, headers=headers)
            except BufferError:
                self._producer.poll(0.1)
            else:
                self._producer.poll(0)
                return

    def close(self) -> None:
        """Disconnect; nothing is under way between two transactions."""
        self._producer.close()


def _asked(question: Callable[[], T]) -> T:
    """An answer of the broker, asked again for a while where it says that this may help, as one that starts does."""
    until = time.monotonic() + REPLY_S
    while True:
        try:
            return question()
        except KafkaException as error:
            reason: KafkaError = error.args[0]
            is_passing = reason.retriable() or reason.code() in STARTING
            if not is_passing or time.monotonic() > until:
                raise
            time.sleep(AGAIN_S)


def _ensure_topic(options: KafkaOptions, admin: AdminClient, settings: dict[str, str]) -> None:
    """Create the topic with some settings when it is not there, so that a position can be kept for it."""
    if options.topic in admin.list_topics(timeout=REPLY_S).topics:
        return
    partitions = options.partitions or -1
    topic = NewTopic(options.topic, partitions, replication_factor=-1, config=settings)
    for created in admin.create_topics([topic]).values():
        try:
            created.result(REPLY_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
