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


@dataclass(frozen=True)
class Script:
    """Batches that were cut before and are read again: the last knot of each, from an offset with this tick on."""

    ends: tuple[int, ...]
    first_tick: int = 0


@dataclass(frozen=True)
class CurrentRows:
    """A changing stream read from its beginning as the rows it has, and not as all that happened to them.

    The first batch has everything there is, and of that the newest changes of each key alone.
    """

    key: Sequence[str]
    columns: Sequence[str]
    """Those that are needed, the key among them; the others are null."""
    from_rows: int
    """Of fewer changes all are given: to sort them would take longer."""


@dataclass(frozen=True)
class TableReading:
    """How a stream is read: from which knot on, how much at a time, and what is waited for."""

    after: int = 0
    """The knot behind which it begins, if it was not read before."""
    most_rows: int = 0
    """A batch admits knots until it has so many rows; 0 is all there are."""
    waiting: Waiting | None = None
    """A query that waits at one of its tables needs no interval, and runs as soon as there is more."""
    script: Script | None = None
    newest: CurrentRows | None = None


def open_table(
    spark: SparkSession,
    path: str,
    schema: StructType,
    reading: TableReading | None = None,
    *,
    name: str,
    max_knots: int = 0,
    buckets: int = 0,
) -> DataFrame:
    """The stream in a table's folder as a frame: whole knots, without those cut.

    A batch admits at most `max_knots` knots (0: all). With `buckets` there is a column `_control` and one row per
    bucket and batch in it, which names the batch's knots and their watermarks.
    """
    asked = reading or TableReading()
    reader = spark.readStream.format(SOURCE_FORMAT).schema(schema)
    limits = {
        "maxRows": asked.most_rows,
        "maxKnots": max_knots,
        "startKnot": asked.after,
        "buckets": buckets,
    }
    waiting, script, newest = asked.waiting, asked.script, asked.newest
    if newest is not None:
        reader = reader.option("newestBy", "\n".join(newest.key))
        reader = reader.option("newestOf", "\n".join(newest.columns))
        reader = reader.option("newestFrom", newest.from_rows)
    if waiting is not None:
        reader = reader.option("query", waiting.query).option("wakes", "\n".join(waiting.wakes))
        reader = reader.option("waitMillis", WAIT_MS if waiting.wakes else 0)
        reader = reader.option("lookMillis", LOOK_MS)
    if script is not None:
        reader = reader.option("ends", ",".join(map(str, script.ends)))
        reader = reader.option("firstTick", script.first_tick)
    return reader.option("name", name).options(**limits).load(path)


def tick(spark: SparkSession, name: str) -> None:
    """Make the reader of this name run one more batch, also when nothing is new."""
    kernel.call(spark, "stream.StreamReader.tick", name)


def release(spark: SparkSession, query: str) -> None:
    """Let a query wait no more: it is about to be stopped."""
    kernel.call(spark, "table.Wake.release", query)
