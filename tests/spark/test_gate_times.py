"""Intervals of several units and time zones mean on Spark what they say."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from weft.gate.expression import check
from weft.gate.spark import select
from weft.schema.schema import Schema

COLUMNS = Schema.of({"at": "timestamp", "wall": "timestamp_ntz"})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at + interval '1 hour 30 minutes'", "2026-07-01 13:30:00"),
        ("at - interval '1 day 2 hours 1.5 seconds'", "2026-06-30 09:59:58.5"),
        ("at + interval '-1 hour 30 minutes'", "2026-07-01 11:30:00"),
        ("at + interval '1 year 2 months'", "2027-09-01 12:00:00"),
        ("at at time zone 'Europe/Berlin'", "2026-07-01 14:00:00"),
        ("wall at time zone 'Europe/Berlin'", "2026-07-01 10:00:00"),
        ("at at time zone 'Asia/Tokyo' at time zone 'Asia/Tokyo'", "2026-07-01 12:00:00"),
        ("hour(at at time zone '+05:30')", "17"),
        ("cast('abcdef' as varchar(3))", "abcdef"),
    ],
)
def test_what_is_written_is_what_spark_computes(spark: SparkSession, text: str, shown: str) -> None:
    checked = check(text, COLUMNS)
    rows = spark.sql(
        "select timestamp '2026-07-01T12:00:00Z' at, timestamp_ntz '2026-07-01T12:00' wall"
    )
    made = select(rows, [[("found", checked.sql)]])
    assert made.schema["found"].dataType.simpleString() == str(checked.type)
    [row] = select(made, [[("found", "cast(`found` as string)")]]).collect()
    assert row.found == shown
