"""One side of the windows bench on Spark, run in a process of its own: ours, Spark's aggregation,
PySpark's state.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from pyspark.sql import DataFrame, SparkSession, functions

from bench.window_data import BUCKETS, DELAY_MS, Case
from weft.runtime import session
from weft.windows import panes
from weft.windows.aggregate import parse_aggregates
from weft.windows.window import WindowSpec

SCHEMA = (
    "key bigint, value bigint, _weft struct<id: string, knot: bigint, at: timestamp, "
    "source: string, partition: int, event_time: timestamp, watermark: timestamp>, _control string"
)
FAR_KEY = -1


def weft(stream: DataFrame, case: Case) -> DataFrame:
    """Ours: one row per pane with its count and sum."""
    is_tumbling = case.size_ms == case.slide_ms
    written: dict[str, Any] = {
        "type": "tumbling" if is_tumbling else "sliding",
        "size_ms": case.size_ms,
    }
    if not is_tumbling:
        written["slide_ms"] = case.slide_ms
    attached = panes.attach(
        stream,
        window=WindowSpec.from_dict(written),
        by=["key"],
        aggregates=parse_aggregates({"n": "count(*)", "s": "sum(value)"}),
        buckets=BUCKETS,
        pipeline="bench",
    )
    return attached.where("pane is not null").select(
        "pane.window.start", "pane.window.end", "pane.key", "pane.n", "pane.s"
    )


def native(stream: DataFrame, case: Case) -> DataFrame:
    """Spark's own window aggregation, which drops late rows and fires each window once."""
    window = functions.window("at", f"{case.size_ms} milliseconds", f"{case.slide_ms} milliseconds")
    return (
        stream.where("_control is null")
        .select("key", "value", functions.col("_weft.event_time").alias("at"))
        .withWatermark("at", f"{DELAY_MS} milliseconds")
        .groupBy(window, "key")
        .agg(functions.count("*").alias("n"), functions.sum("value").alias("s"))
        .select("window.start", "window.end", "key", "n", "s")
    )


def python_state(stream: DataFrame, case: Case) -> DataFrame:
    """PySpark's transformWithState: a processor per key in Python, with a timer per window."""
    from bench.window_processor import OUTPUT, processor

    return (
        stream.where("_control is null")
        .select("key", "value", functions.col("_weft.event_time").alias("at"))
        .withWatermark("at", f"{DELAY_MS} milliseconds")
        .groupBy("key")
        .transformWithStateInPandas(processor(case), OUTPUT, "append", "eventTime")
    )


SIDES = {"weft": weft, "native": native, "python_state": python_state}


def cpu_seconds() -> float:
    """CPU time of this process, its JVM and its Python workers, the dead ones too."""
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        spent = process.cpu_times()
        total += spent.user + spent.system + spent.children_user + spent.children_system
    return total


def run(spark: SparkSession, side: str, case: Case, folder: Path) -> dict[str, Any]:
    """Run one side over all batches, into a sink that does nothing but count."""
    sums = [0, 0, 0]

    def take(frame: DataFrame, _batch: int) -> None:
        wanted = (
            frame.where(f"key != {FAR_KEY}")
            .agg(functions.count("*"), functions.sum("n"), functions.sum("s"))
            .first()
        )
        assert wanted is not None
        for place in range(3):
            sums[place] += wanted[place] or 0

    stream = (
        spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    )
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        before, began = cpu_seconds(), time.monotonic()
        query = (
            SIDES[side](stream, case)
            .writeStream.foreachBatch(take)
            .option("checkpointLocation", scratch)
            .start()
        )
        query.processAllAvailable()
        result = {
            "cpu_s": cpu_seconds() - before,
            "seconds": time.monotonic() - began,
            "checksum": sums,
        }
        query.stop()
    return result


def warmed(spark: SparkSession, side: str, case: Case, folder: Path) -> Iterator[dict[str, Any]]:
    """One run that nobody counts, so that the compiler is done, and then the one that counts."""
    yield run(spark, side, case, folder)
    yield run(spark, side, case, folder)


def main() -> None:
    """Run what the first argument asks for; the last line of the output is the result."""
    asked = json.loads(sys.argv[1])
    conf = {
        "spark.driver.memory": "4g",
        "spark.sql.streaming.noDataMicroBatches.enabled": "true",
        **asked.get("conf", {}),
    }
    spark = session.create("local[2]", app="weft-bench", conf=conf)
    case = Case(**asked["case"])
    for result in warmed(spark, asked["side"], case, Path(asked["folder"])):
        last = result
    session.stop(spark)
    sys.stdout.write(json.dumps(last) + "\n")


if __name__ == "__main__":
    main()
