"""Rules while data flows: whether each is cut at one knot, how soon it works, what it costs, how fast it is undone.

`python -m bench.weaving [--quick] [--only storm,attach,idle,rollback]`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from bench import _storm
from bench._report import Figures, Measure, percentile, run, say
from bench._steady import Feeder
from bench._undo import rollback
from bench.spine import ROUNDS, alternate
from tests.faults.cluster import Cluster

PROJECT: dict[str, Any] = {
    "app_name": "attach",
    "processing": {"parallelism": 2},
    "streams": {
        "orders": {"source": {"mock": {}}, "schema": {"id": "long", "woven": "string"}, "key": "id"}
    },
}


def attach(quick: bool) -> Figures:
    """Batches that begin from asking for a rule to its first woven row, that one included."""
    count = 3 if quick else 100
    with (
        tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch,
        Cluster(PROJECT, Path(scratch) / "storage", master="local[2]") as cluster,
    ):
        cluster.start_worker()
        feeder = Feeder(cluster, rows=10, make=lambda number: {"id": number, "woven": ""})
        feeder.start()
        cluster.wait(lambda: cluster.consumed("orders") > 1, "the stream flows")
        batches = []
        for number in range(count):
            name = f"rule-{number}"
            before = cluster.api.get("/streams/orders").raise_for_status().json()["last_number"]
            steps = [{"set": {"woven": f"'{name}'"}}]
            body = {"stream": "orders", "id": name, "steps": steps}
            cluster.api.post("/rules", json=body).raise_for_status()
            first = _first_woven(cluster, name)
            cluster.api.post(f"/rules/{name}/retire").raise_for_status()
            batches.append(float(first - before))
            say(f"attach     {number}: woven in batch {batches[-1]:.0f}")
        feeder.stop()
    return {"attach_batches_p95": percentile(batches, 0.95)}


def _first_woven(cluster: Cluster, rule: str) -> int:
    """The first knot with rows that a rule has woven."""
    found: list[int] = []

    def is_woven() -> bool:
        found[:] = [
            knot["number"]
            for knot in cluster.knots("orders", limit=20)
            if knot["status"] == "COMPLETE"
            and knot["ledger"]["out"]
            and any(ref["id"] == rule for ref in knot["rules"])
        ]
        return bool(found)

    cluster.wait(is_woven, f"{rule} weaves a row")
    return min(found)


def idle(quick: bool) -> Figures:
    """Throughput with ten rules that touch nothing over throughput with none."""
    knots, rows, rounds = (4, 20_000, 1) if quick else (10, 500_000, ROUNDS)
    taken = alternate(
        ("weft", "ruled"), do="batches", knots=knots, rows=rows, files=2, rounds=rounds
    )
    return {"idle_rules_ratio": round(taken["weft"] / taken["ruled"], 3)}


PARTS = {
    "storm": Measure(("cut_violations", "restarts"), _storm.storm),
    "attach": Measure(("attach_batches_p95",), attach),
    "idle": Measure(("idle_rules_ratio",), idle),
    "rollback": Measure(("rollback_s", "rollback_gain"), rollback),
}

if __name__ == "__main__":
    run("weaving", __doc__, PARTS)
