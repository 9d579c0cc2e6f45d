"""A sink that writes the files of each knot to a Kafka topic, in transactions that hold their position too.

The files are shared out to slots, and tasks on the executors send them: the records are made and sent by the kernel
(`weft.kernel.sink`). Where a slot stands is committed as the offset of a consumer group that nobody joins, in the
transaction that holds its records: both are there or neither is, and a new worker reads how far the topic has come.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from weft.declared.key import Key
from weft.declared.limit import TEXT, Limit, Mistake, names, settings, whole
from weft.schema.change import CHANGE
from weft.sinks.options import Options
from weft.sinks.position import Position, slots_of, spread
from weft.sinks.rows import RowFile, Rows
from weft.sinks.sink import Promise, Sink, SinkError, SinkFencedError, Target
from weft.sinks.topic import Outgoing, Share, Topic, UnsentError

REPLY_S = 30.0
PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0
MOST_TRIES = 5
MOST_SLOTS = 100
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
    """Writes each knot to a topic, file by file from the executors. Exactly once, for readers of what is committed.

    With one slot a knot appears as a whole. With several, each sends some of its files in a transaction of its own, and
    they appear slot by slot.
    """

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
    slots: Annotated[
        int | None,
        Key(
            whole(1, MOST_SLOTS),
            "How many tasks send at once, each in a transaction of its own. One keeps the order of records across the "
            "files of a knot; changing streams always have one.",
            1,
            unsaid="the project's `parallelism`",
        ),
    ] = None
    client: Annotated[
        Mapping[str, str | int | float | bool],
        Key(
            settings("a mapping of settings of the Kafka client"),
            "Settings of Kafka's own Java client, handed on as they are.",
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


class KafkaSink:
    """Exactly once for readers with `isolation.level=read_committed`.

    Opening it claims every slot: that ends the transactions of an earlier worker and shuts that one out. After a
    failure they are claimed anew, which settles which transactions count.
    """

    promise: Promise = "exactly once"

    def __init__(self, options: KafkaOptions, target: Target) -> None:
        self._options = options
        self._target = target
        self._key = target.key if options.key is None else options.key
        # Of two rows with one key, the one that comes last counts: no slot may overtake another.
        is_ordered = CHANGE in target.columns
        self._slots = 1 if is_ordered else options.slots or min(target.parallelism, MOST_SLOTS)
        self._position: Position | None = None
        self._fenced: SinkFencedError | None = None
        assert target.spark is not None
        self._topic = Topic(
            target.spark,
            options.topic,
            # Slashes: no name of ours holds one, so that two targets never share an id.
            name="/".join(("weft", target.app, target.pipeline, target.stream, options.topic)),
            client={**_patience(options), **options.client, "bootstrap.servers": options.servers},
        )
        self._claimed()

    def deliver(self, knot: int, rows: Rows) -> None:
        """Write the records of a knot, without the files of it that the topic has."""
        if not rows.count:
            return
        position = self._claimed()
        sizes = [1] if rows.files is None else [file.bytes for file in rows.files]
        left = {place: sizes[place] for place in position.left(knot, len(sizes))}
        after, shares = position, []
        for slot, places in enumerate(spread(left, self._slots)):
            if places:
                after = after.sending(slot, knot, places, len(sizes))
                shares.append(
                    Share(slot, position.to_offset(slot), after.to_offset(slot), tuple(places))
                )
        if shares:
            self._send(rows, shares, self._outgoing(), after)

    def delivered(self) -> int | None:
        """The last knot whose records are in the topic."""
        return self._claimed().whole_knot

    def retract(self, knots: range, rows: Rows) -> None:
        """Write a tombstone for each key of these knots, or without keys each record once more with
        the header `weft-retracts`. What had not reached the topic is left out. Keys of a changing stream
        get what they had before."""
        position = self._claimed()
        last = position.knot
        if not knots or last is None or knots[0] > last:
            return
        if position.has_retracted(knots[0], knots[-1]):
            return
        after = position.retracting(knots[0], knots[-1])
        if rows.before is not None:
            self._send_whole(rows.before, self._outgoing(), position, after)
        else:
            arrived = _arrived(rows.files, position, last)
            self._send_whole(rows, self._outgoing(retracts=last), position, after, arrived)

    def restore(self, knot: int, rows: Rows) -> None:
        """Write the records of a knot again, if they were taken back."""
        position = self._claimed()
        if position.has_retracted(knot, knot):
            self._send_whole(rows, self._outgoing(), position, position.restoring(knot))

    def close(self) -> None:
        """Let go of the connections."""
        if self._position is not None:
            self._topic.release(self._position.claim)
            self._position = None

    def _outgoing(self, *, retracts: int | None = None) -> Outgoing:
        return Outgoing(self._target.columns, tuple(self._key), retracts)

    def _send_whole(
        self,
        rows: Rows,
        outgoing: Outgoing,
        position: Position,
        after: Position,
        places: Sequence[int] | None = None,
    ) -> None:
        """Send rows in one transaction of the first slot, which speaks for all."""
        chosen = range(len(rows.files or ())) if places is None else places
        share = Share(0, position.to_offset(0), after.to_offset(0), tuple(chosen))
        self._send(rows, [share], outgoing, after)

    def _send(
        self, rows: Rows, shares: Sequence[Share], outgoing: Outgoing, after: Position
    ) -> None:
        """Have shares sent until all are; whatever goes wrong, what the topic has by then is asked anew."""
        self._position = None
        try:
            self._insist(rows, shares, outgoing, after.claim)
        except BaseException:
            self._topic.release(after.claim)
            raise
        self._position = after

    def _insist(self, rows: Rows, shares: Sequence[Share], outgoing: Outgoing, claim: str) -> None:
        pause, tries = PAUSE_S, 0
        left = list(shares)
        while left:
            try:
                answers = self._topic.send(claim, rows, left, outgoing)
            except UnsentError as error:
                raise self._failed(error.message) from error
            outcomes = [answer.outcome for answer in answers]
            if "fenced" in outcomes:
                raise self._shut_out()
            reasons = [answer.reason for answer in answers if answer.outcome == "refused"]
            tries += "again" in outcomes
            if reasons or tries > MOST_TRIES:
                raise self._failed((reasons or ["another sender came between again and again"])[0])
            left = [
                share for share, outcome in zip(left, outcomes, strict=True) if outcome != "done"
            ]
            if left:
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)

    def _claimed(self) -> Position:
        """Where the slots stand; they are claimed first if they are not."""
        if self._fenced is not None:
            raise self._fenced
        if self._position is None:
            try:
                self._position = self._claim()
            except UnsentError as error:
                raise self._failed(error.message) from error
        return self._position

    def _claim(self) -> Position:
        """Shut out whoever sent before, then read what they have sent, then say so in every slot.

        A task that another worker has left behind may come between; it is shut out the next time.
        """
        is_compacted = self._target.is_current and self._options.key != ()
        self._topic.create(self._options.partitions, COMPACTED if is_compacted else {})
        for _ in range(MOST_TRIES):
            claim = uuid.uuid4().hex
            kept = self._topic.claim(claim, [0])
            count = max(slots_of(kept[0]), self._slots)
            kept += self._topic.claim(claim, range(1, count))
            position = Position.from_offsets(kept, self._target.history).claiming(claim, count)
            if self._topic.settle(claim, [position.to_offset(slot) for slot in range(count)]):
                return position
            self._topic.release(claim)
        raise self._shut_out()

    def _shut_out(self) -> SinkFencedError:
        self._fenced = SinkFencedError(
            f"{self._subject} is written by another worker now, and this one is shut out.",
            hint="Nothing is to be done if the pipeline moved; else two projects share a name.",
            stream=self._target.stream,
            topic=self._options.topic,
        )
        return self._fenced

    @property
    def _subject(self) -> str:
        return f"Kafka topic '{self._options.topic}' at {self._options.servers}"

    def _failed(self, reason: str) -> SinkError:
        """The error in our words."""
        return SinkError(
            f"{self._subject} did not take the records of stream '{self._target.stream}': "
            f"{reason.rstrip('.')}.",
            code="sinks.kafka",
            hint="Check that the broker is up and lets this client write. They are sent again.",
            stream=self._target.stream,
            topic=self._options.topic,
        )


def _patience(options: KafkaOptions) -> dict[str, int]:
    """How long the client waits for answers, in so far as the options do not say."""
    unsaid = ["max.block.ms"]
    if (
        "request.timeout.ms" not in options.client
    ):  # which must not be longer than that of all requests of a call
        unsaid += ["request.timeout.ms", "default.api.timeout.ms"]
    return dict.fromkeys(unsaid, round(REPLY_S * 1000))


def _arrived(
    files: Sequence[RowFile] | None, position: Position, last: int
) -> Sequence[int] | None:
    """Which of some files are in the topic, of the last knot perhaps not all; None for rows in memory."""
    if files is None:
        return None
    count = sum(file.knot == last for file in files)
    left = position.left(last, count)
    return [
        number
        for number, file in enumerate(files)
        if file.knot < last or (file.knot == last and file.place not in left)
    ]
