"""Real processes, real signals: whatever dies or sleeps, each record is in each stream once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.cluster import Cluster, Process
from tests.spark.projects import CLEAN, REVENUE, as_set, orders, shop
from weft.runtime.faults import POINTS
from weft.testing import play

pytestmark = pytest.mark.timeout(900)  # processes start slowly where many tests run at once

PROJECT = shop(clean=CLEAN, revenue=REVENUE)
STREAMS = ("orders", "clean-orders", "revenue", "orders.dead")
TIED = ("orders", "clean-orders", "revenue")
BATCHES = 2 * len(POINTS)


def batch(number: int) -> list[object]:
    return [*orders(number * 4, 4), f"bad {number}"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Every stream of a run in which nothing died."""
    with play(PROJECT, storage=tmp_path_factory.mktemp("undisturbed")) as run:
        for number in range(BATCHES):
            run.feed("orders", batch(number))
        return {stream: as_set(run.rows(stream)) for stream in STREAMS}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(PROJECT, tmp_path / "storage") as running:
        yield running


def assert_as_if_nothing_had_happened(cluster: Cluster, undisturbed: dict[str, list[str]]) -> None:
    cluster.settle()
    assert {stream: as_set(cluster.rows(stream)) for stream in STREAMS} == undisturbed
    for stream in TIED:
        knots = cluster.knots(stream)
        assert [knot["number"] for knot in knots] == list(range(len(knots), 0, -1))
        assert {knot["status"] for knot in knots} == {"COMPLETE"}
    assert cluster.verify() == []


def tie_first(cluster: Cluster) -> None:
    """One batch through all pipelines, so that queries run when the trouble starts."""
    cluster.feed("orders", batch(0))
    cluster.settle()


def test_a_worker_killed_at_each_point_of_the_spine(
    cluster: Cluster, undisturbed: dict[str, list[str]]
) -> None:
    fed = iter(range(BATCHES))
    for point in POINTS:
        worker = cluster.start_worker()
        worker.plan("kill", point)
        cluster.feed("orders", batch(next(fed)))
        cluster.wait(lambda w=worker: not w.is_alive, f"the worker dies at {point}")
        cluster.feed("orders", batch(next(fed)))
    cluster.start_worker()
    assert_as_if_nothing_had_happened(cluster, undisturbed)


def test_the_weaver_killed_while_a_worker_is_at_each_point_of_the_spine(
    cluster: Cluster, undisturbed: dict[str, list[str]]
) -> None:
    worker = cluster.start_worker()
    tie_first(cluster)
    fed = iter(range(1, BATCHES))
    for point in POINTS:
        worker.plan("stop", point)
        cluster.feed("orders", batch(next(fed)))
        cluster.wait(lambda: worker.is_stopped, f"the worker stops at {point}")
        cluster.weaver.kill()
        worker.signal(signal.SIGCONT)  # it goes on without a weaver, as far as it can
        cluster.start_weaver()
    for number in fed:
        cluster.feed("orders", batch(number))
    assert_as_if_nothing_had_happened(cluster, undisturbed)
    assert worker.is_alive


def test_a_worker_that_slept_until_another_took_over_changes_nothing(
    cluster: Cluster, undisturbed: dict[str, list[str]]
) -> None:
    awake, asleep = cluster.start_worker(), cluster.start_worker()
    tie_first(cluster)
    fed = iter(range(1, BATCHES))
    for point in ("pin", "write", "between", "deliver", "recorded"):
        awake, asleep = _holder(cluster, awake, asleep)
        awake.plan("stop", point)
        cluster.feed("orders", batch(next(fed)))
        cluster.wait(lambda w=awake: w.is_stopped, f"a worker stops at {point}")
        cluster.feed("orders", batch(next(fed)))
        cluster.settle()  # by the other one, once the lease is gone
        awake.signal(signal.SIGCONT)
    awake, asleep = _holder(cluster, awake, asleep)
    awake.signal(signal.SIGSTOP)  # wherever it is, and its JVM with it
    for number in fed:
        cluster.feed("orders", batch(number))
    cluster.settle()
    awake.signal(signal.SIGCONT)
    assert_as_if_nothing_had_happened(cluster, undisturbed)
    assert awake.is_alive and asleep.is_alive


def test_a_worker_that_slept_through_a_rollback_brings_nothing_back(
    cluster: Cluster, undisturbed: dict[str, list[str]]
) -> None:
    pair = cluster.start_worker(), cluster.start_worker()
    tie_first(cluster)
    for number in range(1, 4):
        cluster.feed("orders", batch(number))
    cluster.settle()
    awake, _ = _holder(cluster, *pair)
    awake.plan("stop", "write")
    cluster.feed("orders", batch(4))
    cluster.wait(lambda: awake.is_stopped, "a worker stops with rows in hand")
    rule = {"stream": "orders", "steps": [{"filter": "false"}], "id": "bad"}
    cluster.api.post("/rules", json=rule).raise_for_status()
    cluster.feed("orders", batch(5))
    cluster.settle()
    body = {"stream": "orders", "to": 2}
    done = cluster.api.post("/rollbacks", json=body).raise_for_status().json()
    assert done["plan"]["retired"] == ["bad"]
    awake.signal(signal.SIGCONT)
    for number in range(6, BATCHES):
        cluster.feed("orders", batch(number))
    cluster.settle()
    assert {stream: as_set(cluster.rows(stream)) for stream in STREAMS} == undisturbed
    assert cluster.verify() == []


def test_a_worker_asked_to_stop_ties_the_knot_of_the_batch_in_hand(
    cluster: Cluster, undisturbed: dict[str, list[str]]
) -> None:
    worker = cluster.start_worker()
    tie_first(cluster)
    for number in range(1, BATCHES):
        cluster.feed("orders", batch(number))
        if number == BATCHES // 2:
            cluster.wait(lambda: cluster.consumed("orders") > 2, "batches run")
            assert worker.terminate() == 0
            heads = [cluster.knots(stream, limit=1)[0] for stream in TIED]
            assert {knot["status"] for knot in heads} == {"COMPLETE"}
            assert not any(p["worker"] for p in cluster.api.get("/pipelines").json())
            worker = cluster.start_worker()
    assert_as_if_nothing_had_happened(cluster, undisturbed)


def test_pipelines_move_to_a_worker_that_joins_while_records_flow(
    cluster: Cluster, undisturbed: dict[str, list[str]]
) -> None:
    first = cluster.start_worker()
    tie_first(cluster)
    second = cluster.start_worker()
    fed = iter(range(1, BATCHES))
    for number in fed:
        cluster.feed("orders", batch(number))
        if number == BATCHES // 2:
            cluster.wait(lambda: bool(_leases(cluster).get(second.pid)), "a pipeline moves")
    assert_as_if_nothing_had_happened(cluster, undisturbed)
    assert all(_leases(cluster)[worker.pid] for worker in (first, second))
    assert first.terminate() == 0  # gives its pipelines back
    cluster.feed("orders", batch(BATCHES))
    cluster.settle()
    assert len(_leases(cluster)[second.pid]) == len(TIED)
    assert cluster.verify() == []


def _leases(cluster: Cluster) -> dict[int, list[str]]:
    """The pipelines of each worker that is connected, by its process."""
    known = cluster.api.get("/workers").raise_for_status().json()
    return {one["pid"]: one["leases"] for one in known if one["connected"]}


def _holder(cluster: Cluster, *workers: Process) -> tuple[Process, Process]:
    """The worker that runs the pipelines, then the other one, both awake and known to the weaver."""
    first, second = workers

    def holders() -> list[int]:
        known = {w["pid"]: w for w in cluster.api.get("/workers").json() if w["connected"]}
        if set(known) != {first.pid, second.pid}:
            return []
        return sorted(known, key=lambda pid: -len(known[pid]["leases"]))

    cluster.wait(lambda: bool(holders()), "both workers are connected")
    return (first, second) if holders()[0] == first.pid else (second, first)
