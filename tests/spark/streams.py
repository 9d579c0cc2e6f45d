"""Stream rows and tables for tests: what the spine would write, in a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import deltalake
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from tests.looped import Looped, Watched
from weft.lineage.facts import DataFile
from weft.runtime import spine
from weft.streams.intake import At, Intake
from weft.streams.note import Note
from weft.streams.read import TableReading, open_table
from weft.streams.table import Table

SYSTEM = (
    "_weft struct<id: string, knot: bigint, at: timestamp, source: string, partition: int, "
    "event_time: timestamp, watermark: timestamp>"
)
NUMBERS = f"n bigint, {SYSTEM}"


def schema_of(ddl: str) -> StructType:
    """The schema that a line of DDL declares."""
    return StructType.fromDDL(ddl)


def note(knot: int, **fields: Any) -> Note:
    """What a commit says of a knot; nothing here depends on most of it."""
    common = {
        "id": f"id-{knot}",
        "stream": "s",
        "origin": "s",
        "history": "h",
        "generation": "g",
        "life": "h",
    }
    return Note(knot=knot, **{**common, "rows": 0, "hash": "0" * 64, **fields})


class Stream:
    """A stream of numbers in a table of its own."""

    def __init__(self, spark: SparkSession, folder: Path, ddl: str = NUMBERS) -> None:
        self.spark = spark
        self.path = str(folder)
        self.schema = schema_of(ddl)
        self.table = Table(spark, self.path)
        self.table.create(json.loads(self.schema.json()))

    def rows(self, values: Sequence[int], knot: int) -> DataFrame:
        """Stream rows with these numbers, of partition 0 for even ones and 1 for odd ones."""
        n = f.col("n")
        system = f.struct(
            f.concat(f.lit("r"), n).alias("id"),
            f.lit(knot).cast("bigint").alias("knot"),
            f.timestamp_seconds(f.lit(0)).alias("at"),
            f.lit("test").alias("source"),
            (n % 2).cast("int").alias("partition"),
            f.timestamp_seconds(n).alias("event_time"),
            f.lit(None).cast("timestamp").alias("watermark"),
        )
        frame = self.spark.createDataFrame([(value,) for value in values], "n bigint")
        return frame.coalesce(1).select("n", system.alias("_weft"))

    def tie(self, knot: int, values: Sequence[int], **fields: Any) -> int:
        """Write a knot with these numbers and return its version."""
        files: tuple[DataFile, ...] = ()
        if values:
            woven = self.rows(values, knot).select(
                f.struct("n", "_weft").alias("out"), f.lit(0).alias("verdict")
            )
            written = spine.write(woven, prefix=f"k{knot}", outputs={"out": self.path})
            files = written.outputs["out"].files
        return self.table.commit(self.table.version(), note(knot, **fields), files)

    def read(self) -> list[int]:
        """The numbers that delta-rs sees in the table, in order."""
        return sorted(deltalake.DeltaTable(self.path).to_pyarrow_table()["n"].to_pylist())

    def read_with_spark(self) -> list[int]:
        """The numbers that Spark's Delta reader sees in the table, in order."""
        rows = self.spark.read.format("delta").load(self.path).select("n").collect()
        return sorted(row.n for row in rows)


class Reader:
    """A stream that is read batch by batch, and remembers each."""

    def __init__(
        self,
        stream: Stream,
        checkpoint: Path,
        *,
        name: str = "reader",
        reading: TableReading | None = None,
        max_knots: int = 0,
    ) -> None:
        self.batches: list[list[Row]] = []
        self.knots: list[list[tuple[int, int | None]]] = []
        """The knots of each batch, with the watermark that each has come to."""
        self.files: list[int] = []
        """In how many files the rows of each batch lie."""
        spark = stream.spark

        def open_stream() -> Watched:
            table = open_table(
                spark, stream.path, stream.schema, reading, name=name, max_knots=max_knots
            )
            return Watched(spark, [table], wakes=[name, stream.path])

        self.loop = Looped(spark, checkpoint, open=open_stream, take=self._take)

    def _take(self, intake: Intake, number: int, after: At, upto: At) -> None:
        batch = intake.batch(0, after[0], upto[0])
        self.batches.append(intake.rows([batch]).collect())
        self.files.append(cast("Any", batch).files())
        told = json.loads(cast("Any", batch).control())
        self.knots.append([(knot, watermark) for knot, watermark in told["knots"]])

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.stop()

    def drain(self) -> list[list[int]]:
        """The numbers of each batch, once everything that is there was read."""
        self.loop.drain()
        return [sorted(row.n for row in rows) for rows in self.batches]
