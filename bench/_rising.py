"""A load that doubles within a minute, on a real cluster: once with days behind it on each of which it did so, and
once without any past, so that the reactive rule decides.

Records come through Kafka, and each keeps an executor waiting for a while: it is executors that there may be too few
of, not the machine's cores. These days are written into the history of load as the weaver would have recorded it.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from confluent_kafka import Producer

from bench._report import Figures, say
from weft.clock import ManualClock, parse_iso
from weft.scaling.history import LoadPoint
from weft.servers.kafka import Kafka
from weft.servers.process import LOOPBACK, ServerProcess, free_port
from weft.servers.spark import SparkCluster
from weft.streams.storage import Storage
from weft.weaver.loads import Loads
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.records import Records
from weft.weaver.store.rocks import RocksStore
from weft.weaver.store.store import Write, key_range

WAIT_S = 0.05
"""For so long a record keeps its executor waiting: one serves at most 20 a second, with its batches about 16."""
BASE_RATE = 22.0
"""Two executors are enough for it, and not for twice as much."""
RISE_S = 60.0
BEFORE_S, AFTER_S = 420.0, 120.0
"""From the start of Weft to the rise, and from its end on."""
HELD_S = 7_200
"""How long the doubled rate went on each day."""
DAYS = 5
MOST_EXECUTORS = 4
PARTITIONS = 4
START_S = 240.0
TICK_S = 0.1
PROJECT: dict[str, Any] = {
    "app_name": "rising",
    "processing": {
        "parallelism": PARTITIONS,
        "checkpoint_interval": 2.0,
        "queue_size": 1_000,
        "scaling": {"objective_seconds": 6, "interval_seconds": 60},
    },
    "streams": {"orders": {"schema": {"id": "long"}, "key": "id"}},
    "pipelines": {
        "served": {"from": "orders", "steps": [{"function": "waiting:serve"}], "to": "served"}
    },
}
FUNCTION = f"""
import time


def serve(record: dict) -> dict:
    time.sleep({WAIT_S})
    return record
"""


@dataclass(frozen=True)
class Rise:
    """When the rate doubles, in seconds since 1970."""

    at_s: float

    def rate(self, at_s: float) -> float:
        """Records a second at a moment of the day of the rise."""
        return BASE_RATE * (1 + min(1.0, max(0.0, (at_s - self.at_s) / RISE_S)))

    def came(self, begin_s: float, end_s: float) -> float:
        """Records between two moments of that day."""
        return BASE_RATE * (end_s - begin_s + self._more(end_s) - self._more(begin_s))

    def _more(self, at_s: float) -> float:
        """What came beyond the base rate up to a moment, in seconds of that rate."""
        passed = max(0.0, at_s - self.at_s)
        rising = min(passed, RISE_S)
        return rising**2 / (2 * RISE_S) + passed - rising


@dataclass(frozen=True)
class Served:
    """How a load was served."""

    by: tuple[str, ...]
    """Who decided from a minute before the rise on."""
    peak_backlog: float
    peak_backlog_s: float
    """What waited, over the rate at which it came."""
    usual_backlog: float
    """The median of what waited before the rise."""
    executors: tuple[tuple[int, int], ...]
    """Seconds from the rise, and how many there were from then on."""


def rising(quick: bool) -> Figures:
    """The highest backlog with a forecast, against the reactive rule's."""
    before, after = (240.0, 60.0) if quick else (BEFORE_S, AFTER_S)
    found = {}
    for name, days in (("forecast", DAYS), ("reactive", 0)):
        with tempfile.TemporaryDirectory(prefix="weft-rising-") as folder:
            found[name] = _serve(Path(folder), days, before, after)
        say(f"{name}: {found[name]}")
    forecast, reactive = found["forecast"], found["reactive"]
    return {
        "backlog_vs_reactive": round(forecast.peak_backlog / reactive.peak_backlog, 3),
        "rising": {
            name: {
                "decided_by": one.by,
                "peak_backlog": round(one.peak_backlog),
                "peak_backlog_s": round(one.peak_backlog_s, 1),
                "usual_backlog": round(one.usual_backlog),
                "executors": one.executors,
            }
            for name, one in found.items()
        },
    }


def _serve(folder: Path, days: int, before_s: float, after_s: float) -> Served:
    (folder / "project").mkdir()
    with (
        Kafka(_made(folder / "kafka")) as kafka,
        SparkCluster(
            _made(folder / "spark"), workers=1, cores=MOST_EXECUTORS, memory="4g"
        ) as machines,
    ):
        topic = kafka.create_topic("orders", partitions=PARTITIONS)
        rise = Rise(time.time() + before_s)
        _remember(folder / "storage", rise, days)
        project = json.loads(json.dumps(PROJECT))
        project["streams"]["orders"]["source"] = {
            "kafka": {"servers": kafka.servers, "topic": topic}
        }
        (folder / "project" / "waiting.py").write_text(FUNCTION)
        (folder / "project" / "weft.yaml").write_text(json.dumps(project))
        with _weft(folder, machines.address) as api, _source(kafka, topic, rise) as written:
            return _watched(api, written, rise, until_s=rise.at_s + RISE_S + after_s)


def _remember(folder: Path, rise: Rise, days: int) -> None:
    """Write days into the history of load, up to now, on which the rate rose at this time of the day."""
    now = datetime.now(UTC)
    memory = MemoryStore()
    loads = Loads(Records(memory), ManualClock(now))
    random = np.random.default_rng(7)
    first = math.ceil(now.timestamp() / 60) - days * 1440
    for minute in range(first, math.floor(now.timestamp() / 60)):
        begin = minute * 60.0
        rose = math.floor((begin + 60 - rise.at_s) / 86_400) * 86_400 + rise.at_s
        mean = Rise(rose).came(begin, begin + 60)
        if begin > rose + HELD_S:
            mean = BASE_RATE * 60
        rate = float(random.poisson(mean)) / 60
        for pipeline in ("orders", "served"):
            loads.add(pipeline, LoadPoint(begin, rate_in=rate))
    store = RocksStore(Path(Storage(str(folder)).store))
    store.apply([Write(key, value) for key, value in memory.scan(key_range("loads"))])
    store.close()


@contextlib.contextmanager
def _weft(folder: Path, master: str) -> Iterator[httpx.Client]:
    process = ServerProcess("weft", _made(folder / "log"))
    port = free_port()
    conf = ("spark.executor.cores=1", "spark.executor.memory=700m", "spark.driver.memory=1g")
    process.start(
        *(sys.executable, "-m", "weft.cli", "up", str(folder / "project" / "weft.yaml")),
        *("--storage", str(folder / "storage"), "--port", str(port), "--metrics-port", "0"),
        *("--master", master, "--executors", f"1..{MOST_EXECUTORS}"),
        *(part for one in conf for part in ("--conf", one)),
    )
    address = f"http://{LOOPBACK}:{port}"
    with httpx.Client(base_url=address, timeout=60, trust_env=False) as api:
        try:
            process.wait_for(lambda: _runs(api), seconds=START_S)
            yield api
        except BaseException:
            say(process.tail())
            raise
        finally:
            process.kill()


def _runs(api: httpx.Client) -> bool:
    try:
        found = api.get("/pipelines").raise_for_status().json()
    except httpx.HTTPError:
        return False
    return bool(found) and all(one["state"] == "running" for one in found)


@contextlib.contextmanager
def _source(kafka: Kafka, topic: str, rise: Rise) -> Iterator[list[int]]:
    """Write records at the rate of each moment, more or less; how many there are is the only value of the list."""
    producer = Producer({"bootstrap.servers": kafka.servers, "linger.ms": 5, "log_level": 0})
    written, stopping = [0], threading.Event()
    began = time.time()
    random = np.random.default_rng(8)

    def write() -> None:
        last = began
        while not stopping.wait(TICK_S):
            now = time.time()
            due, last = random.poisson(rise.came(last, now)), now
            for _ in range(due):
                value = json.dumps({"id": written[0]})
                producer.produce(topic, value, partition=written[0] % PARTITIONS)
                written[0] += 1
            producer.poll(0)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield written
    finally:
        stopping.set()
        thread.join()
        producer.flush()


def _watched(api: httpx.Client, written: list[int], rise: Rise, *, until_s: float) -> Served:
    """Look every second at what waits, until the rise is long over."""
    behind: list[tuple[float, float]] = []
    executors: list[tuple[int, int]] = []
    done: dict[int, int] = {}
    while (now := time.time()) < until_s:
        for knot in _get(api, "/knots?stream=served&limit=100"):
            if knot["status"] == "COMPLETE":
                done[knot["number"]] = knot["ledger"]["in"]
        waits = written[0] - sum(done.values())
        behind.append((now, waits))
        running = sum(one["executors"] or 0 for one in _get(api, "/workers"))
        if not executors or executors[-1][1] != running:
            executors.append((round(now - rise.at_s), running))
            say(f"{executors[-1][0]} s: {running} executors, {waits} wait")
        time.sleep(1.0)
    decided = _get(api, "/scaling/decisions")
    for one in reversed(decided):
        say(f"{parse_iso(one['at']).timestamp() - rise.at_s:.0f} s: {one}")
    near = timedelta(seconds=RISE_S)
    since = datetime.fromtimestamp(rise.at_s, UTC) - near
    peak_at, peak = max(
        (one for one in behind if one[0] > rise.at_s - RISE_S), key=lambda one: one[1]
    )
    usual = [count for at, count in behind if rise.at_s - 90 < at < rise.at_s]
    return Served(
        by=tuple(sorted({one["by"] for one in decided if parse_iso(one["at"]) > since})),
        peak_backlog=peak,
        peak_backlog_s=peak / rise.rate(peak_at),
        usual_backlog=float(np.median(usual)),
        executors=tuple(executors),
    )


def _get(api: httpx.Client, path: str) -> Any:
    return api.get(path).raise_for_status().json()


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
