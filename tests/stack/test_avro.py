"""Events in Avro from a real broker, with schemas from a registry."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.reading import Reading, read
from tests.stack.avro import ENVELOPE, VALUE, FakeRegistry, encode, framed, registry
from tests.stack.servers import Kafka
from weft.errors import WeftError
from weft.loading.load import load
from weft.project.definition import SourceSpec, StreamSpec
from weft.project.settings import Processing
from weft.schema.change import with_change
from weft.schema.schema import Schema
from weft.sources import open_stream, parsing_of
from weft.sources.parse import parse

COLUMNS = {
    "id": "long",
    "name": "string",
    "total": "decimal(10,2)",
    "at": "timestamp",
    "tags": "array<string>",
}


def event(op: str, key: int, name: str | None) -> bytes:
    row = {"id": key, "name": name, "total": b"\x04\xd2", "at": 1_000_000, "tags": ["a", "é"]}
    sides = {"before": row, "after": None} if op == "d" else {"before": None, "after": row}
    told = {**sides, "op": op, "source": {"lsn": key, "snapshot": "false"}}
    return framed(7, encode(ENVELOPE, told, {"Value": VALUE}))


def open_table(spark: SparkSession, kafka: Kafka, topic: str, known: FakeRegistry) -> DataFrame:
    options: dict[str, Any] = {"servers": kafka.servers, "topic": topic, "registry": known.address}
    source = SourceSpec("debezium", options)
    stream = StreamSpec("t", with_change(Schema.of(COLUMNS)), source, key=("id",), changing=True)
    raw = open_stream(spark, stream, checkpoint=Path("unused"), processing=Processing())
    return parse(raw, parsing_of(stream), source="t")


def test_events_in_avro_are_read_and_what_is_none_says_why(
    spark: SparkSession, kafka: Kafka, tmp_path: Path
) -> None:
    topic = kafka.create_topic(f"avro-{uuid.uuid4()}", partitions=1)
    whole = event("c", 1, "ann")
    broken = [framed(8, whole[5:]), whole[:-3], whole + b"x", b'{"op": "c"}', b"\0"]
    kafka.produce(topic, [whole, event("u", 1, None), event("d", 1, None), None, *broken])
    with registry({7: ENVELOPE}) as known:
        batches = read(open_table(spark, kafka, topic, known), tmp_path / "c", rows=8)
        rows = [row for batch in batches.values() for row in batch]
        taken = [row for row in rows if row["_bad"] is None]
        assert [row["_change"]["op"] for row in taken] == ["c", "u", "d"]
        first = taken[0].asDict()
        assert first["name"] == "ann" and first["total"] == Decimal("12.34")
        assert first["tags"] == ["a", "é"] and first["_change"]["position"] is not None
        assert first["at"].astimezone(UTC) == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
        bad = {bytes(row["_raw"]): row["_bad"] for row in rows if row["_bad"] is not None}
        assert set(bad) == set(broken) and "no schema 8" in bad[broken[0]]
        assert known.asked.count("/schemas/ids/7") == 1


def test_a_registry_that_is_away_fails_the_batch_and_loses_nothing(
    spark: SparkSession, kafka: Kafka, tmp_path: Path
) -> None:
    topic = kafka.create_topic(f"avro-{uuid.uuid4()}", partitions=1)
    kafka.produce(topic, [event("c", 1, "ann")])
    with registry({7: ENVELOPE}) as known:
        known.is_away = True
        failing = Reading(open_table(spark, kafka, topic, known), tmp_path / "c")
        failing.wait(rows=1)
        assert "does not answer" in str(failing.loop.error)
        known.is_away = False
        batches = read(open_table(spark, kafka, topic, known), tmp_path / "c", rows=1)
        assert [row["name"] for batch in batches.values() for row in batch] == ["ann"]


@pytest.mark.parametrize("address", ["localhost:8081", "ftp://x", 8081, "http://a:b@c"])
def test_an_address_that_is_none_is_refused(address: Any) -> None:
    table = {"topic": "t", "key": "id", "columns": {"id": "long"}, "registry": address}
    with pytest.raises(WeftError):
        load({"app_name": "a", "tables": {"t": table}})
