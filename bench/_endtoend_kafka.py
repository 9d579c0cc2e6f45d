"""Kafka in, a window, Kafka out at a fixed rate: how long after its end a pane can be read.

Events carry the time at which they were sent, so a pane could be out as soon as the first event behind its end and the
delay of watermarks has come. A pane counts from there to the moment at which a reader of what is committed has it. A
side whose counts are not those of the events that were sent ends the bench.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from confluent_kafka import Consumer, Producer

from bench._endtoend_data import line
from bench._endtoend_sides import ROOT, SideError, start, stop
from bench._report import Figures, percentile, say
from weft.servers.kafka import Kafka
from weft.servers.process import free_port

RATE, QUICK_RATE = 2_000, 500
KEYS = 100
SIZE_MS = 1_000
DELAY_MS = 1_000
PARTITIONS = 2
TICK_S = 0.005
BEGIN_S = 180.0
"""So long a side may take to its first pane."""
WARM_S, MEASURED_S = 45.0, 60.0
LAST_S = 30.0
"""So long after the last event its pane is waited for."""
CHECKPOINTS = "1 s"
IN, OUT = "events", "panes"
MILLISECONDS = 1000
Pane = tuple[int, int]
"""The start of a window in milliseconds, and a key."""


class KafkaSide(Protocol):
    """One way from topic to topic."""

    def command(self, root: Path, servers: str) -> list[str]:
        """What is started."""

    def start_ms(self, value: dict[str, Any]) -> int:
        """When the window of a pane begins."""


class WeftTopics:
    """A project with a source, a window and a sink, run by `weft up`; exactly once. As with the others, a batch follows
    the one before it at once."""

    def command(self, root: Path, servers: str) -> list[str]:
        project = {
            "app_name": "bench",
            "processing": {"checkpoint_interval": 0},
            "streams": {
                IN: {
                    "source": {"kafka": {"servers": servers, "topic": IN}},
                    "schema": {"key": "long", "value": "long", "at": "timestamp"},
                    "event_time": "at",
                    "watermarks": {"delay_seconds": DELAY_MS / MILLISECONDS},
                }
            },
            "pipelines": {
                "windows": {
                    "from": IN,
                    "window": {"type": "tumbling", "size_ms": SIZE_MS},
                    "by": ["key"],
                    "aggregate": {"n": "count(*)", "s": "sum(value)"},
                    "to": OUT,
                    "sinks": [{"kafka": {"servers": servers, "topic": OUT}}],
                }
            },
        }
        (root / "weft.yaml").write_text(json.dumps(project))
        return [sys.executable, "-m", "weft.cli", "up", str(root), "--port", str(free_port())]

    def start_ms(self, value: dict[str, Any]) -> int:
        return _milliseconds(value["window"]["start"])


class SparkTopics:
    """The same by hand in PySpark; at least once, which is what its sink has."""

    def command(self, root: Path, servers: str) -> list[str]:
        asked = {**_job(root), "servers": servers, "topics": [IN, OUT]}
        return [sys.executable, "-m", "bench._endtoend_stock", json.dumps(asked)]

    def start_ms(self, value: dict[str, Any]) -> int:
        return _milliseconds(value["start"])


class FlinkTopics:
    """The same in Flink SQL; at least once, since exactly once lets panes out with its checkpoints only."""

    def __init__(self, python: str, connector: Path) -> None:
        self._python = python
        self._connector = connector

    def command(self, root: Path, servers: str) -> list[str]:
        topic = {
            "connector": "kafka",
            "properties.bootstrap.servers": servers,
            "format": "json",
            "json.timestamp-format.standard": "ISO-8601",
        }
        events = {"topic": IN, "properties.group.id": "bench"}
        asked = {
            **_job(root),
            "backend": "rocksdb",
            "checkpoints": CHECKPOINTS,
            "settings": {"pipeline.jars": self._connector.as_uri()},
            "events": {**topic, **events, "scan.startup.mode": "earliest-offset"},
            "panes": {**topic, "topic": OUT},
        }
        return [self._python, str(ROOT / "bench" / "_endtoend_flink.py"), json.dumps(asked)]

    def start_ms(self, value: dict[str, Any]) -> int:
        return _milliseconds(value["start"])


def latencies(side: KafkaSide, root: Path, *, quick: bool) -> list[float]:
    """Milliseconds from when a pane could be out to when it is read, of each pane of the time that counts."""
    root.mkdir()
    (root / "kafka").mkdir()
    with Kafka(root / "kafka") as kafka:
        kafka.create_topic(IN, partitions=PARTITIONS)
        kafka.create_topic(OUT)
        process = start(side.command(root, kafka.servers), root / "said")
        try:
            with (
                _sent(kafka.servers, QUICK_RATE if quick else RATE) as (sent, stopping),
                _read(kafka.servers, side) as (panes, first),
            ):
                if not first.wait(BEGIN_S):
                    raise SideError(f"no pane came: {(root / 'said').read_text()[-2000:]}")
                warm, measured = (10.0, 15.0) if quick else (WARM_S, MEASURED_S)
                time.sleep(warm)
                begin_ms = round(time.time() * MILLISECONDS)
                time.sleep(measured)
                end_ms = round(time.time() * MILLISECONDS)
                counted = {
                    pane: count
                    for pane, count in _copied(sent)
                    # Of the window that is open now not all events are sent yet.
                    if begin_ms <= pane[0] < end_ms - SIZE_MS
                }
                found = _awaited(counted, panes)
                stopping.set()
        finally:
            stop(process)
    wrong = [pane for pane in counted if pane not in found or found[pane][0] != counted[pane]]
    if wrong:
        raise SideError(
            f"{len(wrong)} of {len(counted)} panes are missing or wrong, such as {wrong[0]}: "
            f"{counted[wrong[0]]} events were sent, and found was {found.get(wrong[0])}"
        )
    shutil.rmtree(root)
    return [found[pane][1] - (pane[0] + SIZE_MS + DELAY_MS) for pane in counted]


def summed_up(name: str, taken: list[float]) -> tuple[float, float]:
    """The median and the 99th percentile of a side, which are said too."""
    p50, p99 = statistics.median(taken), percentile(taken, 0.99)
    say(f"kafka      {name:8} p50 {p50:6.0f} ms, p99 {p99:6.0f} ms of {len(taken):,} panes")
    return p50, p99


def figures(taken: dict[str, list[float]]) -> Figures:
    """Ours in milliseconds, and theirs over ours."""
    known = {name: summed_up(name, values) for name, values in taken.items()}
    p50, p99 = known["weft"]
    found: Figures = {"kafka_p50_ms": round(p50), "kafka_p99_ms": round(p99)}
    for name in ("spark", "flink"):
        found[f"kafka_p50_vs_{name}"] = round(known[name][0] / p50, 2)
        found[f"kafka_p99_vs_{name}"] = round(known[name][1] / p99, 2)
    return found


@contextmanager
def _sent(servers: str, rate: int) -> Iterator[tuple[Counter[Pane], threading.Event]]:
    """Send events at a rate until the end; how many went into each pane is counted as they are sent."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 2, "log_level": 0})
    sent: Counter[Pane] = Counter()
    stopping = threading.Event()

    def send() -> None:
        began, number = time.time(), 0
        while not stopping.wait(TICK_S):
            now = time.time()
            while number < (now - began) * rate:
                at_ms, key = round(now * MILLISECONDS), number % KEYS
                value = line(key, number, at_ms).rstrip()
                producer.produce(IN, value, partition=number // KEYS % PARTITIONS)
                sent[at_ms // SIZE_MS * SIZE_MS, key] += 1
                number += 1
            producer.poll(0)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        yield sent, stopping
    finally:
        stopping.set()
        thread.join()
        producer.flush()


@contextmanager
def _read(
    servers: str, side: KafkaSide
) -> Iterator[tuple[dict[Pane, tuple[int, float]], threading.Event]]:
    """Read panes as they come: the count of each, and when it was there."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 10,
            "log_level": 0,
        }
    )
    consumer.subscribe([OUT])
    panes: dict[Pane, tuple[int, float]] = {}
    first, stopping = threading.Event(), threading.Event()

    def read() -> None:
        while not stopping.is_set():
            for message in consumer.consume(1000, 0.01):
                content = message.value()
                if message.error() is None and content is not None:
                    value = json.loads(content)
                    at_ms = time.time() * MILLISECONDS
                    pane = (side.start_ms(value), value["key"])
                    panes.setdefault(pane, (value["n"], at_ms))
                    first.set()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield panes, first
    finally:
        stopping.set()
        thread.join()
        consumer.close()


def _awaited(
    wanted: dict[Pane, int], panes: dict[Pane, tuple[int, float]]
) -> dict[Pane, tuple[int, float]]:
    """What was read once all that is wanted is there, or nothing more is waited for."""
    deadline = time.monotonic() + LAST_S
    while time.monotonic() < deadline and not all(pane in panes for pane in wanted):
        time.sleep(0.1)
    return dict(_copied(panes))


def _copied(growing: Any) -> list[Any]:
    """The items of a dictionary that a thread adds to."""
    while True:
        try:
            return list(growing.items())
        except RuntimeError:  # it grew meanwhile
            continue


def _milliseconds(text: str) -> int:
    """A time as a side writes it, in milliseconds; times without a zone are UTC."""
    moment = text if text[-1] == "Z" or "+" in text else f"{text}Z"
    return round(datetime.fromisoformat(moment).timestamp() * MILLISECONDS)


def _job(root: Path) -> dict[str, Any]:
    return {"root": str(root), "size_ms": SIZE_MS, "slide_ms": SIZE_MS, "delay_ms": DELAY_MS}
