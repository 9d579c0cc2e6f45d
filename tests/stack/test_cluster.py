"""A cluster of real processes: executors that are not the driver, killed, added and taken away; rows, ledgers and
hashes are those of one process."""

from __future__ import annotations

import json
import os
import signal
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.faults.cluster import Cluster
from tests.spark.projects import CLEAN, REVENUE, as_set, orders, shop
from tests.stack.servers import Kafka
from weft.servers.s3 import S3
from weft.servers.spark import SparkCluster
from weft.testing import play

pytestmark = pytest.mark.timeout(900)

BATCHES = 8
STREAMS = ("orders", "clean-orders", "marked", "revenue", "orders.dead")
TIED = ("orders", "clean-orders", "marked", "revenue")
EXECUTOR = {"spark.executor.cores": "1", "spark.executor.memory": "700m"}
FUNCTION = """
import weft


@weft.function(adds={"mark": "string"})
def mark(record: dict) -> dict:
    return {**record, "mark": f"{record['country']}-{record['id'] % 3}"}
"""


def batch(number: int) -> list[object]:
    return [*orders(number * 4, 4), f"bad {number}"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shop with a window and a function in Python, in a folder of its own."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "marks.py").write_text(FUNCTION)
    marked = {"from": "clean-orders", "steps": [{"function": "marks:mark"}], "to": "marked"}
    written = shop(clean=CLEAN, revenue=REVENUE, marked=marked)
    (folder / "project.yaml").write_text(yaml.safe_dump(written))
    return folder / "project.yaml"


@pytest.fixture(scope="module")
def undisturbed(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What one process makes of it."""
    with play(project, storage=tmp_path_factory.mktemp("undisturbed")) as run:
        for number in range(BATCHES):
            run.feed("orders", batch(number))
        return {
            "rows": {stream: as_set(run.rows(stream)) for stream in STREAMS},
            "told": {
                stream: told(run.api.get("/knots", params={"stream": stream}).json())
                for stream in TIED
            },
        }


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    folder = tmp_path_factory.mktemp("machines")
    with SparkCluster(folder, workers=2, cores=2, memory="1500m") as running:
        yield running


def told(knots: list[dict[str, Any]]) -> list[Any]:
    """What knots say of their data: ledgers, rows and hashes, oldest first."""
    return [
        (
            knot["ledger"],
            {name: (one["rows"], one["hash"]) for name, one in knot["outputs"].items()},
        )
        for knot in reversed(knots)
        if knot["status"] == "COMPLETE"
    ]


def assert_as_in_one_process(cluster: Cluster, undisturbed: dict[str, dict[str, Any]]) -> None:
    cluster.settle()
    assert {name: as_set(cluster.rows(name)) for name in STREAMS} == undisturbed["rows"]
    assert {name: told(cluster.knots(name)) for name in TIED} == undisturbed["told"]
    assert cluster.verify() == []


@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_executors_and_the_driver_die_and_nothing_is_lost_or_doubled(
    project: Path,
    machines: SparkCluster,
    undisturbed: dict[str, dict[str, Any]],
    tmp_path: Path,
    s3: S3,
    kind: str,
) -> None:
    shared = tmp_path / "storage" if kind == "folder" else s3.address(tmp_path.name)
    home = None if kind == "folder" else tmp_path / "home"
    with Cluster(
        project, shared, home=home, master=machines.address, executors="2", conf=EXECUTOR
    ) as cluster:
        worker = cluster.start_worker()
        cluster.feed("orders", batch(0))
        cluster.settle()
        assert len(machines.executors()) == 2
        for number in (1, 2):
            cluster.feed("orders", batch(number))
            os.kill(machines.executors()[0], signal.SIGKILL)
            cluster.settle()
        worker.plan("kill", "write")
        cluster.feed("orders", batch(3))
        cluster.wait(lambda: not worker.is_alive, "the driver dies")
        cluster.start_worker()
        for number in range(4, BATCHES):
            cluster.feed("orders", batch(number))
        cluster.settle()
        head = cluster.head("orders")
        assert head is not None
        answer = cluster.api.post(
            "/rollbacks", json={"stream": "orders", "to": head["number"] - 3}, timeout=300
        )
        assert answer.is_success, answer.text
        cluster.settle()
        assert {name: as_set(cluster.rows(name)) for name in STREAMS} == undisturbed["rows"]
        assert cluster.verify() == []


PAGES = """
import json
import os

from pyspark import TaskContext

from weft.sinks import EventSink


class Pages(EventSink):
    parallel = True

    def __init__(self, folder):
        self.folder = folder

    def write(self, records, knot, file):
        assert TaskContext.get() is not None
        path = os.path.join(self.folder, f"{knot}-{file}.json")
        with open(path + ".part", "w") as page:
            json.dump([record["id"] for record in records], page)
        os.replace(path + ".part", path)

    def retract(self, records):
        gone = {record["id"] for record in records}
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            with open(path) as page:
                kept = [number for number in json.load(page) if number not in gone]
            with open(path, "w") as page:
                json.dump(kept, page)

    def close(self):
        pass
"""


def test_executors_send_to_kafka_and_to_a_sink_of_the_project(
    kafka: Kafka, machines: SparkCluster, tmp_path: Path
) -> None:
    """While executors and the driver are killed, each record arrives once, and a rollback takes its records back."""
    pages = tmp_path / "pages"
    pages.mkdir()
    (tmp_path / "pages_sink.py").write_text(PAGES)
    topic = f"cluster-{uuid.uuid4()}"
    to_kafka = {"kafka": {"topic": topic, "servers": kafka.servers, "slots": 2, "key": []}}
    to_pages = {"python": {"class": "pages_sink:Pages", "folder": str(pages)}}
    sent = {"from": "orders", "to": "sent", "sinks": [to_kafka, to_pages]}
    (tmp_path / "project.yaml").write_text(yaml.safe_dump(shop(sent=sent)))

    def arrived() -> list[int]:
        found = []
        for message in kafka.consume(topic):
            number = message.document["id"]
            found.remove(number) if "weft-retracts" in message.headers else found.append(number)
        return sorted(found)

    def written() -> list[int]:
        return sorted(one for page in pages.glob("*.json") for one in json.loads(page.read_text()))

    with Cluster(
        tmp_path / "project.yaml",
        tmp_path / "storage",
        master=machines.address,
        executors="2",
        conf=EXECUTOR,
    ) as cluster:
        worker = cluster.start_worker()
        cluster.feed("orders", orders(0, 6), partitions=2)
        cluster.settle()
        assert (arrived(), written()) == ([*range(6)], [*range(6)])
        cluster.feed("orders", orders(6, 6), partitions=2)
        os.kill(machines.executors()[0], signal.SIGKILL)
        cluster.settle()
        worker.plan("kill", "deliver")
        cluster.feed("orders", orders(12, 6), partitions=2)
        cluster.wait(lambda: not worker.is_alive, "the driver dies")
        cluster.start_worker()
        cluster.settle()
        assert (arrived(), written()) == ([*range(18)], [*range(18)])
        head = cluster.head("sent")
        assert head is not None
        asked = {"stream": "sent", "to": head["number"] - 1}
        answer = cluster.api.post("/rollbacks", json=asked, timeout=300)
        assert answer.is_success, answer.text
        cluster.settle()
        assert (arrived(), written()) == ([*range(18)], [*range(18)])


def test_executors_are_added_and_taken_away_under_a_window(
    project: Path, machines: SparkCluster, undisturbed: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    shared = tmp_path / "storage"
    with Cluster(
        project, shared, master=machines.address, executors="1..3", conf=EXECUTOR
    ) as cluster:
        worker = cluster.start_worker()
        cluster.feed("orders", batch(0))
        cluster.settle()
        assert len(machines.executors()) == 1
        wanted = {1: 3, 3: 1}
        for number in range(1, BATCHES):
            if number in wanted:
                worker.plan("executors", str(wanted[number]))
            cluster.feed("orders", batch(number))
            if number in wanted:
                cluster.wait(
                    lambda n=wanted[number]: len(machines.executors()) == n,
                    f"there are {wanted[number]} executors",
                )
            cluster.settle()  # A window that is behind would make one knot of several.
        assert_as_in_one_process(cluster, undisturbed)
        taken_away_during_a_rollback_and_a_replay(cluster, machines)
        assert {name: as_set(cluster.rows(name)) for name in STREAMS} == undisturbed["rows"]
        assert cluster.verify() == []


def taken_away_during_a_rollback_and_a_replay(cluster: Cluster, machines: SparkCluster) -> None:
    """Two executors of three go, one of them killed as it is let go, while rows are cut, read again and replayed."""
    [worker] = cluster.workers
    worker.plan("executors", "3")
    cluster.wait(lambda: len(machines.executors()) == 3, "there are 3 executors")
    heads = {name: cluster.head(name) for name in ("orders", "clean-orders")}
    number = {name: head["number"] for name, head in heads.items() if head is not None}
    rollback = {"stream": "orders", "to": number["orders"] - 3, "queue": True}
    replay = {"stream": "clean-orders", "after": 0, "upto": number["clean-orders"] - 4}
    with ThreadPoolExecutor(2) as asking:
        replayed = asking.submit(
            cluster.api.post, "/replays", json={**replay, "wait_s": 300}, timeout=400
        )
        rolled = asking.submit(cluster.api.post, "/rollbacks", json=rollback, timeout=400)
        worker.plan("executors", "1")
        with suppress(ProcessLookupError):  # it went by itself
            os.kill(machines.executors()[-1], signal.SIGKILL)
        assert rolled.result().is_success, rolled.result().text
        found = replayed.result()
    assert found.is_success and found.json()["verified"], found.text
    cluster.wait(lambda: len(machines.executors()) == 1, "there is 1 executor")
    cluster.settle()
