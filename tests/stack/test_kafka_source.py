"""The Kafka source against a real broker: every record once, with its place, through a restart."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.reading import Reading, read
from tests.stack.servers import Kafka
from weft.locations.location import locate
from weft.project.definition import SourceSpec, StreamSpec
from weft.project.settings import Processing
from weft.schema.change import with_change
from weft.schema.schema import Schema
from weft.sources import open_stream, parsing_of
from weft.sources.options import Again, RecordAt
from weft.sources.parse import parse
from weft.sources.stream import open_again
from weft.streams.intake import Intake, source_inlet

SCHEMA = Schema.of({"id": "long", "at": "timestamp"})


@pytest.fixture
def topic(kafka: Kafka) -> str:
    """A topic of two partitions."""
    return kafka.create_topic(f"orders-{uuid.uuid4()}", partitions=2)


def open_topic(
    spark: SparkSession, kafka: Kafka, topic: str, *, event_time: str | None = "at"
) -> DataFrame:
    source = SourceSpec("kafka", {"servers": kafka.servers, "topic": topic})
    stream = StreamSpec("orders", SCHEMA, source, event_time=event_time)
    raw = open_stream(
        spark, stream, checkpoint=locate("unused"), processing=Processing(queue_size=10)
    )
    return parse(raw, parsing_of(stream), source="orders")


def test_each_record_arrives_once_with_its_partition_and_offset(
    spark: SparkSession, kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    for partition in (0, 1):
        kafka.produce(
            topic,
            [{"id": 100 * partition + n, "at": n} for n in range(20)],
            partition=partition,
        )
    batches = read(open_topic(spark, kafka, topic), tmp_path / "c", rows=40)
    assert max(map(len, batches.values())) <= 10
    rows = [row for batch in batches.values() for row in batch]
    found = {row["_id"]: row["id"] for row in rows}
    assert found == {f"orders/{p}/{n}": 100 * p + n for p in (0, 1) for n in range(20)}
    assert len(rows) == 40


def test_how_far_its_topic_goes_is_known_from_its_first_look_on(
    spark: SparkSession, kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    """Whoever asks earlier, while a batch runs again or many pipelines start, is told that it is not."""
    kafka.produce(topic, [{"id": n} for n in range(15)], partition=1)
    source = SourceSpec("kafka", {"servers": kafka.servers, "topic": topic})
    stream = StreamSpec("orders", SCHEMA, source)
    raw = open_stream(
        spark, stream, checkpoint=locate("unused"), processing=Processing(queue_size=10)
    )
    intake = Intake(spark, [source_inlet(raw, str(tmp_path / "remembers"))])
    assert intake.known() == (None,)
    assert intake.next((None,)) is not None
    [known] = intake.known()
    assert known is not None and json.loads(known) == {topic: {"0": 0, "1": 15}}
    intake.close()


@pytest.mark.parametrize("both", [False, True])
def test_one_record_of_a_batch_is_read_alone(
    spark: SparkSession, kafka: Kafka, topic: str, both: bool
) -> None:
    """By its place; a place that is not of the batch says nothing, and all of it is read."""
    other = kafka.create_topic(f"more-{uuid.uuid4()}", partitions=1)
    for partition in (0, 1):
        kafka.produce(topic, [{"id": 10 * partition + n} for n in range(5)], partition=partition)
    kafka.produce(other, [{"id": 90 + n} for n in range(5)], partition=0)
    topics = f"{topic},{other}" if both else topic
    stream = StreamSpec(
        "orders", SCHEMA, SourceSpec("kafka", {"servers": kafka.servers, "topic": topics})
    )
    ends = {topic: {"0": 4, "1": 4}} | ({other: {"0": 4}} if both else {})
    starts = {topic: {"0": 1, "1": 1}} | ({other: {"0": 1}} if both else {})

    def given(partition: int, position: str) -> list[int]:
        asked = Again(locate("unused"), Processing(), starts, ends, RecordAt(partition, position))
        rows = open_again(spark, stream, asked).collect()
        return sorted(json.loads(row["value"])["id"] for row in rows)

    named = f"{topic}:" if both else ""
    assert given(1, f"{named}2") == [12]
    if both:
        assert given(0, f"{other}:3") == [93]
    everything = given(0, f"{named}0")  # one before the batch
    assert len(everything) == (9 if both else 6)
    for nowhere in (f"{named}4", "x", "", f"{named}-1"):
        assert given(1, nowhere) == everything


def test_a_batch_that_failed_is_read_again_as_it_was(
    spark: SparkSession, kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    kafka.produce(topic, [{"id": n, "at": n} for n in range(30)], partition=0)
    failing = Reading(open_topic(spark, kafka, topic), tmp_path / "c", fail_at=1)
    failing.wait(batches=1000)
    kafka.produce(topic, [{"id": n, "at": n} for n in range(30, 35)], partition=0)
    again = read(open_topic(spark, kafka, topic), tmp_path / "c", rows=25)
    assert again[1] == failing.batches[1]
    rows = [*failing.batches[0], *(row for batch in again.values() for row in batch)]
    assert sorted(row["id"] for row in rows) == list(range(35))


def test_a_record_without_a_value_is_bad_and_one_without_event_time_has_kafkas(
    spark: SparkSession, kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    kafka.produce(topic, [None, {"id": 1}], keys=["a", "b"], partition=1)
    batches = read(open_topic(spark, kafka, topic, event_time=None), tmp_path / "c", rows=2)
    tombstone, record = [row for _, batch in sorted(batches.items()) for row in batch]
    assert (tombstone["_bad"], tombstone["_raw"]) == ("the record has no value", None)
    assert (record["id"], record["_position"]) == (1, "1")
    assert record["_event_time"] is not None


def test_a_deletion_is_one_row_and_the_mark_behind_it_is_left_out(
    spark: SparkSession, kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    source = SourceSpec("debezium", {"servers": kafka.servers, "topic": topic})
    stream = StreamSpec("orders", with_change(SCHEMA), source, key=("id",))
    made = {"op": "c", "before": None, "after": {"id": 1, "at": 1_700_000_000_000}}
    gone = {"op": "d", "before": {"id": 1}, "after": None}
    kafka.produce(topic, [made, gone, None, {**made, "op": "r"}], keys=["1"] * 4, partition=0)
    raw = open_stream(spark, stream, checkpoint=tmp_path, processing=Processing(queue_size=10))
    rows = parse(raw, parsing_of(stream), source="orders")
    batches = read(rows, tmp_path / "c", rows=3)
    found = [row for _, batch in sorted(batches.items()) for row in batch]
    assert [(row["_change"]["op"], row["_position"]) for row in found] == [
        ("c", "0"),
        ("d", "1"),
        ("r", "3"),
    ]
