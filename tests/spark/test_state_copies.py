"""State without its operator: read and divided by the kernel, and what becomes of a try that fails."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tests.spark.windowing import WindowRun
from tests.unit.windows.model import Knot, Row
from weft import kernel
from weft.runtime import session
from weft.windows.state import read_windows
from weft.windows.window import WindowSpec

TUMBLING = WindowSpec.from_dict({"type": "tumbling", "size_ms": 10_000})
AT_ONCE_S = 30.0
"""A store that is waited for makes its task wait for two minutes."""


@pytest.fixture
def checkpoint(spark: SparkSession, tmp_path: Path) -> Path:
    """A checkpoint with the state that a batch has left behind, in two partitions."""
    run = WindowRun(spark, tmp_path, [TUMBLING])
    run.start()
    run.feed([Knot([Row(at, value=at, key=f"k{at}") for at in range(20)])])
    return Path(run.checkpoint())


def damage(checkpoint: Path, partition: int = 1) -> None:
    """Lose the state of a partition."""
    for file in (checkpoint / "state" / "0" / str(partition)).iterdir():
        file.unlink()


def divide(spark: SparkSession, checkpoint: Path, into: Path, version: int = 1) -> None:
    """Divide the state at a version among three partitions."""
    where = (str(checkpoint), str(into))
    kernel.call(spark, "operator.StateCopy.divide", spark, *where, version, 3, False)


def stores(spark: SparkSession) -> int:
    """How many stores in RocksDB are open."""
    assert spark._jvm is not None
    memory = spark._jvm.org.apache.spark.sql.execution.streaming.state.RocksDBMemoryManager
    return int(memory.getNumRocksDBInstances(False))


def buses(spark: SparkSession) -> int:
    """How many sessions hear of streaming queries."""
    listeners = spark.sparkContext._jsc.sc().listenerBus().listeners()
    names = [one.getClass().getSimpleName() for one in listeners]
    return names.count("StreamingQueryListenerBus")


def test_a_division_that_fails_does_so_at_once_and_leaves_nothing_open(
    spark: SparkSession, checkpoint: Path, tmp_path: Path
) -> None:
    damage(checkpoint)
    open_before, began = stores(spark), time.monotonic()
    with pytest.raises(Py4JJavaError):
        divide(spark, checkpoint, tmp_path / "divided")
    assert time.monotonic() - began < AT_ONCE_S
    assert stores(spark) <= open_before


def test_a_division_that_cannot_begin_leaves_nothing_open(
    spark: SparkSession, checkpoint: Path, tmp_path: Path
) -> None:
    open_before = stores(spark)
    with pytest.raises(Py4JJavaError):
        divide(spark, checkpoint, tmp_path / "divided", version=-1)
    assert stores(spark) <= open_before


def test_state_that_cannot_be_read_leaves_nothing_open(
    spark: SparkSession, checkpoint: Path
) -> None:
    damage(checkpoint)
    open_before = stores(spark)
    with pytest.raises(Py4JJavaError):
        read_windows(spark, str(checkpoint), batch=0)
    assert stores(spark) <= open_before


def test_reading_in_sessions_of_their_own_leaves_no_listeners(
    spark: SparkSession, checkpoint: Path
) -> None:
    heard = buses(spark)
    for _ in range(3):
        assert len(read_windows(session.fork(spark), str(checkpoint))) == 20
    assert buses(spark) == heard


def test_the_newest_state_is_that_which_all_partitions_have(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = WindowRun(spark, tmp_path, [TUMBLING])
    run.start()
    for number in range(2):
        run.feed([Knot([Row(at, value=at, key=f"k{at}") for at in range(20)])])
        if number == 0:
            first = read_windows(spark, run.checkpoint())
    # As if a batch had ended before all of its tasks had.
    for file in Path(run.checkpoint(), "state", "0", "1").glob("2.*"):
        file.unlink()
    assert read_windows(spark, run.checkpoint()) == first
