"""A project into which records come without a pause while clients change it, and whether all of it is right at its end.

Whatever is done to its processes meanwhile is another module's: `_kills.py`, `_machines.py`.
"""

from __future__ import annotations

import copy
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from bench._clients import Answers, Client, Gate
from bench._report import Figures, say
from bench._steady import Feeder
from tests.faults.cluster import Cluster
from weft.lineage.knot import Knot
from weft.loading.load import load

BASE = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = 6
WINDOW_S = 10
RECOVERY_LIMIT_S = 300.0

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


class Disturbed:
    """A cluster whose records come in without a pause and whose project several clients change (`_clients.py`), while a
    bench does to its processes what it will. What it says begins with the name of the bench."""

    def __init__(self, cluster: Cluster, part: str) -> None:
        self._cluster = cluster
        self._part = part
        # So many that work is always in hand, so few that a recovery is not catching up.
        self._feeder = Feeder(cluster, rows=ROWS, make=order, bad=True, pause_s=1.0, most_waiting=3)
        self._gate, self._answers, self._projects = Gate(), Answers(), versions()
        self._clients = [
            Client(
                cluster, self._projects, name=f"client-{n}", gate=self._gate, answers=self._answers
            )
            for n in range(1, CLIENTS + 1)
        ]

    def start(self) -> None:
        """Have one micro-batch go all the way, then let records and changes come."""
        self._feeder.start()
        _await_through(self._cluster, self._feeder.feed())
        for client in self._clients:
            client.start()
        self.go_on()

    def go_on(self) -> None:
        """Let clients begin something again."""
        self._gate.open()

    def recover(self) -> None:
        """Let clients begin nothing more, and wait until a new micro-batch has gone all the way."""
        self._gate.close()
        _await_through(self._cluster, self._feeder.feed())

    def end(self) -> Figures:
        """Let everything come to its end: what was lost, doubled, unbalanced, and left behind."""
        self._gate.open()
        for client in self._clients:
            client.end()
        self._feeder.stop()
        left = _settle(self._cluster, self._projects[0])
        lost, doubled = compare(self._cluster, self._feeder.fed)
        knots = [knot for stream in TIED for knot in self._cluster.all_knots(stream)]
        findings = [str(finding) for finding in self._cluster.verify()]
        for line in (*findings, *self._answers.errors, *left):
            say(f"{self._part:10} {line}")
        for answer, times in sorted(self._answers.counts.items()):
            say(f"{self._part:10} {times:4} x {answer}")
        return {
            "lost": lost,
            "doubled": doubled,
            "unbalanced": sum(_is_unbalanced(knot) for knot in knots),
            "findings": len(findings),
            "operations_left": len(left),
            "errors": len(self._answers.errors),
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


def compare(cluster: Cluster, batches: int) -> tuple[int, int]:
    """Rows that should be in a stream and are not, and rows that are there too often, over all streams."""
    fed = batches * ROWS
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
            say(f"{stream}: -{wanted - found} +{found - wanted}")
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
                say(f"{stream['name']}: +{more}")
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
