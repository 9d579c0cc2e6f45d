"""What grows while a project runs: files, the weaver's store, the time of a batch, memory, from an early knot on.

`python -m bench.soak [--quick] [--only soak]`. Real processes: a weaver, a worker with its JVM, three pipelines, one of
them a window, small batches, compaction and retention on. `SOAK_KNOTS=1500,300` runs to another knot from another base.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil

from bench._report import Figures, Measure, run, say
from tests.faults.cluster import Cluster
from weft.sources.segment import Segments

KNOTS, BASE_KNOT = 10_000, 2_000
QUICK_KNOTS, QUICK_BASE = 360, 180
ROWS = 20
AROUND = 60
"""So many knots of each stream around a mark are its batch time."""
MOST_WAITING = 4
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
STREAMS = ("orders", "clean-orders", "counts")
KEEP = {"keep_mb": 1, "keep_knots": 100}
EVERY = 200
"""After so many knots the streams are trimmed and compacted; a weaver that runs for days does so every few minutes."""

PROJECT: dict[str, Any] = {
    "app_name": "soak",
    "processing": {
        "parallelism": 1,
        "checkpoint_interval": 0,
        "keyframes": {"every": 100, "budget_mb": 1},
        "compaction": {"every": 0, "apart": 50, "grace_seconds": 10},
    },
    "watermarks": {"delay_seconds": 0, "idle_seconds": 86400},
    "streams": {
        "orders": {
            "source": {"mock": {}},
            "schema": {"id": "long", "country": "string", "total": "integer", "at": "timestamp"},
            "key": "id",
            "event_time": "at",
            "history": KEEP,
        },
        "clean-orders": {"history": KEEP},
        "counts": {"history": KEEP},
    },
    "pipelines": {
        "clean": {
            "from": "orders",
            "steps": [{"filter": "total > 0"}],
            "to": "clean-orders",
        },
        "counts": {
            "from": "clean-orders",
            "window": {"type": "tumbling", "size_ms": 60_000},
            "by": ["country"],
            "aggregate": {"orders": "count(*)", "total": "sum(total)"},
            "to": "counts",
        },
    },
}


@dataclass(frozen=True)
class Sample:
    """What there was at a mark."""

    knots: int
    files: int
    bytes: int
    store_bytes: int
    batch_ms: float
    weaver: int
    worker: int
    jvm: int


def order(number: int) -> dict[str, Any]:
    """An order a second."""
    at = (BEGAN + timedelta(seconds=number)).isoformat()
    country = ("de", "fr", "pl")[number % 3]
    return {"id": number, "country": country, "total": number % 9, "at": at}


def soak(quick: bool) -> Figures:
    """The end over the base, each as a ratio; memory is the worst of the three processes."""
    knots, base = (QUICK_KNOTS, QUICK_BASE) if quick else (KNOTS, BASE_KNOT)
    if "SOAK_KNOTS" in os.environ:
        knots, base = map(int, os.environ["SOAK_KNOTS"].split(","))
    with (
        tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch,
        Cluster(PROJECT, Path(scratch) / "storage") as cluster,
    ):
        cluster.start_worker()
        samples = dict(_marks(cluster, knots, base))
        cluster.settle()
        findings = cluster.verify()
        for finding in findings[:5]:
            say(f"found      {finding}")
    early, late = samples[base], samples[knots]
    memory = [late.weaver / early.weaver, late.worker / early.worker, late.jvm / early.jvm]
    return {
        "files": round(late.files / early.files, 2),
        "store_bytes": round(late.store_bytes / early.store_bytes, 2),
        "storage_bytes": round(late.bytes / early.bytes, 2),
        "batch_ms": round(late.batch_ms / early.batch_ms, 2),
        "memory": round(max(memory), 2),
        "findings": len(findings),
    }


def _marks(cluster: Cluster, knots: int, base: int) -> Iterator[tuple[int, Sample]]:
    """Feed until so many knots are tied, and sample at the base, at the end and a few times between."""
    marks = sorted({*range(EVERY, knots, EVERY), base, knots})
    fed = 0
    for mark in marks:
        while (tied := _tied(cluster)) < mark:
            while fed - cluster.consumed("orders") < MOST_WAITING:
                first = fed * ROWS
                records = [order(number) for number in range(first, first + ROWS)]
                fed = cluster.feed("orders", records)
            time.sleep(0.05)
        if mark % EVERY == 0:
            _tidy(cluster, fed)
        sample = _sample(cluster, tied)
        say(f"{mark:10} {sample}")
        yield mark, sample


def _tidy(cluster: Cluster, fed: int) -> None:
    """Let go of old rows and knots, put files together, and remove what the bench fed long ago."""
    Segments(f"{cluster.storage.source('orders')}/feed").prune(before=fed - EVERY)
    for name in STREAMS:
        for what in ("trim", "compact"):
            answer = cluster.api.post(f"/history/{name}/{what}").raise_for_status().json()
            if answer["status"] not in ("done", "nothing"):
                say(f"{what:10} {name}: {answer}")


def _tied(cluster: Cluster) -> int:
    found = [cluster.api.get(f"/streams/{name}").raise_for_status().json() for name in STREAMS]
    return sum(one["knot"] or 0 for one in found)


def _sample(cluster: Cluster, tied: int) -> Sample:
    root = Path(cluster.storage.root)
    files, size = _size(root)
    _, store = _size(Path(cluster.storage.store))
    taken = [k["duration_ms"] for name in STREAMS for k in cluster.knots(name, limit=AROUND)]
    worker = psutil.Process(cluster.workers[0].pid)
    jvm = sum(one.memory_info().rss for one in worker.children(True) if one.name() == "java")
    return Sample(
        knots=tied,
        files=files,
        bytes=size,
        store_bytes=store,
        batch_ms=round(statistics.median(ms for ms in taken if ms is not None), 2),
        weaver=psutil.Process(cluster.weaver.pid).memory_info().rss,
        worker=worker.memory_info().rss,
        jvm=jvm,
    )


def _size(folder: Path) -> tuple[int, int]:
    """The files below a folder and their bytes; some come and go meanwhile."""
    files = size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                continue
            files += 1
    return files, size


PARTS = {
    "soak": Measure(
        ("files", "store_bytes", "storage_bytes", "batch_ms", "memory", "findings"), soak
    )
}

if __name__ == "__main__":
    run("soak", __doc__, PARTS)
