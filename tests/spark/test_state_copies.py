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


def divide(spark: SparkSession, checkpoint: Path, into: Path, partitions: int = 3) -> None:
    where = (str(checkpoint), str(into))
    kernel.call(spark, "operator.StateCopy.divide", spark, *where, 1, partitions, False)


def test_a_division_that_fails_does_so_at_once(
    spark: SparkSession, checkpoint: Path, tmp_path: Path
) -> None:
    damage(checkpoint)
    began = time.monotonic()
    with pytest.raises(Py4JJavaError):
        divide(spark, checkpoint, tmp_path / "divided")
    assert time.monotonic() - began < AT_ONCE_S
