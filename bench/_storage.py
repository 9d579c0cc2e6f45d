"""Small batches through two pipelines, with storage in a folder and in a bucket of a server on this machine: a part of
`bench.spine`."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bench._report import Figures, say
from tests.faults.cluster import Cluster
from tests.spark.projects import CLEAN, as_set, orders, shop
from weft.servers.s3 import S3

ROWS = 100
WARM = 3
"""Batches at the start of a run that compile code, and count for neither side."""
STREAMS = ("orders", "clean-orders")


def storage(quick: bool) -> Figures:
    """The time of a small batch with storage in a bucket over that in a folder, both through two pipelines."""
    knots, rounds = (5, 1) if quick else (30, 3)
    taken: dict[str, list[float]] = {"folder": [], "bucket": []}
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        (Path(scratch) / "s3").mkdir()
        with S3(Path(scratch) / "s3") as server:
            os.environ.update(server.environment)
            for turn in range(rounds):
                rows: dict[str, Any] = {}
                for side, times in taken.items():
                    home = Path(scratch) / f"{side}-{turn}"
                    address = server.address(home.name) if side == "bucket" else home
                    seconds, rows[side] = _run(home, address, knots)
                    times.append(statistics.median(seconds[WARM:]))
                    say(f"storage    {side:6} {times[-1] * 1000:8.1f} ms")
                if rows["folder"] != rows["bucket"]:
                    raise RuntimeError("the sides differ")
    ratio = statistics.median(taken["bucket"]) / statistics.median(taken["folder"])
    return {"storage_s3_ratio": round(ratio, 2)}


def _run(home: Path, address: Path | str, knots: int) -> tuple[list[float], Any]:
    """The seconds from each batch's records to the rows of the last stream, and all rows."""
    apart = home if isinstance(address, str) else None
    with Cluster(shop(clean=CLEAN), address, home=apart, master="local[2]") as cluster:
        cluster.start_worker()
        seconds = []
        for number in range(knots):
            began = time.perf_counter()
            cluster.feed("orders", orders(number * ROWS, ROWS))
            cluster.settle()
            seconds.append(time.perf_counter() - began)
        return seconds, {stream: as_set(cluster.rows(stream)) for stream in STREAMS}
