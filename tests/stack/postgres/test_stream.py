"""A table of PostgreSQL as Spark reads it: batches that repeat, values of the declared types, reasons of failures."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from tests.reading import Reading, read
from weft.project.definition import SourceSpec, StreamSpec
from weft.project.settings import Processing
from weft.schema.change import with_change
from weft.schema.schema import Schema
from weft.servers.postgres import Postgres
from weft.sources import open_stream, parsing_of
from weft.sources.parse import parse
from weft.sources.spark import failures

QUEUE = 10
COUNT = 34
TYPES = {
    "id": "long",
    "small": "smallint",
    "n": "decimal(38,10)",
    "text_n": "string",
    "r": "float",
    "f": "double",
    "b": "boolean",
    "z": "timestamp",
    "t": "timestamp",
    "day": "date",
    "blob": "binary",
    "j": "struct<a:array<int>,b:string>",
    "u": "string",
    "tags": "array<string>",
    "nums": "array<decimal(5,2)>",
}
TABLE = """
create table kinds (
  id bigint primary key, small smallint, n numeric, text_n numeric, r real, f double precision, b boolean,
  z timestamptz, t timestamp, day date, blob bytea, j jsonb, u uuid, tags text[], nums numeric(5, 2)[]);
insert into kinds values
  (1, -5, 12345678901234567890.0123456789, 1.500, 0.1, 1e300, true, '2024-05-06 07:08:09.123456+02',
    '1900-01-02 03:04:05.000001', '9999-12-31', '\\x00ff', '{"a": [1, 2], "b": "é"}',
    '7a1c2f60-3f3e-4c3b-9d51-0d7e7f1f9a01', '{a,NULL,"b,c"}', '{1.25,NULL}'),
  (2, null, null, 'NaN', 'NaN', '-Infinity', false, null, null, null, '', 'null', null, '{}', null),
  (3, 1, 'NaN', 1, 1, 1, true, now(), now(), now(), '', '{}', null, null, null),
  (4, 1, 1, 1, 1, 1, true, 'infinity', now(), now(), '', '{}', null, null, null),
  (5, 1, 1, 1, 1, 1, true, now(), now(), '0044-03-15 BC', '', '{}', null, null, null),
  (6, 1, 1, 1, 1, 1, true, now(), '0044-03-15 12:00 BC', now(), '', '{}', null, null, null),
  (7, 1, 1, 1, 1, 1, true, now(), now(), now(), '', '{"a": 5}', null, null, null),
  (8, 1, 1, 1, 1, 1, true, now(), now(), now(), '', '{}', null, null, '{{1,2},{3,4}}')
"""


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with Postgres(tmp_path_factory.mktemp("postgres")) as server:
        server.run(TABLE)
        yield server


def open_table(
    spark: SparkSession, postgres: Postgres, table: str, types: dict[str, str], folder: Path
) -> DataFrame:
    place = {name: postgres.connection[name] for name in ("host", "port", "user")}
    options: dict[str, Any] = {**place, "database": "postgres", "table": table}
    schema = with_change(Schema.of(types))
    stream = StreamSpec(table, schema, SourceSpec("postgres", options), key=("id",))
    frame = open_stream(spark, stream, checkpoint=folder, processing=Processing(queue_size=QUEUE))
    return parse(frame, parsing_of(stream), source=table)


def rows_of(batches: dict[int, list[Row]]) -> list[Row]:
    return [row for _, batch in sorted(batches.items()) for row in batch]


def test_a_batch_that_failed_is_read_again_as_it_was(
    spark: SparkSession, postgres: Postgres, tmp_path: Path
) -> None:
    postgres.run("create table repeated (id bigint primary key)")
    postgres.run(f"insert into repeated select generate_series(1, {COUNT})")
    where = (spark, postgres, "repeated", {"id": "long"}, tmp_path)
    failing = Reading(open_table(*where), tmp_path / "c", fail_at=1)
    failing.wait(batches=1000)
    postgres.run("delete from repeated where id <= 2; insert into repeated values (99)")
    first = [*failing.batches[0], *failing.batches[1]]
    # The snapshot begins again behind the batch that is repeated.
    again = read(open_table(*where), tmp_path / "c", rows=QUEUE + COUNT - 1)
    assert again[1] == failing.batches[1]
    rows = [*failing.batches[0], *rows_of(again)]
    assert [row["id"] for row in rows[: 2 * QUEUE]] == [row["id"] for row in first]
    assert [row["id"] for row in rows[2 * QUEUE :]] == [*range(3, COUNT + 1), 99]
    assert rows[-1]["_change"]["snapshot"] == "last"
    assert rows[-1]["_change"]["position"] > first[-1]["_change"]["position"]
    assert {row["_bad"] for row in rows} == {None}
    assert len({row["_id"] for row in rows}) == len(rows)
    postgres.run("update repeated set id = 100 where id = 99; truncate repeated")
    last = rows_of(read(open_table(*where), tmp_path / "c", rows=3))
    told = [(row["_change"]["op"], row["id"]) for row in last]
    assert told == [("d", 99), ("c", 100), ("t", None)]
    assert len({row["_change"]["transaction"] for row in last}) == 1
    assert [row["_change"]["position"] for row in last] == sorted(
        row["_change"]["position"] for row in last
    )


def test_values_are_those_of_the_database_or_dead_letters(
    spark: SparkSession, postgres: Postgres, tmp_path: Path
) -> None:
    rows = rows_of(
        read(open_table(spark, postgres, "kinds", TYPES, tmp_path), tmp_path / "c", rows=8)
    )
    first, second = rows[0].asDict(), rows[1].asDict()
    assert {name: first[name] for name in TYPES} == {
        "id": 1,
        "small": -5,
        "n": Decimal("12345678901234567890.0123456789"),
        "text_n": "1.500",
        "r": pytest.approx(0.1, rel=1e-7),
        "f": 1e300,
        "b": True,
        "z": datetime(2024, 5, 6, 5, 8, 9, 123456, UTC).astimezone().replace(tzinfo=None),
        "t": datetime(1900, 1, 2, 3, 4, 5, 1, UTC).astimezone().replace(tzinfo=None),
        "day": date(9999, 12, 31),
        "blob": bytearray(b"\x00\xff"),
        "j": Row(a=[1, 2], b="é"),
        "u": "7a1c2f60-3f3e-4c3b-9d51-0d7e7f1f9a01",
        "tags": ["a", None, "b,c"],
        "nums": [Decimal("1.25"), None],
    }
    assert (second["text_n"], str(second["r"]), second["f"]) == ("NaN", "nan", float("-inf"))
    assert [second[name] for name in ("small", "n", "z", "j", "nums")] == [None] * 5
    assert (second["blob"], second["tags"]) == (bytearray(), [])
    bad = {row["_position"]: row["_bad"] for row in rows if row["_bad"]}
    columns = [reason.split("'")[1] for reason in bad.values()]
    assert columns == ["n", "z", "day", "t", "j.a", "nums[0]"]
    assert all(row["_raw"] for row in rows if row["_bad"])


def test_why_a_table_cannot_be_read_is_told_to_whoever_runs_the_query(
    spark: SparkSession, postgres: Postgres, tmp_path: Path
) -> None:
    reading = Reading(open_table(spark, postgres, "none", {"id": "long"}, tmp_path), tmp_path / "c")
    reading.wait(batches=1000)
    assert reading.loop.error is not None
    failure = failures.take(str(tmp_path))
    assert failure is not None and failure.code == "source.no-table"
    assert failures.take(str(tmp_path)) is None
