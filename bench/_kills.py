"""Random kills of workers and the weaver while records come in without a pause and clients change what runs.

Two workers share the pipelines; whatever is killed is started again at once, as its supervisor would. Meanwhile several
clients roll back, attach, promote, retire, apply, abort and retry (`_clients.py`).
"""

from __future__ import annotations

import copy
import random
import tempfile
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from bench._clients import Answers, Client, Gate
from bench._report import Figures, percentile, say
from bench._steady import Feeder
from tests.faults.cluster import Cluster
from weft.lineage.knot import Knot
from weft.loading.load import load

BASE = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = 6
WINDOW_S = 10
RECOVERY_LIMIT_S = 300.0
COUNT = 200

PROJECT: dict[str, Any] = {
    "app_name": "kills",
    "processing": {"parallelism": 1, "checkpoint_interval": 0.25},
    "watermarks": {"delay_seconds": 0, "idle_seconds": 86400},
    "streams": {
        "orders": {
            "source": {"mock": {}},
            "schema": {"id": "long", "country": "string", "total": "integer", "at": "timestamp"},
            "key": "id",
            "event_time": "at",
        }
    },
    "pipelines": {
        # A total of 0 cannot be divided by: such an order is a dead letter of this pipeline.
        "clean": {
            "from": "orders",
            "steps": [{"set": {"share": "100 / total"}}],
            "to": "clean-orders",
        },
        "german": {
            "from": "clean-orders",
            "steps": [{"filter": "country = 'de'"}],
            "to": "german",
        },
        "counts": {
            "from": "clean-orders",
            "window": {"type": "tumbling", "size_ms": WINDOW_S * 1000},
            "by": ["country"],
            "aggregate": {"orders": "count(*)"},
            "to": "counts",
        },
        "french": {
            "from": "clean-orders",
            "steps": [{"filter": "country = 'fr'"}],
            "to": "french",
        },
    },
}
TIED = ("orders", "clean-orders", "german", "french", "counts")
CLIENTS = 3


def versions() -> list[dict[str, Any]]:
    """The project, and others that differ from it in nothing that is compared."""
    without, marked, divided, counted = (copy.deepcopy(PROJECT) for _ in range(4))
    del without["pipelines"]["french"]
    marked["pipelines"]["german"]["steps"].append({"set": {"mark": "'marked'"}})
    divided["pipelines"]["clean"]["steps"] = [{"set": {"share": "100 / total + 1"}}]
    # Windows cannot go on with another aggregate: this one is made again from recorded input.
    counted["pipelines"]["counts"]["aggregate"] = {"orders": "count(id)"}
    return [load(form).to_dict() for form in (PROJECT, without, marked, divided, counted)]


def order(number: int) -> dict[str, Any]:
    """An order a second; every ninth total is 0."""
    at = (BASE + timedelta(seconds=number)).isoformat()
    country = "fr" if number % 3 else "de"
    return {"id": number, "country": country, "total": number % 9, "at": at}


def kills(quick: bool) -> Figures:
    """What is lost, doubled or unbalanced after random kills, and how long a recovery takes."""
    count = 6 if quick else COUNT
    chance = random.Random(20260101)
    with (
        tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch,
        Cluster(PROJECT, Path(scratch) / "storage") as cluster,
    ):
        for _ in range(2):
            cluster.start_worker()
        # So many that work is always in hand, so few that a recovery is not catching up.
        feeder = Feeder(cluster, rows=ROWS, make=order, bad=True, pause_s=1.0, most_waiting=3)
        feeder.start()
        _await_through(cluster, feeder.feed())
        gate, answers, projects = Gate(), Answers(), versions()
        clients = [
            Client(cluster, projects, name=f"client-{n}", gate=gate, answers=answers)
            for n in range(1, CLIENTS + 1)
        ]
        for client in clients:
            client.start()
        recoveries = []
        for number in range(1, count + 1):
            gate.open()
            time.sleep(chance.uniform(0, 1.5 if chance.random() < 0.7 else 8.0))
            victim = chance.choice((*cluster.workers, cluster.weaver))
            began = time.monotonic()
            victim.kill()
            if victim is cluster.weaver:
                cluster.start_weaver()
            else:
                cluster.workers.remove(victim)
                cluster.start_worker()
            # Else the next one comes before all is well.
            if chance.random() < 0.75 or number == count:
                gate.close()
                _await_through(cluster, feeder.feed())
                recoveries.append(time.monotonic() - began)
                say(f"kills      {number}: {victim.name}, well after {recoveries[-1]:.1f} s")
        gate.open()
        for client in clients:
            client.end()
        feeder.stop()
        left = _settle(cluster, projects[0])
        lost, doubled = compare(cluster, feeder.fed * ROWS, feeder.fed)
        unbalanced = sum(_is_unbalanced(knot) for s in TIED for knot in cluster.all_knots(s))
        findings = [str(finding) for finding in cluster.verify()]
        for line in (*findings, *answers.errors, *left):
            say(f"kills      {line}")
        for answer, times in sorted(answers.counts.items()):
            say(f"kills      {times:4} x {answer}")
    return {
        "kills": count,
        "lost": lost,
        "doubled": doubled,
        "unbalanced": unbalanced,
        "findings": len(findings),
        "operations_left": len(left),
        "errors": len(answers.errors),
        "recovery_p95_s": round(percentile(recoveries, 0.95), 2),
    }


def _settle(cluster: Cluster, project: dict[str, Any]) -> list[str]:
    """Deploy the project as it was once all operations are over, and wait until everything has gone all the way.

    Returns the operations that are left, and the pipelines that are held by none.
    """

    def are_over() -> bool:
        open_ones = cluster.api.get("/operations?open=true").raise_for_status().json()
        return all(one["status"] == "failed" for one in open_ones)

    with suppress(TimeoutError):
        cluster.wait(are_over, "all operations are over", timeout=RECOVERY_LIMIT_S)
    # A rollback that a guard asks for may begin at any moment; the deployment is refused meanwhile.
    cluster.wait(lambda: _is_deployed(cluster, project), "the project is deployed again")
    with suppress(TimeoutError):
        cluster.settle(timeout=RECOVERY_LIMIT_S)
    left = cluster.api.get("/operations?open=true").raise_for_status().json()
    known = {one["id"] for one in left}
    pipelines = cluster.api.get("/pipelines").raise_for_status().json()
    return [f"{one['id']} is {one['status']}: {one['error']}" for one in left] + [
        f"{one['id']} is held by {one['operation']}, which is over"
        for one in pipelines
        if one["operation"] and one["operation"] not in known
    ]


def _is_deployed(cluster: Cluster, project: dict[str, Any]) -> bool:
    answer = cluster.api.put("/project?recompute=true", json=project)
    return answer.is_success


def compare(cluster: Cluster, fed: int, batches: int) -> tuple[int, int]:
    """Rows that should be in a stream and are not, and rows that are there too often, over all streams."""
    good = [n for n in range(fed) if n % 9]
    panes = Counter((n // WINDOW_S * WINDOW_S, order(n)["country"]) for n in good)
    closed = {pane: rows for pane, rows in panes.items() if pane[0] + WINDOW_S <= fed - 1}
    expected: dict[str, Counter[Any]] = {
        "orders": Counter(range(fed)),
        "orders.dead": Counter(f"unreadable {n * ROWS}".encode() for n in range(batches)),
        "clean-orders": Counter(good),
        "clean-orders.dead": Counter({"dead": fed - len(good)}),
        "german": Counter(n for n in good if order(n)["country"] == "de"),
        "french": Counter(n for n in good if order(n)["country"] == "fr"),
        "counts": Counter((*pane, rows) for pane, rows in closed.items()),
    }
    lost = 0
    doubled = _twice_beside(cluster)
    for stream, wanted in expected.items():
        found = Counter(_identity(stream, row) for row in cluster.rows(stream))
        lost += (wanted - found).total()
        doubled += (found - wanted).total()
        if wanted != found:
            say(f"kills      {stream}: -{wanted - found} +{found - wanted}")
    return lost, doubled


def _twice_beside(cluster: Cluster) -> int:
    """Rows that a side stream has more than once."""
    twice = 0
    for stream in cluster.api.get("/streams").raise_for_status().json():
        if stream["kind"] == "side":
            found = Counter(
                _identity(stream["origin"], row) for row in cluster.rows(stream["name"])
            )
            more = found - Counter(set(found))
            twice += more.total()
            if more:
                say(f"kills      {stream['name']}: +{more}")
    return twice


def _identity(stream: str, row: dict[str, Any]) -> Any:
    if stream == "counts":
        start = int((row["window"]["start"] - BASE).total_seconds())
        return (start, row["country"], row["orders"])
    if stream == "orders.dead":
        return row["raw"]
    return "dead" if stream.endswith(".dead") else row["id"]


def _await_through(cluster: Cluster, fed: int) -> None:
    """Wait until a micro-batch has gone through every pipeline."""
    through = {"orders": 0}

    def is_through() -> bool:
        with suppress(httpx.HTTPError):
            if cluster.consumed("orders") < fed:
                return False
            through["orders"] = through["orders"] or _head(cluster, "orders")["number"]
            clean = _head(cluster, "clean-orders")
            if _consumed(clean, "orders") < through["orders"]:
                return False
            through.setdefault("clean-orders", clean["number"])
            return all(
                _consumed(_head(cluster, stream), "clean-orders") >= through["clean-orders"]
                for stream in ("german", "counts")
            )
        return False

    cluster.wait(is_through, f"micro-batch {fed} goes all the way", timeout=RECOVERY_LIMIT_S)


def _head(cluster: Cluster, stream: str) -> dict[str, Any]:
    """The newest live knot; number 0 when there is none."""
    return cluster.head(stream) or {"number": 0, "offsets": {"inputs": {}}}


def _consumed(knot: dict[str, Any], stream: str) -> int:
    return int(knot["offsets"]["inputs"].get(stream, 0))


def _is_unbalanced(knot: dict[str, Any]) -> bool:
    return bool(Knot.from_dict(knot).ledger.missing())
