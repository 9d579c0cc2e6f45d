"""Change events become rows of a changing stream, whatever feeds them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from weft.project.definition import SourceSpec, StreamSpec
from weft.schema.change import with_change
from weft.schema.schema import Schema
from weft.sources import parsing_of
from weft.sources.parse import parse

SCHEMA = with_change(Schema.of({"ID": "long", "total": "decimal(10,2)", "at": "timestamp"}))
RAW = "value binary, partition int, position string, timestamp timestamp"
ARRIVED = datetime(2026, 1, 31, 12, tzinfo=UTC)


def changed(op: str, *, source: Any = None, **sides: Any) -> dict[str, Any]:
    return {"before": None, "after": None, **sides, "op": op, "source": source or {}}


def run(spark: SparkSession, *events: Any, fed: bool = False, **options: Any) -> list[Row]:
    source = SourceSpec("debezium", {"topic": "t", **options})
    stream = StreamSpec("orders", SCHEMA, source, key=("id",), event_time="at")
    rows = [(json.dumps(e).encode(), 0, str(n), ARRIVED) for n, e in enumerate(events)]
    parsing = parsing_of(stream, fed=fed)
    return parse(spark.createDataFrame(rows, RAW), parsing, source="orders").collect()


@pytest.mark.parametrize("fed", [False, True])
def test_an_event_becomes_a_row_with_its_change(spark: SparkSession, fed: bool) -> None:
    after = {"id": 7, "total": "12.50", "at": 1_700_000_000_000_000}
    source = {"lsn": 255, "txId": 9, "ts_ms": 1000, "snapshot": "first"}
    [row] = run(spark, changed("r", after=after, source=source), fed=fed)
    assert row["_bad"] is None
    assert (row["ID"], str(row["total"])) == (7, "12.50")
    assert row["_event_time"] == row["at"]
    change = row["_change"].asDict()
    assert change.pop("at").timestamp() == 1
    assert change == {
        "op": "r",
        "position": "00000000000000ff/0000000000000000",
        "transaction": "9",
        "snapshot": "first",
        "kept": None,
    }


@pytest.mark.parametrize("fed", [False, True])
def test_an_unwrapped_row_needs_no_op(spark: SparkSession, fed: bool) -> None:
    row = {"id": 7, "total": "12.50", "at": 1_700_000_000_000_000, "__lsn": 255}
    refused, *_ = run(spark, row, fed=fed)
    assert "give the table `unwrapped: true`" in refused["_bad"]
    [taken] = run(spark, row, fed=fed, unwrapped=True)
    assert (taken["_bad"], taken["ID"], taken["_change"]["op"]) == (None, 7, "u")


def test_a_row_without_event_time_has_that_of_its_change(spark: SparkSession) -> None:
    at, none, bad = run(
        spark,
        changed("d", before={"id": 1}, source={"ts_ms": 1000}),
        changed("t"),
        changed("d"),
    )
    assert at["_event_time"] == at["_change"]["at"]
    assert none["_event_time"].astimezone(UTC) == ARRIVED
    assert (bad["_bad"], bad["_event_time"]) == ("its op is d, and it has no before", None)


def test_numbers_count_what_the_source_says(spark: SparkSession) -> None:
    event = changed("c", after={"id": 1, "at": 5})
    [seconds] = run(spark, event)
    [millis] = run(spark, event, times="ms")
    assert (seconds["at"] - millis["at"]).total_seconds() == 4.995
