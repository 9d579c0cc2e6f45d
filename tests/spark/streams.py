"""Stream rows and tables for tests: what the spine would write, in a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from weft.runtime import kernel

SYSTEM = (
    "_weft struct<id: string, knot: bigint, at: timestamp, source: string, partition: int, "
    "event_time: timestamp, watermark: timestamp>"
)
NUMBERS = f"n bigint, {SYSTEM}"


def schema_of(ddl: str) -> StructType:
    """The schema that a line of DDL declares."""
    return StructType.fromDDL(ddl)


class Stream:
    """A stream of numbers in a table of its own."""

    def __init__(self, spark: SparkSession, folder: Path, ddl: str = NUMBERS) -> None:
        self.spark = spark
        self.path = str(folder)
        self.schema = schema_of(ddl)
        self.table = kernel.Table(spark, self.path)
        self.table.create(json.loads(self.schema.json()))

    def rows(self, values: Sequence[int], knot: int) -> DataFrame:
        """Stream rows with these numbers, of partition 0 for even ones and 1 for odd ones."""
        n = F.col("n")
        system = F.struct(
            F.concat(F.lit("r"), n).alias("id"),
            F.lit(knot).cast("bigint").alias("knot"),
            F.timestamp_seconds(F.lit(0)).alias("at"),
            F.lit("test").alias("source"),
            (n % 2).cast("int").alias("partition"),
            F.timestamp_seconds(n).alias("event_time"),
            F.lit(None).cast("timestamp").alias("watermark"),
        )
        frame = self.spark.createDataFrame([(value,) for value in values], "n bigint")
        return frame.coalesce(1).select("n", system.alias("_weft"))

    def tie(self, knot: int, values: Sequence[int], **weft: Any) -> int:
        """Write a knot with these numbers and return its version."""
        files: list[dict[str, Any]] = []
        if values:
            woven = self.rows(values, knot).select(
                F.struct("n", "_weft").alias("out"), F.lit(0).alias("verdict")
            )
            written = kernel.write(woven, prefix=f"k{knot}", outputs={"out": self.path})
            files = written["outputs"]["out"]["files"]
        return self.table.commit(self.table.version(), {"knot": knot, **weft}, files)

    def read(self) -> list[int]:
        """The numbers that a reader of the Delta table sees, in order."""
        rows = self.spark.read.format("delta").load(self.path).select("n").collect()
        return sorted(row.n for row in rows)


class Reader:
    """A streaming query over a stream that remembers each batch."""

    def __init__(self, stream: Stream, checkpoint: Path, **options: Any) -> None:
        self.batches: list[list[Row]] = []
        options.setdefault("name", str(checkpoint))
        self.name: str = options["name"]
        self.stream = stream
        frame = kernel.source(stream.spark, stream.path, stream.schema, **options)
        self.query: StreamingQuery = (
            frame.writeStream.foreachBatch(lambda batch, _: self.batches.append(batch.collect()))
            .option("checkpointLocation", str(checkpoint))
            .start()
        )

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.query.stop()

    def drain(self) -> list[list[int]]:
        """The numbers of each batch, once everything that is there was read."""
        self.query.processAllAvailable()
        return [sorted(row.n for row in rows if row.n is not None) for rows in self.batches]

    def control(self) -> list[list[dict[str, Any]]]:
        """The control rows of each batch by bucket."""
        batches = [
            [json.loads(row._control) for row in rows if row._control] for rows in self.batches
        ]
        by_bucket: Callable[[dict[str, Any]], int] = lambda row: row["bucket"]  # noqa: E731
        return [sorted(rows, key=by_bucket) for rows in batches]
