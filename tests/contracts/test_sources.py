"""What every source promises: each record once, the same again after a crash, no more a batch than
may be."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from tests.reading import Reading, read
from weft.project.definition import SourceSpec, StreamSpec
from weft.project.settings import Processing
from weft.schema.schema import Schema
from weft.sources import open_stream, parsing_of
from weft.sources.feed import Feed
from weft.sources.parse import parse

pytestmark = pytest.mark.spark

SCHEMA = Schema.of({"id": "long", "name": "string", "at": "timestamp"})
COUNT = 57
QUEUE = 10
EVENTS = "tests.contracts.event_sources"


@dataclass(frozen=True)
class Case:
    """A source with the records 0 to COUNT - 1 in it."""

    stream: StreamSpec
    feed: Path | None = None

    def open(self, spark: SparkSession, checkpoint: Path) -> DataFrame:
        """The records of the source, parsed."""
        frame = open_stream(
            spark,
            self.stream,
            checkpoint=checkpoint,
            processing=Processing(queue_size=QUEUE),
            feed_dir=self.feed,
        )
        parsing = parsing_of(self.stream, fed=self.feed is not None)
        return parse(frame, parsing, source="orders")


def make_stream(kind: str, **options: object) -> StreamSpec:
    return StreamSpec("orders", SCHEMA, SourceSpec(kind, options), event_time="at")


def records() -> list[dict[str, object]]:
    return [
        {"id": n, "name": f"name-{n}", "at": f"2026-01-01T00:00:{n:02d}Z"} for n in range(COUNT)
    ]


def lines(form: Callable[[dict[str, object]], str]) -> list[str]:
    return [form(record) + "\n" for record in records()]


def make_feed(folder: Path) -> Case:
    feed = Feed(folder / "feed")
    for first in range(0, COUNT, QUEUE):
        feed.append(records()[first : first + QUEUE], partition=first // QUEUE % 2)
    return Case(make_stream("feed"), folder / "feed")


def make_mock(folder: Path) -> Case:
    return Case(make_stream("mock", rate="max", events=COUNT, seed=5))


def make_json(folder: Path) -> Case:
    (folder / "in").mkdir()
    (folder / "in" / "a.json").write_text("".join(lines(json.dumps)[:30]))
    (folder / "in" / "b.json").write_text("".join(lines(json.dumps)[30:]).rstrip())
    return Case(make_stream("files", path=str(folder / "in"), settle_ms=0))


def make_csv(folder: Path) -> Case:
    (folder / "in").mkdir()
    rows = lines(lambda record: f"{record['at']},{record['id']},{record['name']}")
    (folder / "in" / "a.csv").write_text("at,id,name\n" + "".join(rows[:30]))
    (folder / "in" / "b.csv").write_text(
        "name;id;at\n".replace(";", ",")
        + "".join(lines(lambda record: f"{record['name']},{record['id']},{record['at']}")[30:])
    )
    return Case(make_stream("files", path=str(folder / "in"), format="csv", settle_ms=0))


def make_parquet(folder: Path) -> Case:
    (folder / "in").mkdir()
    table = pa.Table.from_pylist(records())
    pq.write_table(table.slice(0, 30), folder / "in" / "a.parquet", row_group_size=7)
    pq.write_table(table.slice(30), folder / "in" / "b.parquet")
    return Case(make_stream("files", path=str(folder / "in"), format="parquet", settle_ms=0))


def make_once(folder: Path) -> Case:
    (folder / "once").write_text("".join(lines(json.dumps)))
    options = {"class": f"{EVENTS}:Once", "path": str(folder / "once")}
    return Case(make_stream("python", **options))


def make_log(folder: Path) -> Case:
    (folder / "log").write_text("".join(lines(json.dumps)))
    options = {"class": f"{EVENTS}:Log", "path": str(folder / "log")}
    return Case(make_stream("python", **options))


def make_native(folder: Path) -> Case:
    return Case(make_stream("python", **{"class": f"{EVENTS}:Numbers", "to": COUNT}))


CASES = [
    make_feed,
    make_mock,
    make_json,
    make_csv,
    make_parquet,
    make_once,
    make_log,
    make_native,
]


@pytest.fixture(params=CASES, ids=lambda make: make.__name__.removeprefix("make_"))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    """A source of each kind."""
    made: Case = request.param(tmp_path)
    return made


def by_id(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["id"])


def test_each_record_arrives_once_in_batches_that_are_not_too_large(
    spark: SparkSession, case: Case, tmp_path: Path
) -> None:
    batches = read(case.open(spark, tmp_path / "c"), tmp_path / "c", rows=COUNT)
    rows = [row for batch in batches.values() for row in batch]
    assert [row["_bad"] for row in rows] == [None] * COUNT
    assert [row["id"] for row in by_id(rows)] == list(range(COUNT))
    assert len({row["_id"] for row in rows}) == COUNT
    assert all(row["_event_time"] is not None for row in rows)
    assert max(map(len, batches.values())) <= QUEUE


def test_a_batch_that_failed_is_read_again_as_it_was(
    spark: SparkSession, case: Case, tmp_path: Path
) -> None:
    failing = Reading(case.open(spark, tmp_path / "c"), tmp_path / "c", fail_at=2)
    failing.wait(batches=1000)
    again = read(case.open(spark, tmp_path / "c"), tmp_path / "c", rows=COUNT - 2 * QUEUE)
    assert by_id(again[2]) == by_id(failing.batches[2])
    rows = [*failing.batches[0], *failing.batches[1], *(r for b in again.values() for r in b)]
    assert [row["id"] for row in by_id(rows)] == list(range(COUNT))
