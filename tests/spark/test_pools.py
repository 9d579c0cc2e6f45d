"""What is asked beside running pipelines lets them go first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.projects import CLEAN, REVENUE, orders, shop
from weft.runtime import rerun
from weft.runtime.pools import BESIDE, POOL, beside
from weft.testing import play


def weight(spark: SparkSession, pool: str) -> int:
    found: Any = spark.sparkContext._jsc.sc().getPoolForName(pool)
    assert found.isDefined(), pool
    return int(found.get().weight())


def test_pipelines_have_four_times_the_share_of_what_runs_beside_them(spark: SparkSession) -> None:
    assert weight(spark, "default") == 4 * weight(spark, BESIDE)


def test_a_thread_is_beside_as_long_as_it_says_so(spark: SparkSession) -> None:
    context = spark.sparkContext
    assert context.getLocalProperty(POOL) is None
    with beside(spark):
        assert context.getLocalProperty(POOL) == BESIDE
    with pytest.raises(ZeroDivisionError), beside(spark):
        raise ZeroDivisionError
    assert context.getLocalProperty(POOL) is None


@pytest.mark.parametrize("stream", ["clean-orders", "revenue"])
def test_a_replay_runs_beside(stream: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []
    find_written = rerun.outcome.find_written  # asked in the thread that weaves each batch

    def find(run: Any, pinned: Any) -> Any:
        seen.append(run.spark.sparkContext.getLocalProperty(POOL))
        return find_written(run, pinned)

    with play(shop(clean=CLEAN, revenue=REVENUE), storage=tmp_path) as run:
        run.feed("orders", orders(0, 9))
        monkeypatch.setattr(rerun.outcome, "find_written", find)
        assert run.api.post("/replays", json={"stream": stream, "after": 0}).json()["verified"]
        assert set(seen) == {BESIDE}
        seen.clear()
        run.feed("orders", orders(9, 9))
        assert set(seen) == {None}
