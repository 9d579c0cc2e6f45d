"""A storm of attachments, promotions and retirements over a running stream, with kills: every row must have been
woven by exactly the rules that its knot names.

Rules write their ids into a column of the rows they touch, so a row tells which rules it has met.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
from deltalake import DeltaTable

from bench._report import Figures, say
from bench._share import is_taken
from bench._steady import Feeder
from tests.faults.cluster import Cluster

PARTITIONS = 4
SIDES = ("left", "right")
KILL_SHARE = 0.05
Stamped = tuple[str, int, int, str]
"""A row: its stream, its knot, its id, and the rules that it has met."""

PROJECT = {
    "app_name": "storm",
    "processing": {"parallelism": PARTITIONS, "checkpoint_interval": 0.0},
    "streams": {
        "orders": {
            "source": {"mock": {}},
            "schema": {"id": "long", "woven": "string"},
            "key": "id",
        }
    },
}


class Storm:
    """Random changes to the rules of one stream and its two side streams."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self._cluster = cluster
        self._chance = chance
        self._made = 0
        self.versions: dict[str, dict[str, Any]] = {}
        """Every version of every rule that may be in a knot, by its hash."""

    def change(self) -> str:
        """Attach, promote or retire a rule; says what was done."""
        active = self._active()
        act = self._chance.choice(("attach", "attach", "promote", "retire"))
        if len(active) > 8:
            act = "retire"
        if act == "attach" or not active:
            return self._attach(active)
        rule = self._chance.choice(active)
        if act == "retire":
            return self._ask(f"/rules/{rule['id']}/retire", {})
        if rule["output"] and self._chance.random() < 0.5:
            return self._ask(f"/rules/{rule['id']}/promote", {"in_place": True})
        return self._ask(f"/rules/{rule['id']}/promote", {"percent": self._chance.choice((30, 70))})

    def learn(self) -> None:
        """Take in every rule as it is now, also those whose answer got lost."""
        for rule in self._rules():
            self.versions[rule["version"]] = rule

    def _attach(self, active: list[dict[str, Any]]) -> str:
        self._made += 1
        name = f"r{self._made}"
        beside = [rule["output"] for rule in active if rule["output"]]
        free = [side for side in SIDES if side not in beside]
        output = self._chance.choice(free) if free and self._chance.random() < 0.4 else None
        stream = "orders"
        if output is None and beside and self._chance.random() < 0.3:
            stream = self._chance.choice(beside)
        body = {"stream": stream, "id": name, "output": output}
        body |= {"percent": self._chance.choice((100, 100, 50))}
        return self._ask(
            "/rules", {**body, "steps": [{"set": {"woven": f"concat(woven, ',{name}')"}}]}
        )

    def _ask(self, path: str, body: dict[str, Any]) -> str:
        try:
            answer = self._cluster.api.post(path, json=body)
        except httpx.TransportError:
            self._cluster.wait(self._is_well, "the weaver answers")
            self.learn()
            return f"{path} got no answer"
        if answer.is_success:
            rule = answer.json()
            self.versions[rule["version"]] = rule
        elif answer.status_code not in (409, 503):
            raise RuntimeError(f"{path}: {answer.text}")
        return f"{path} {answer.status_code}"

    def _is_well(self) -> bool:
        try:
            return self._cluster.api.get("/health").is_success
        except httpx.TransportError:
            return False

    def _active(self) -> list[dict[str, Any]]:
        return [rule for rule in self._rules() if rule["status"] == "active"]

    def _rules(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._cluster.api.get("/rules").raise_for_status().json()
        return found


def storm(quick: bool) -> Figures:
    """Rows that were woven by other rules than their knot names."""
    changes = 20 if quick else 200
    chance = random.Random(7)
    with (
        tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch,
        Cluster(PROJECT, Path(scratch) / "storage", master="local[2]") as cluster,
    ):
        cluster.start_worker()
        feeder = Feeder(cluster, rows=16, partitions=PARTITIONS, make=_record)
        feeder.start()
        cluster.wait(lambda: cluster.consumed("orders") > 0, "the first knot is tied")
        weather = Storm(cluster, chance)
        kills = starts = 0
        for number in range(1, changes + 1):
            if chance.random() < KILL_SHARE:
                kills += 1
                starts += _kill(cluster, chance)
            say(f"storm      {number}: {weather.change()}")
            time.sleep(chance.uniform(0, 0.3))
        feeder.stop()
        cluster.settle()
        weather.learn()
        violations, rows = _violations(cluster, weather.versions)
        restarts = max(0, _queries_started(cluster) - 1 - starts)
        say(f"storm      {rows} rows, {violations} violations, {kills} kills, {restarts} restarts")
    return {"cut_violations": violations, "restarts": restarts}


def _record(number: int) -> dict[str, Any]:
    return {"id": number, "woven": ""}


def _kill(cluster: Cluster, chance: random.Random) -> int:
    """Kill the worker or the weaver and start it again; says how many queries that restarts."""
    if chance.random() < 0.4:
        cluster.weaver.kill()
        cluster.start_weaver()
        return 0
    [worker] = cluster.workers
    worker.kill()
    cluster.workers.remove(worker)
    cluster.start_worker()
    return 1


def _queries_started(cluster: Cluster) -> int:
    logs = Path(cluster.storage.root).glob("worker-*.log")
    return sum(log.read_text().count("pipeline orders runs") for log in logs)


def _violations(cluster: Cluster, versions: dict[str, dict[str, Any]]) -> tuple[int, int]:
    """Rows that are not where and as the rules of their knot say, and how many rows there are."""
    knots = {knot["number"]: knot for knot in cluster.all_knots("orders")}
    found: Counter[Stamped] = Counter()
    for stream in ("orders", *SIDES):
        found.update((stream, *row) for row in _stamped(cluster, stream))
    expected: Counter[Stamped] = Counter()
    for number, key, _ in _stamped(cluster, "orders"):  # no rule drops a row, so all are here
        rules = [
            {**versions[ref["version"]], "id": ref["id"], "percent": ref["percent"]}
            for ref in knots[number]["rules"]
        ]
        woven: dict[str, list[str]] = {}
        _weave("orders", key, "", rules, woven)
        expected.update((s, number, key, stamp) for s in woven for stamp in woven[s])
    for row in (found - expected) + (expected - found):
        say(f"storm      {'too much' if row in found else 'missing'}: {row}")
    return (found - expected).total() + (expected - found).total(), found.total()


def _stamped(cluster: Cluster, stream: str) -> list[tuple[int, int, str]]:
    """Knot, id and stamp of every row of a stream."""
    folder = Path(cluster.storage.table(stream))
    if not folder.exists():
        return []
    rows = DeltaTable(str(folder)).to_pyarrow_table().select(["id", "woven", "_weft"]).to_pylist()
    return [(row["_weft"]["knot"], row["id"], row["woven"]) for row in rows]


def _weave(
    stream: str, key: int, woven: str, rules: list[dict[str, Any]], found: dict[str, list[str]]
) -> None:
    """What becomes of a row in a stream and in the side streams, by stream."""
    for rule in rules:
        if rule["stream"] != stream or not is_taken(rule["id"], rule["percent"], key):
            continue
        changed = f"{woven},{rule['id']}"
        if rule["output"] is None:
            woven = changed
        else:
            _weave(rule["output"], key, changed, rules, found)
    found.setdefault(stream, []).append(woven)
