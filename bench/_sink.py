"""Knots in files to a Kafka topic: by the sink from the executors, and by a loop on the driver, with one broker.

`by_loop` is what a sink on one thread of the driver does: rows from Parquet through Arrow into dictionaries, each made
JSON and handed to the client one by one, a transaction a knot.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from confluent_kafka import Producer
from pyspark.sql import SparkSession

from bench._cpu import cpu_seconds
from bench._hop import weft_session
from bench._input import SCHEMA, STREAM, prepare
from bench._report import Figures, say
from tests.stack.servers import Kafka
from weft import sinks
from weft.schema.schema import Schema
from weft.schema.weft import WEFT
from weft.sinks import ParquetRows, Rows
from weft.sinks.document import documents, to_json, to_key
from weft.streams.pieces import row_files
from weft.streams.storage import Storage
from weft.streams.tables import Tables

PARTITIONS = 4
FILES = 2
SLOTS = 2
WARM = 2
"""Knots that compile code, and count for neither side."""
Send = Callable[[int, Rows], None]


def sink(quick: bool) -> Figures:
    """Rows a second into Kafka on two cores, the broker's work included, and how many times what a loop does."""
    knots, rows = (4, 10_000) if quick else (7, 200_000)
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch, _started(scratch) as kafka:
        spark = weft_session()
        try:
            _check(spark, kafka, f"{scratch}/small")
            found = _prepared(spark, f"{scratch}/storage", knots=knots, rows=rows)
            with (
                _loop(kafka, "loop") as loop,
                closing(_open(spark, kafka, "executors")) as executors,
            ):
                # Turn by turn, so that what else the machine does meets both.
                taken = _alternate({"loop": loop, "executors": executors.deliver}, found)
        finally:
            spark.stop()
    rate = {side: rows / seconds for side, seconds in taken.items()}
    return {
        "kafka_sink_rows_per_s": round(rate["executors"]),
        "kafka_sink_gain": round(rate["executors"] / rate["loop"], 2),
    }


def _started(scratch: str) -> Kafka:
    folder = Path(scratch) / "kafka"
    folder.mkdir()
    return Kafka(folder)


def _prepared(spark: SparkSession, root: str, *, knots: int, rows: int) -> dict[int, ParquetRows]:
    prepare(spark, Path(root), knots=knots, rows=rows, files=FILES)
    table = Tables(spark, Storage(root)).open(STREAM)
    return {
        knot.note.knot: ParquetRows(row_files(table.path, knot.note.knot, knot.files), list(SCHEMA))
        for knot in table.knots(0)
    }


def _open(spark: SparkSession, kafka: Kafka, topic: str) -> sinks.Sink:
    kafka.create_topic(topic, partitions=PARTITIONS)
    return sinks.open(
        "kafka",
        {"topic": topic, "servers": kafka.servers, "slots": SLOTS},
        app="bench",
        pipeline="sink",
        stream=STREAM,
        schema=Schema.of(SCHEMA),
        key=("id",),
        history="bench",
        spark=spark,
    )


@contextmanager
def _loop(kafka: Kafka, topic: str) -> Iterator[Send]:
    kafka.create_topic(topic, partitions=PARTITIONS)
    settings = {"linger.ms": 5, "compression.type": "zstd", "transactional.id": topic}
    producer = Producer({"bootstrap.servers": kafka.servers, **settings})
    producer.init_transactions(30)

    def by_loop(knot: int, rows: Rows) -> None:
        producer.begin_transaction()
        for batch in rows.batches():
            marks = batch.column(WEFT).to_pylist()
            for mark, document in zip(marks, documents(batch.select(list(SCHEMA))), strict=True):
                headers = [("weft-id", mark["id"]), ("weft-knot", str(mark["knot"]))]
                _produce(producer, topic, to_key(document, ("id",)), to_json(document), headers)
        producer.commit_transaction(120)

    yield by_loop
    producer.close()


def _produce(
    producer: Producer, topic: str, key: bytes | None, value: bytes, headers: list[tuple[str, str]]
) -> None:
    while True:
        try:
            producer.produce(topic, value, key, headers=headers)  # type: ignore[arg-type]
        except BufferError:
            producer.poll(0.1)
        else:
            producer.poll(0)
            return


def _alternate(sides: dict[str, Send], knots: dict[int, ParquetRows]) -> dict[str, float]:
    taken: dict[str, list[float]] = {side: [] for side in sides}
    for number, rows in knots.items():
        for side, send in sides.items():
            began, before = time.perf_counter(), cpu_seconds()
            send(number, rows)
            wall, cpu = time.perf_counter() - began, cpu_seconds() - before
            say(
                f"sink       {side:10} {rows.count / wall:10,.0f} rows/s "
                f"{rows.count / cpu:10,.0f} rows per CPU second, of the broker too"
            )
            if number > WARM:
                taken[side].append(wall)
    return {side: statistics.median(walls) for side, walls in taken.items()}


def _check(spark: SparkSession, kafka: Kafka, root: str) -> None:
    """Both sides must send the same records, byte for byte."""
    with (
        _loop(kafka, "loop-checked") as loop,
        closing(_open(spark, kafka, "executors-checked")) as executors,
    ):
        for number, rows in _prepared(spark, root, knots=2, rows=5_000).items():
            loop(number, rows)
            executors.deliver(number, rows)
    sent = [
        sorted((one.key or b"", one.value or b"", one.partition) for one in kafka.consume(topic))
        for topic in ("loop-checked", "executors-checked")
    ]
    if sent[0] != sent[1] or len(sent[0]) != 10_000:
        raise RuntimeError("the sides sent other records")
