"""The Kafka source: Spark's own, with its records in raw form."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from weft.project.definition import Processing, StreamSpec
from weft.sources.options import check_source


def open_kafka(
    spark: SparkSession, stream: StreamSpec, *, checkpoint: Path, processing: Processing
) -> DataFrame:
    """The records of one topic, or of several with commas between them, in raw form.

    Records that are gone from the topic before they were read are an error, not a gap.
    """
    options = stream.source.options if stream.source else {}
    check_source(stream.name, "kafka", options)
    topics = [topic.strip() for topic in str(options["topic"]).split(",")]
    reader = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", options["servers"])
        .option("subscribe", ",".join(topics))
        .option("startingOffsets", options.get("start", "earliest"))
        .option("maxOffsetsPerTrigger", processing.queue_size)
        .option("failOnDataLoss", "true")
        .options(
            **{f"kafka.{name}": str(value) for name, value in options.get("client", {}).items()}
        )
    )
    offset = f.col("offset").cast("string")
    position = offset if len(topics) == 1 else f.concat_ws(":", "topic", offset)
    return reader.load().select("value", "partition", position.alias("position"), "timestamp")
