"""The spine against the same job hand-written in PySpark and Delta, and the weaver against a clock.

`python -m bench.spine [--quick] [--only latency,throughput,growth,pins,cassandra,lineage,storage,sink]`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench import _sink, _storage, _weaver
from bench._input import multiply
from bench._report import Figures, Measure, run, say

REPOSITORY = Path(__file__).resolve().parents[1]
ROUNDS = 3
SMALL_ROWS = 100
WARM = 2
"""Batches at the start of a run that compile code, and count for neither side."""


def hop(**asked: Any) -> dict[str, Any]:
    """One side's run in a process of its own."""
    path = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "src")])
    answer = subprocess.run(
        [sys.executable, "-m", "bench._hop", json.dumps(asked)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=3600,
        env={**os.environ, "PYTHONPATH": path},
        cwd=asked["root"].rsplit("/", 1)[0],
    )
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def alternate(
    sides: tuple[str, str], *, do: str, knots: int, rows: int, files: int, rounds: int
) -> dict[str, float]:
    """The median seconds of each side, turn by turn; their results must be equal."""
    taken: dict[str, list[float]] = {side: [] for side in sides}
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        sizes = {"knots": knots, "rows": rows, "files": files, "input": f"{scratch}/input"}
        hop(do="prepare", root=f"{scratch}/none", **sizes)
        sums: dict[str, Any] = {}
        for turn in range(rounds):
            for side in sides:
                found = hop(do=do, side=side, root=f"{scratch}/{side}-{turn}", **sizes)
                sums[side] = found["checksum"]
                median = statistics.median(found["seconds"][WARM:])
                taken[side].append(median)
                say(f"{do:10} {side:6} {median * 1000:8.1f} ms  {found['checksum']}")
            if len({str(value) for value in sums.values()}) > 1:
                raise RuntimeError(f"the sides differ: {sums}")
    return {side: statistics.median(values) for side, values in taken.items()}


def latency(quick: bool) -> Figures:
    """Stock's time for a small batch over ours, from commit to commit, and ours by itself."""
    knots, rounds = (8, 1) if quick else (60, ROUNDS)
    sides = ("stock", "weft")
    taken = alternate(sides, do="latencies", knots=knots, rows=SMALL_ROWS, files=1, rounds=rounds)
    return {
        "latency_gain": round(taken["stock"] / taken["weft"], 2),
        "hop_ms": round(taken["weft"] * 1000, 1),
    }


def throughput(quick: bool) -> Figures:
    """Our rows per second over those of the job by hand with our settings, at large batches."""
    knots, rows, rounds = (4, 20_000, 1) if quick else (10, 500_000, ROUNDS)
    sides = ("tuned", "weft")
    taken = alternate(sides, do="batches", knots=knots, rows=rows, files=2, rounds=rounds)
    return {"throughput_ratio": round(taken["tuned"] / taken["weft"], 3)}


def growth(quick: bool) -> Figures:
    """The time of a batch around knot 3,000 over that around knot 100."""
    early, late, around = (20, 60, 10) if quick else (100, 3000, 50)
    knots = late + around
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        sizes = {"rows": SMALL_ROWS, "files": 1, "input": f"{scratch}/input"}
        hop(do="prepare", root=f"{scratch}/none", knots=1, **sizes)
        multiply(Path(sizes["input"]), knots=knots)
        found = hop(do="batches", side="weft", root=f"{scratch}/weft", knots=knots, **sizes)
    # Means: a file's time is only known to a few milliseconds, which is much of a small batch.
    at = {n: statistics.fmean(found["seconds"][n - around : n + around]) for n in (early, late)}
    say(f"growth     {at[early] * 1000:.1f} ms at {early}, {at[late] * 1000:.1f} ms at {late}")
    return {"growth": round(at[late] / at[early], 2)}


PARTS = {
    "latency": Measure(("latency_gain", "hop_ms"), latency),
    "throughput": Measure(("throughput_ratio",), throughput),
    "growth": Measure(("growth",), growth),
    "pins": Measure(("pins_per_s", "knots_per_s"), _weaver.pins),
    "cassandra": Measure(("cassandra_pins_per_s", "cassandra_knots_per_s"), _weaver.shared_pins),
    "lineage": Measure(("lineage_ms",), _weaver.lineage),
    "storage": Measure(("storage_s3_ratio",), _storage.storage),
    "sink": Measure(("kafka_sink_rows_per_s", "kafka_sink_gain"), _sink.sink),
}

if __name__ == "__main__":
    run("spine", __doc__, PARTS)
