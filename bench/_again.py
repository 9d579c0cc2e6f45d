"""A long stream asked about its past: how long one record takes to explain, and how fast knots are run again.

Live speed is that of the same knots when they were tied, from their own records; the same worker runs them again.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench._report import Figures, say
from tests.faults.cluster import Cluster
from weft.runtime import session
from weft.runtime.worker import Worker

KNOTS = 1_000
ROWS = 50_000_000
ROUNDS = 5
LIMIT_S = 3_600.0


def project(rows: int, knots: int) -> dict[str, Any]:
    """Made-up orders as fast as they can be made, in as many knots, through two steps into a second stream."""
    return {
        "app_name": "bench",
        "processing": {
            "parallelism": 2,
            "checkpoint_interval": 0.0,
            "queue_size": rows // knots,
        },
        "streams": {
            "orders": {
                "source": {"mock": {"rate": "max", "events": rows}},
                "schema": {"id": "long", "country": "string", "total": "double", "at": "timestamp"},
                "key": "id",
                "event_time": "at",
            }
        },
        "pipelines": {
            "clean": {
                "from": "orders",
                "steps": [{"filter": "total > 0"}, {"set": {"country": "upper(country)"}}],
                "to": "clean-orders",
            }
        },
    }


def again(quick: bool) -> Figures:
    """Explain records and replay knots of a stream of a thousand knots."""
    rows, knots = (200_000, 20) if quick else (ROWS, KNOTS)
    spark = session.create("local[2]", app="bench")
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        cluster = Cluster(project(rows, knots), Path(scratch) / "storage")
        worker = Worker(spark, cluster.address, cluster.storage)
        thread = threading.Thread(target=worker.run, daemon=True)
        thread.start()
        try:
            _wait(cluster, rows)
            return _asked(cluster, rows)
        finally:
            worker.stop()
            thread.join()
            cluster.__exit__()
            session.stop(spark)


def _wait(cluster: Cluster, rows: int) -> None:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        newest = cluster.api.get("/knots", params={"stream": "clean-orders", "limit": 1}).json()
        taken = newest[0]["offsets"]["inputs"]["orders"] if newest else 0
        head = cluster.api.get("/knots", params={"stream": "orders", "limit": 1}).json()
        done = head[0]["offsets"]["to"][0]["record"] if head else 0
        say(f"made       {done:,} of {rows:,}")
        if done >= rows and taken == head[0]["number"]:
            return
        time.sleep(5)
    raise TimeoutError("the stream was not made in time")


def _asked(cluster: Cluster, rows: int) -> Figures:
    explained = []
    for number in range(ROUNDS):
        place = (number + 1) * rows // (2 * ROUNDS + 2)
        began = time.perf_counter()
        found = cluster.api.get(f"/records/clean-orders/orders/0/{place}", timeout=300)
        if found.status_code == 404:  # its total was not above 0
            found = cluster.api.get(f"/records/clean-orders/orders/0/{place + 1}", timeout=300)
        found.raise_for_status()
        if found.json()["explained"]["parents"][0]["source"] is None:
            raise RuntimeError("the record was not explained")
        explained.append(time.perf_counter() - began)
        say(f"explained  {explained[-1]:.2f} s")
    live = cluster.api.get("/knots", params={"stream": "clean-orders", "limit": 10}).json()
    live_s = sum(knot["duration_ms"] for knot in live) / 1000
    speed = sum(knot["ledger"]["in"] for knot in live) / live_s
    ratios = []
    for _ in range(ROUNDS):
        asked = {"stream": "clean-orders", "after": live[-1]["previous"], "wait_s": 600}
        found = cluster.api.post("/replays", json=asked, timeout=600).raise_for_status().json()
        if not found["verified"]:
            raise RuntimeError(f"the replay differs: {found['first']}")
        [leg] = found["legs"]
        ratios.append(leg["rows"] / leg["seconds"] / speed)
        say(
            f"replayed   {leg['rows']:,} rows in {leg['seconds']} s, {ratios[-1]:.2f} of live speed"
        )
    return {
        "explain_s": round(statistics.median(explained), 2),
        "replay_ratio": round(statistics.median(ratios), 2),
    }
