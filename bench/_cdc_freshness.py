"""How old a document is when it can be read: from the commit of a change in PostgreSQL to the product's topic.

Debezium tells the changes, Weft makes the documents as in the example `user-profile`, and a reader of Kafka, who takes
only what is committed, notes when each is there.
"""

from __future__ import annotations

import re
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import OFFSET_END, Consumer, TopicPartition

from bench._cdc_data import TABLES, Change, Size, World
from bench._cdc_postgres import fill, statement
from bench._cdc_weft import EXAMPLE, PRODUCT, Weft, example, written
from bench._report import Figures, percentile, say
from weft.servers.connect import Connect
from weft.servers.kafka import Kafka
from weft.servers.postgres import Postgres

SIZE, QUICK_SIZE = Size(2_000, hot=2_000), Size(200, hot=200)
PER_SECOND = 2_000
TICK_S = 0.01
SECONDS, QUICK_SECONDS = 20, 5
WARM = 2
"""Runs before the one that counts, in which code is compiled."""
LIMIT_S = 300.0
TITLE = re.compile(rb'"title": ?"title (\d+)"')


class Reader(threading.Thread):
    """Reads documents, and notes when it first saw each title of a pull request."""

    def __init__(self, kafka: Kafka) -> None:
        super().__init__(daemon=True)
        self.seen: dict[int, float] = {}
        self.documents = 0
        self._ended = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": kafka.servers,
                "group.id": "freshness",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 5,
                "log_level": 0,
            }
        )
        partitions = self._consumer.list_topics(PRODUCT).topics[PRODUCT].partitions
        self._consumer.assign([TopicPartition(PRODUCT, one, OFFSET_END) for one in partitions])

    def run(self) -> None:
        while not self._ended.is_set():
            messages = self._consumer.consume(1000, timeout=0.005)
            now = time.monotonic()
            self.documents += len(messages)
            for message in messages:
                for number in TITLE.findall(message.value() or b""):
                    self.seen.setdefault(int(number), now)

    def stop(self) -> None:
        """Read no more."""
        self._ended.set()
        self.join()
        self._consumer.close()


class Titles:
    """When each title of a pull request was committed, and which later one took its place."""

    def __init__(self) -> None:
        self._committed: dict[int, float] = {}
        self._of_pull: dict[int, list[int]] = {}

    def note(self, changes: list[Change], at: float) -> None:
        """Changes were committed at a time."""
        for change in changes:
            if change.table == "pull_request":
                number = int(change.row["title"].removeprefix("title "))
                self._committed[number] = at
                self._of_pull.setdefault(change.row["index"], []).append(number)

    def latencies(self, seen: dict[int, float]) -> list[float | None]:
        """Seconds from each commit until a document had its title or a later one; None where none has it yet."""
        found: list[float | None] = []
        for numbers in self._of_pull.values():
            there: float | None = None
            for number in reversed(numbers):
                times = [one for one in (there, seen.get(number)) if one is not None]
                there = min(times, default=None)
                found.append(None if there is None else there - self._committed[number])
        return found


def freshness(quick: bool) -> Figures:
    """Milliseconds from commit to document that 95 of 100 changes do not exceed."""
    world = World(QUICK_SIZE if quick else SIZE)
    with ExitStack() as stack:
        made = tempfile.TemporaryDirectory(prefix="weft-bench-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(made))
        postgres = stack.enter_context(Postgres(folder / "postgres"))
        postgres.run((EXAMPLE / "schema.sql").read_text().partition("insert into")[0])
        fill(postgres, world)
        kafka = stack.enter_context(Kafka(folder / "kafka"))
        connect = stack.enter_context(Connect(folder / "connect", kafka))
        connect.register_postgres("app", postgres, [f"public.{table}" for table in TABLES])
        say("freshness  the servers run, and Debezium follows the tables")
        weft = stack.enter_context(Weft(folder / "weft", example(kafka, sinks=True)))
        weft.settle(written(kafka))
        say("freshness  all rows are documents")
        reader = Reader(kafka)
        stack.callback(reader.stop)
        reader.start()
        for _ in range(WARM):
            _follow(postgres, world, reader, seconds=QUICK_SECONDS)
        taken = _follow(postgres, world, reader, seconds=QUICK_SECONDS if quick else SECONDS)
    return {"freshness_p95_ms": round(percentile(taken, 0.95) * 1000)}


def _follow(postgres: Postgres, world: World, reader: Reader, *, seconds: int) -> list[float]:
    """Make changes for so long; says after how many seconds each title was in a document."""
    titles = Titles()
    documents = reader.documents
    took = _change(postgres, world.changes(PER_SECOND * seconds), titles)
    limit = time.monotonic() + LIMIT_S
    while None in (found := titles.latencies(dict(reader.seen))):
        if time.monotonic() > limit:
            raise TimeoutError(f"{found.count(None)} changes of {len(found)} are in no document")
        time.sleep(0.5)
    taken = [one for one in found if one is not None]
    middle, late, last = (percentile(taken, share) * 1000 for share in (0.5, 0.95, 1.0))
    say(
        f"freshness  {PER_SECOND * seconds / took:,.0f} changes a second for {took:.0f} s, "
        f"{reader.documents - documents:,} documents: {middle:,.0f} ms in the middle, {late:,.0f} ms at 95 of 100, "
        f"{last:,.0f} ms at most"
    )
    return taken


def _change(postgres: Postgres, changes: list[Change], titles: Titles) -> float:
    """Make changes at the rate of the bench, a few in each transaction; says how many seconds it took."""
    at_once = round(PER_SECOND * TICK_S)
    began = time.monotonic()
    with postgres.connect() as connection:
        for tick, first in enumerate(range(0, len(changes), at_once)):
            time.sleep(max(0.0, began + tick * TICK_S - time.monotonic()))
            some = changes[first : first + at_once]
            with connection.transaction():
                with connection.pipeline():
                    for change in some:
                        connection.execute(*statement(change), prepare=True)
                # Before the commit is sent: what it takes itself counts too.
                at = time.monotonic()
            titles.note(some, at)
    return time.monotonic() - began
