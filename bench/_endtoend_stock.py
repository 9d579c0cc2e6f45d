"""The end-to-end bench's job by hand: Structured Streaming as it comes, files into a Delta table or topic to topic.

With files it says `done` when the last result is committed; it ends when its standard input does.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions

from bench._hop import stock_session

SCHEMA = "key bigint, value bigint, at timestamp"


def panes(events: DataFrame, asked: dict[str, Any]) -> DataFrame:
    """Counts and sums per key and window."""
    lengths = [f"{asked[name]} milliseconds" for name in ("size_ms", "slide_ms")]
    window = functions.window("at", *lengths)
    return (
        events.withWatermark("at", f"{asked['delay_ms']} milliseconds")
        .groupBy(window.alias("window"), "key")
        .agg(functions.count("*").alias("n"), functions.sum("value").alias("s"))
        .select(functions.col("window.start").alias("start"), "key", "n", "s")
    )


def from_files(spark: SparkSession, asked: dict[str, Any]) -> None:
    """Take the files that there are."""
    events = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 4).json(asked["events"])
    query = (
        panes(events, asked)
        .writeStream.format("delta")
        .outputMode("append")
        .option("checkpointLocation", f"{asked['root']}/checkpoint")
        .trigger(availableNow=True)
        .start(f"{asked['root']}/panes")
    )
    query.awaitTermination()
    print("done", flush=True)


def from_topic(spark: SparkSession, asked: dict[str, Any]) -> None:
    """Take what comes into one topic, and write panes to another."""
    events, results = asked["topics"]
    kafka = {"kafka.bootstrap.servers": asked["servers"]}
    read = spark.readStream.format("kafka").options(**kafka, startingOffsets="earliest")
    parsed = read.option("subscribe", events).load()
    rows = parsed.select(functions.from_json(parsed.value.cast("string"), SCHEMA).alias("row"))
    found = panes(rows.select("row.*"), asked)
    out = found.select(functions.to_json(functions.struct("*")).alias("value"))
    write = out.writeStream.format("kafka").options(**kafka, topic=results)
    write.outputMode("append").option("checkpointLocation", f"{asked['root']}/checkpoint").start()


def main() -> None:
    """Run the job that the first argument describes."""
    asked = json.loads(sys.argv[1])
    spark = stock_session(memory="4g", groups=("core", "kafka"))
    # As many tasks as there are cores: with the 200 that Spark starts with, most of the time would be theirs.
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    run = from_topic if "topics" in asked else from_files
    run(spark, asked)
    sys.stdin.read()


if __name__ == "__main__":
    main()
