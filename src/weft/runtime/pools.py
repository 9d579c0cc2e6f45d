"""Spark's pools: which jobs get the next free core. `pools.xml`, which the session names, says their shares.

Pipelines run in the default one. What is run beside them, by `beside`, has a fifth of the cores while they need the
others, and all that they leave.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

POOLS = Path(__file__).with_name("pools.xml")
BESIDE = "beside"
POOL = "spark.scheduler.pool"


@contextmanager
def beside(spark: SparkSession) -> Iterator[None]:
    """Run the jobs of this thread beside the pipelines."""
    context = spark.sparkContext
    before = context.getLocalProperty(POOL)
    context.setLocalProperty(POOL, BESIDE)
    try:
        yield
    finally:
        # None, which PySpark's types do not know, is the default pool.
        context.setLocalProperty(POOL, before)  # type: ignore[arg-type]
