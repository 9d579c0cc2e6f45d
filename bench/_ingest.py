"""JSON records through four steps into a stream, in one worker: one turn after the other, each on a storage of its own.

What a turn takes is counted from the moment at which the records are there to the commit of the last of them.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench._cpu import cpu_seconds
from bench._input import SCHEMA
from tests.faults.cluster import Cluster
from weft.runtime import spine, weaving
from weft.runtime.worker import Worker

STREAM = "orders"
LIMIT_S = 1800.0
STEPS: list[Any] = [
    {"filter": "total > 0"},
    {"set": {"email": "lower(email)", "net": "round(total / 1.19, 2)"}},
    {"set": {"rated": "rating >= 2.5"}},
    {"set": {"city": "upper(city)"}},
]


@dataclass(frozen=True)
class Turn:
    """What one turn took: seconds by the clock and of the processors, and the rows of each stream that it wrote."""

    wall_s: float
    cpu_s: float
    rows: dict[str, int]


def write_records(folder: Path, *, files: int, rows: int) -> list[Path]:
    """Files of JSON records with twelve columns."""
    folder.mkdir(parents=True)
    dice = random.Random(7)
    written = []
    for number in range(files):
        path = folder / f"{number:04d}.json"
        with path.open("w") as lines:
            for order in range(number * rows, (number + 1) * rows):
                lines.write(_record(order, dice))
        written.append(path)
    return written


def _record(order: int, dice: random.Random) -> str:
    price, quantity = dice.randrange(100, 10_000), dice.randrange(9)
    note = f'"please ring twice, order {order}"' if order % 3 == 0 else "null"
    seconds = order // 1000
    return (
        f'{{"id":{order},"email":"User{dice.randrange(100_000)}@Example.org",'
        f'"country":"{dice.choice(("de", "fr", "it", "es"))}","city":"city-{dice.randrange(1000)}",'
        f'"product":"product {dice.randrange(5000)}","quantity":{quantity},"price":"{price / 100:.2f}",'
        f'"total":"{price * quantity / 100:.2f}","rating":{dice.randrange(50) / 10},"note":{note},'
        f'"paid":{"true" if order % 2 else "false"},'
        f'"at":"2026-01-{1 + seconds // 86400:02d}T{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:'
        f'{seconds % 60:02d}.{order % 1000:03d}Z"}}\n'
    )


def project(folder: Path, *, rows: int, provenance: Any) -> dict[str, Any]:
    """A stream that is read from files, of as many records a batch."""
    return {
        "app_name": "bench",
        "processing": {"parallelism": 2, "checkpoint_interval": 0.0, "queue_size": rows},
        "streams": {
            STREAM: {
                "source": {"files": {"path": str(folder), "settle_ms": 0}},
                "schema": SCHEMA,
                "key": "id",
                "event_time": "at",
                "provenance": provenance,
            }
        },
    }


@contextmanager
def hashes(wanted: bool) -> Iterator[None]:
    """Have the spine hash what it writes, or not."""
    usual: Callable[..., spine.Written] = spine.write
    weaving.spine.write = partial(usual, hashed=wanted)
    try:
        yield
    finally:
        weaving.spine.write = usual


def take_turn(
    spark: SparkSession, root: Path, records: list[Path], *, rows: int, provenance: Any
) -> Turn:
    """Read the records through the steps, and wait for the last of them."""
    folder = root / "incoming"
    folder.mkdir(parents=True)
    cluster = Cluster(project(folder, rows=rows, provenance=provenance), root / "storage")
    worker = Worker(spark, cluster.address, cluster.storage)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    try:
        rule = {"stream": STREAM, "id": "four", "steps": STEPS}
        cluster.wait(
            lambda: not cluster.api.post("/rules", json=rule).is_error, "a worker is there"
        )
        cluster.api.post("/checkpoint").raise_for_status()  # the first knot is tied: it runs
        before, began = cpu_seconds(), time.perf_counter()
        for path in records:
            os.link(path, folder / path.name)
        written = _await(cluster, len(records) * rows)
        return Turn(time.perf_counter() - began, cpu_seconds() - before, written)
    finally:
        worker.stop()
        thread.join()
        cluster.__exit__()


def _await(cluster: Cluster, wanted: int) -> dict[str, int]:
    """The rows of each stream once so many records were taken."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        asked = {"stream": STREAM, "limit": 1000}
        knots = cluster.api.get("/knots", params=asked).raise_for_status().json()
        if sum(knot["ledger"]["in"] for knot in knots) >= wanted:
            rows: dict[str, int] = {}
            for knot in knots:
                for stream, output in knot["outputs"].items():
                    rows[stream] = rows.get(stream, 0) + output["rows"]
            return rows
        time.sleep(0.02)
    raise TimeoutError(f"{wanted} records were not taken within {LIMIT_S:.0f} s")
