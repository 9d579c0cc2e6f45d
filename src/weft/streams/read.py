"""A stream's table as a streaming frame: whole knots in order, by the kernel's own source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from weft import kernel

SOURCE_FORMAT = "weft-stream"


LOOK_MS = 10
"""A query that is not woken looks at its first table after so long, if it is local: others may have written."""
WAIT_MS = 100
"""It looks at all of them, or at remote ones, after so long."""


@dataclass(frozen=True)
class Waiting:
    """A query that waits for more where one of its tables is read, until any of them or a tick wakes it."""

    query: str
    wakes: Sequence[str] = ()
    """What ends its wait; empty where it does not wait."""


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
    waiting: Waiting | None = None,
) -> DataFrame:
    """The stream in a table's folder as a frame: whole knots after `start_knot`, without those cut.

    A batch admits knots until `max_rows` rows or `max_knots` knots (0: all). With `buckets` there is a column
    `_control` and one row per bucket and batch in it, which names the batch's knots and their watermarks. A query
    that is `waiting` at one of its tables needs no interval, and runs as soon as there is more.
    """
    reader = spark.readStream.format(SOURCE_FORMAT).schema(schema)
    limits = {
        "maxRows": max_rows,
        "maxKnots": max_knots,
        "startKnot": start_knot,
        "buckets": buckets,
    }
    if waiting is not None:
        reader = reader.option("query", waiting.query).option("wakes", "\n".join(waiting.wakes))
        reader = reader.option("waitMillis", WAIT_MS if waiting.wakes else 0)
        reader = reader.option("lookMillis", LOOK_MS)
    return reader.option("name", name).options(**limits).load(path)


def tick(spark: SparkSession, name: str) -> None:
    """Make the reader of this name run one more batch, also when nothing is new."""
    kernel.call(spark, "stream.StreamReader.tick", name)


def release(spark: SparkSession, query: str) -> None:
    """Let a query wait no more: it is about to be stopped."""
    kernel.call(spark, "table.Wake.release", query)
