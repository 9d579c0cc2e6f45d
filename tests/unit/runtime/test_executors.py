"""The executors of a worker, over a pool in memory: asked for, let go, and dying meanwhile."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from weft.runtime import executors
from weft.runtime.executors import PATIENCE_S, Bounds, BoundsError, Executors

SPARK = cast(SparkSession, None)
BEGAN_MS = 1_000_000.0


class Pool:
    """A master that brings as many executors as it is asked for, when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.total, self.started, self.now_s = 1, 0, BEGAN_MS / 1000
        self.there: dict[str, dict[str, Any]] = {}
        monkeypatch.setattr(executors.kernel, "call", self.call)
        monkeypatch.setattr(executors.time, "time", lambda: self.now_s)
        monkeypatch.setattr(executors.time, "monotonic", lambda: self.now_s)
        self.bring()

    def call(self, _: object, method: str, *given: Any) -> Any:
        what = method.rpartition(".")[2]
        if what == "isElastic":
            return True
        if what == "list":
            return json.dumps(list(self.there.values()))
        if what == "request":
            self.total = given[1]
            return None
        assert what == "release"
        _, total, is_forced = given
        newest = sorted(self.there.values(), key=lambda one: -one["since_ms"])
        extra = newest[: max(0, len(newest) - total)]
        gone = [one for one in extra if is_forced or not one["tasks"]]
        for one in gone:
            del self.there[one["id"]]
        return len(gone)

    def bring(self, after_s: float = 0.0) -> None:
        self.now_s += after_s
        while len(self.there) < self.total:
            self.started += 1
            row = {"id": str(self.started), "cores": 1, "memory": 0, "tasks": 0}
            self.there[row["id"]] = {**row, "since_ms": self.now_s * 1000}

    def kill(self, *ids: str) -> None:
        for one in ids:
            del self.there[one]


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    return Pool(monkeypatch)


def test_the_time_that_executors_take_to_start_is_measured(pool: Pool) -> None:
    asked = Executors(SPARK, Bounds(1, 4))
    assert asked.now().start_up_s is None
    asked.want(3)
    assert (asked.now().running, asked.now().asked) == (1, 3)
    pool.bring(12.0)
    assert asked.now().start_up_s == pytest.approx(12.0)


def started(pool: Pool, count: int) -> Executors:
    """So many executors, all of which are there."""
    asked = Executors(SPARK, Bounds(1, 4))
    asked.want(count)
    pool.bring(12.0)
    asked.now()
    return asked


def test_one_that_died_and_is_replaced_much_later_was_not_slow_to_start(pool: Pool) -> None:
    asked = started(pool, 2)
    pool.kill("1")
    asked.now()
    pool.bring(7_200.0)
    assert asked.now().start_up_s == pytest.approx(12.0)


def test_one_that_dies_while_it_is_let_go_is_let_go_once(pool: Pool) -> None:
    asked = started(pool, 3)
    pool.there["3"]["tasks"] = 1
    asked.want(1)
    asked.tend()
    assert list(pool.there) == ["1", "3"]
    pool.kill("3")
    asked.tend()
    assert list(pool.there) == ["1"] and pool.total == 1


def test_where_all_that_should_stay_die_the_master_brings_the_rest(pool: Pool) -> None:
    asked = Executors(SPARK, Bounds(1, 4))
    asked.want(3)
    pool.bring(12.0)
    asked.now()
    asked.want(1)
    pool.kill("1", "2", "3")
    asked.tend()
    assert asked.now().running == 0
    pool.bring(90.0)
    asked.tend()
    now = asked.now()
    assert (now.running, now.asked, now.start_up_s) == (1, 1, pytest.approx(12.0))


def test_one_with_tasks_goes_in_the_middle_of_them_after_a_while(pool: Pool) -> None:
    asked = Executors(SPARK, Bounds(1, 4))
    asked.want(2)
    pool.bring(12.0)
    pool.there["2"]["tasks"] = 1
    asked.want(1)
    asked.tend()
    pool.now_s += PATIENCE_S
    asked.tend()
    assert len(pool.there) == 2
    pool.now_s += 1
    asked.tend()
    assert list(pool.there) == ["1"]


def test_a_number_outside_of_the_bounds_is_brought_within(pool: Pool) -> None:
    asked = Executors(SPARK, Bounds(1, 4))
    asked.want(99)
    assert pool.total == 4
    asked.want(0)
    assert pool.total == 1
    for text in ("0", "4..1", "x", "1..", "-1", "1...3"):
        with pytest.raises(BoundsError):
            Bounds.parse(text)
