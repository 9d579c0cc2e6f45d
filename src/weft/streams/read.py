"""A stream's table as a streaming frame: whole knots in order, by the kernel's own source."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from weft import kernel

SOURCE_FORMAT = "weft-stream"


def open_table(
    spark: SparkSession,
    path: str,
    schema: StructType,
    *,
    name: str,
    max_rows: int = 0,
    max_knots: int = 0,
    start_knot: int = 0,
    buckets: int = 0,
) -> DataFrame:
    """The stream in a table's folder as a frame: whole knots after `start_knot`, without those cut.

    A batch admits knots until `max_rows` rows or `max_knots` knots (0: all). With `buckets` there is a column
    `_control` and one row per bucket and batch in it, which names the batch's knots and their watermarks.
    """
    reader = spark.readStream.format(SOURCE_FORMAT).schema(schema)
    limits = {
        "maxRows": max_rows,
        "maxKnots": max_knots,
        "startKnot": start_knot,
        "buckets": buckets,
    }
    return reader.option("name", name).options(**limits).load(path)


def tick(spark: SparkSession, name: str) -> None:
    """Make the reader of this name run one more batch, also when nothing is new."""
    kernel.call(spark, "StreamSource.tick", name)
