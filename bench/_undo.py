"""A rollback over many knots and rows, against reprocessing them.

The pipelines have run over a prepared input, one knot at a time; what is measured is the time from asking for the
rollback until the first knot after it is tied.
"""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench._hop import weft_session
from bench._input import STREAM, Release, multiply, prepare, project
from bench._report import Figures, say
from tests.faults.cluster import Cluster
from weft.runtime import session
from weft.runtime.worker import Worker

LIMIT_S = 3600.0


def rollback(quick: bool) -> Figures:
    """Seconds that a rollback takes until data flows again, and how much longer reprocessing would."""
    knots, rows = (30, 100) if quick else (1000, 10_000)
    spark = weft_session()
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        prepared, root = Path(scratch) / "input", Path(scratch) / "storage"
        prepare(spark, prepared, knots=1, rows=rows, files=1)
        multiply(prepared, knots=knots + 2)
        release = Release(prepared, root)
        form = project(queue_size=rows)
        form["pipelines"]["german"] = {
            "from": "clean",
            "steps": [{"filter": "country = 'de'"}],
            "to": "german",
        }
        with Cluster(form, root, lease_s=10.0) as cluster:
            cluster.api.post(f"/pipelines/{STREAM}/stop").raise_for_status()
            worker = Worker(spark, cluster.address, cluster.storage)
            thread = threading.Thread(target=worker.run, daemon=True)
            thread.start()
            figures = _measure(cluster, release, knots)
            worker.stop()
            thread.join()
    session.stop(spark)
    return figures


def _measure(cluster: Cluster, release: Release, knots: int) -> Figures:
    release.upto(1)
    _await(cluster, 1)
    began = time.monotonic()
    release.upto(knots + 1)
    _await(cluster, knots + 1)
    processing = time.monotonic() - began
    last = {stream: _head(cluster, stream)["number"] for stream in ("clean", "german")}
    began = time.monotonic()
    body: dict[str, Any] = {"stream": "clean", "to": 1}
    done = cluster.api.post("/rollbacks", json=body, timeout=LIMIT_S).raise_for_status().json()
    asked = time.monotonic() - began
    cluster.wait(
        lambda: all(_head(cluster, stream)["number"] > n for stream, n in last.items()),
        "data flows again",
        timeout=LIMIT_S,
    )
    taken = time.monotonic() - began
    cut = sum(c["last"] - c["cut_after"] for c in done["plan"]["cuts"])
    say(f"rollback   of {cut} knots: {asked:.2f} s, flowing after {taken:.2f} s")
    began = time.monotonic()
    _await(cluster, knots + 1)
    again = time.monotonic() - began
    say(f"rollback   first processing {processing:.1f} s, again {again:.1f} s")
    return {"rollback_s": round(taken, 2), "rollback_gain": round(again / taken, 1)}


def _await(cluster: Cluster, knot: int) -> None:
    """Wait until a knot of the input has gone all the way."""

    def is_through() -> bool:
        clean = _head(cluster, "clean")
        if clean["offsets"]["inputs"].get(STREAM, 0) < knot:
            return False
        german = _head(cluster, "german")
        return bool(german["offsets"]["inputs"].get("clean", 0) >= clean["number"])

    cluster.wait(is_through, f"knot {knot} goes all the way", timeout=LIMIT_S)


def _head(cluster: Cluster, stream: str) -> dict[str, Any]:
    for knot in cluster.knots(stream, limit=5):
        if knot["status"] == "COMPLETE":
            return knot
    return {"number": 0, "offsets": {"inputs": {}}}
