"""The sides of the windows bench on Spark: ours, Spark's aggregation, and PySpark's state.

They take turns in one process, so that what the JVM has compiled and how busy the machine is are the same for all.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from bench._cpu import cpu_seconds
from bench._window_data import (
    BUCKETS,
    DELAY_MS,
    FAR_KEY,
    SPAN_MS,
    Case,
    events_in,
    parts_in,
    write,
)
from weft.runtime import session
from weft.schema.schema import Schema
from weft.schema.weft import stored_form
from weft.windows import panes
from weft.windows.aggregate import parse_aggregates
from weft.windows.attached import batch_of
from weft.windows.window import WindowSpec

SCHEMA = StructType.fromJson(stored_form(Schema.of({"key": "bigint", "value": "bigint"})))
OURS = "weft"
PARTITIONS = 2
Runs = list[tuple[str, Case]]
"""Which side runs which case."""
GROWTH_KEYS = (1_000, 1_000_000)
GROWTH_EVENTS = 1_000_000
WARM_RUNS = 16
WARM_SHARE = 10
WARM_S = 25.0
FLOOR_BATCHES = 150


class Ours:
    """Ours: one row per pane with its count and sum, batch by batch."""

    def __init__(
        self, spark: SparkSession, case: Case, folder: Path, checkpoint: Path, *, partitions: int
    ) -> None:
        is_tumbling = case.size_ms == case.slide_ms
        written: dict[str, Any] = {
            "type": "tumbling" if is_tumbling else "sliding",
            "size_ms": case.size_ms,
        }
        if not is_tumbling:
            written["slide_ms"] = case.slide_ms
        self._attached = panes.attach(
            spark,
            [SCHEMA],
            window=WindowSpec.from_dict(written),
            by=["key"],
            aggregates=parse_aggregates({"n": "count(*)", "s": "sum(value)"}),
            buckets=BUCKETS,
            pipeline="bench",
        )
        self._parts = parts_in(folder)
        self._checkpoint = str(checkpoint)
        self._partitions = partitions

    def panes(self, frame: DataFrame, batch: int) -> DataFrame:
        """What a batch makes."""
        part = self._parts[batch]
        made = self._attached.run(
            [batch_of(frame, [(part.knot, part.watermark)], part.rows)],
            checkpoint=self._checkpoint,
            batch=batch,
            partitions=self._partitions,
        )
        return made.where("pane is not null").select(
            "pane.window.start", "pane.window.end", "pane.key", "pane.n", "pane.s"
        )


def started(
    stream: DataFrame, ours: Ours, checkpoint: Path, take: Callable[[DataFrame, int], None]
) -> StreamingQuery:
    """A query that has ours make each batch's panes and hands them on."""
    return (
        stream.writeStream.foreachBatch(lambda frame, batch: take(ours.panes(frame, batch), batch))
        .option("checkpointLocation", str(checkpoint))
        .start()
    )


def drop(frame: DataFrame, _batch: int) -> None:
    """Make all rows of a frame, for nothing."""
    frame.write.format("noop").mode("overwrite").save()


def native(stream: DataFrame, case: Case) -> DataFrame:
    """Spark's own window aggregation, which drops late rows and fires each window once."""
    window = functions.window("at", f"{case.size_ms} milliseconds", f"{case.slide_ms} milliseconds")
    return (
        stream.select("key", "value", functions.col("_weft.event_time").alias("at"))
        .withWatermark("at", f"{DELAY_MS} milliseconds")
        .groupBy(window, "key")
        .agg(functions.count("*").alias("n"), functions.sum("value").alias("s"))
        .select("window.start", "window.end", "key", "n", "s")
    )


def python_state(stream: DataFrame, case: Case) -> DataFrame:
    """PySpark's transformWithState: a processor per key in Python, with a timer per window."""
    from bench._window_processor import OUTPUT, processor

    return (
        stream.select("key", "value", functions.col("_weft.event_time").alias("at"))
        .withWatermark("at", f"{DELAY_MS} milliseconds")
        .groupBy("key")
        .transformWithState(processor(case), OUTPUT, "append", "eventTime")
    )


SIDES = {"native": native, "python_state": python_state}


def run(
    spark: SparkSession, side: str, case: Case, folder: Path, *, checks: bool
) -> dict[str, Any]:
    """Run one side over all batches: into sums that are checked, or into a sink that does nothing."""
    sums = [0, 0, 0]

    def take(frame: DataFrame, _batch: int) -> None:
        kept = frame.where(f"key != {FAR_KEY}")
        told = kept.agg(functions.count("*"), functions.sum("n"), functions.sum("s")).first()
        assert told is not None
        for place in range(3):
            sums[place] += told[place] or 0

    source = events_in(folder, case)
    files = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    stream = files.parquet(str(source / "in"))
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        checkpoint = Path(scratch)
        # Spark's own windows fire in a batch of their own, after the one that brought the watermark.
        spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", str(side != OURS).lower())
        before = cpu_seconds()
        if side == OURS:
            ours = Ours(spark, case, source, checkpoint, partitions=PARTITIONS)
            query = started(stream, ours, checkpoint, take if checks else drop)
        else:
            writer = SIDES[side](stream, case).writeStream.option("checkpointLocation", scratch)
            query = (writer.foreachBatch(take) if checks else writer.format("noop")).start()
        query.processAllAvailable()
        spent = cpu_seconds() - before
        query.stop()
    return {"cpu_s": spent, "checksum": sums}


def compare(spark: SparkSession, runs: Runs, folder: Path, *, rounds: int) -> list[dict[str, Any]]:
    """For each side and case the checksum of a run, and the CPU seconds of those that count.

    Short runs come first: what the JVM compiles in the first seconds of a query would else be most of what is
    measured, and a stream runs for days.
    """
    for side, case in runs:
        short = replace(case, events=case.events // WARM_SHARE)
        ends = time.monotonic() + WARM_S
        for _ in range(WARM_RUNS):
            run(spark, side, short, folder, checks=False)
            if time.monotonic() > ends:
                break
    checked = [run(spark, side, case, folder, checks=True) for side, case in runs]
    turns = [
        [run(spark, side, case, folder, checks=False)["cpu_s"] for side, case in runs]
        for _ in range(rounds)
    ]
    return [
        {"checksum": found["checksum"], "cpu_s": statistics.median(spent)}
        for found, spent in zip(checked, zip(*turns, strict=True), strict=True)
    ]


def growth(spark: SparkSession, folder: Path, *, rounds: int) -> list[dict[str, Any]]:
    """Ours with few and many keys, in windows so long that the number of panes is about the same."""
    runs = []
    for keys in GROWTH_KEYS:
        size = SPAN_MS * keys // max(GROWTH_KEYS)
        runs.append((OURS, Case(GROWTH_EVENTS, keys, size, size)))
    return compare(spark, runs, folder, rounds=rounds)


def floor(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """The time of a micro-batch of a few rows through one window, in one partition."""
    case = Case(FLOOR_BATCHES * 10, 5, 10_000, 10_000)
    write(case, folder, batches=FLOOR_BATCHES)
    waiting = folder / "waiting"
    waiting.mkdir()
    files = sorted((folder / "in").glob("*.parquet"))
    for path in files:
        path.rename(waiting / path.name)
    stream = spark.readStream.schema(SCHEMA).parquet(str(folder / "in"))
    times = []
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        checkpoint = Path(scratch)
        ours = Ours(spark, case, folder, checkpoint, partitions=1)
        query = started(stream, ours, checkpoint, drop)
        for path in sorted(waiting.glob("*.parquet")):
            path.rename(folder / "in" / path.name)
            query.processAllAvailable()
            times.append(query.lastProgress["durationMs"]["triggerExecution"])
        query.stop()
    return {"p50_ms": statistics.median(times[len(times) // 3 :])}


def main() -> None:
    """Do what the first argument asks for; the last line of the output is the result."""
    asked = json.loads(sys.argv[1])
    folder = Path(asked["folder"])
    conf = {"spark.driver.memory": "4g"}
    spark = session.create("local[2]", app="weft-bench", conf=conf)
    result: Any
    if asked["do"] == "growth":
        result = growth(spark, folder, rounds=asked["rounds"])
    elif asked["do"] == "floor":
        result = floor(spark, folder / "floor")
    else:
        runs = [(side, Case(**case)) for side, case in asked["runs"]]
        result = compare(spark, runs, folder, rounds=asked["rounds"])
    session.stop(spark)
    sys.stdout.write(json.dumps({"found": result}) + "\n")


if __name__ == "__main__":
    main()
