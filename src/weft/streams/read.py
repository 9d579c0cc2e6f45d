"""A stream's table as a streaming frame: whole knots in order, by the kernel's own source.

For Spark the batches of that frame have no rows, so that it has nothing to plan; whoever runs one reads them here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from weft import kernel
from weft.streams.table import table_errors
from weft.windows.attached import InputBatch

SOURCE_FORMAT = "weft-stream"


LOOK_MS = 10
"""A query that is not woken looks at its first table after so long, if it is local: others may have written."""
WAIT_MS = 100
"""It looks at all of them, or at remote ones, after so long."""


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
    query: str = ""
    """The name of the query that reads it."""
    wakes: Sequence[str] = ()
    """What ends the query's wait for more, if it waits at this table: it needs no interval then, and runs as soon as
    there is something."""
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
) -> DataFrame:
    """The stream in a table's folder as a frame that has a batch for whole knots, without those cut, and no rows.

    A batch admits at most `max_knots` knots (0: all). `read_batch` has its rows, with the columns of `schema`.
    """
    asked = reading or TableReading()
    reader = spark.readStream.format(SOURCE_FORMAT).schema(schema)
    limits = {
        "maxRows": asked.most_rows,
        "maxKnots": max_knots,
        "startKnot": asked.after,
    }
    script, newest = asked.script, asked.newest
    if newest is not None:
        reader = reader.option("newestBy", "\n".join(newest.key))
        reader = reader.option("newestOf", "\n".join(newest.columns))
        reader = reader.option("newestFrom", newest.from_rows)
    if asked.wakes:
        reader = reader.option("wakes", "\n".join(asked.wakes))
        reader = reader.option("waitMillis", WAIT_MS).option("lookMillis", LOOK_MS)
    if script is not None:
        reader = reader.option("ends", ",".join(map(str, script.ends)))
        reader = reader.option("firstTick", script.first_tick)
    return reader.option("query", asked.query).option("name", name).options(**limits).load(path)


def read_batch(
    spark: SparkSession,
    query: str,
    name: str,
    *,
    after: Mapping[str, int] | None,
    upto: Mapping[str, int] | None,
) -> InputBatch:
    """What the reader of this name, which a query has open, is given between two of its offsets; None is before all."""
    bounds = [None if offset is None else json.dumps(offset) for offset in (after, upto)]
    with table_errors(reader=name):
        return InputBatch(
            kernel.call(spark, "spark.stream.OpenStreams.batch", query, name, *bounds)
        )


def rows_of(spark: SparkSession, batches: Sequence[InputBatch]) -> DataFrame:
    """The rows of several batches with the same columns as one frame."""
    given = kernel.list_of(spark, batches)
    return kernel.to_frame(spark, kernel.call(spark, "spark.stream.OpenStreams.rows", given))


def tick(spark: SparkSession, name: str) -> None:
    """Make the reader of this name run one more batch, also when nothing is new."""
    kernel.call(spark, "stream.StreamReader.tick", name)


def release(spark: SparkSession, query: str) -> None:
    """Let a query wait no more: it is about to be stopped."""
    kernel.call(spark, "table.Wake.release", query)
