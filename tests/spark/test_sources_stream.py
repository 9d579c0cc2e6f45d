"""Sources as Spark runs them: what only shows in a streaming query."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from tests.reading import Reading, read
from weft import kernel
from weft.locations.location import locate
from weft.project.definition import SourceSpec, StreamSpec
from weft.project.settings import Processing
from weft.schema.schema import Schema
from weft.sources import open_stream, parsing_of, shop
from weft.sources.feed import Feed
from weft.sources.options import Again, RecordAt, SourceError
from weft.sources.parse import parse
from weft.sources.stream import open_again

SCHEMA = Schema.of({"id": "long", "at": "timestamp"})


def make_stream(kind: str, schema: Schema = SCHEMA, **options: Any) -> StreamSpec:
    return StreamSpec("orders", schema, SourceSpec(kind, options), event_time="at")


def open_parsed(
    spark: SparkSession, stream: StreamSpec, folder: Path, *, queue: int = 1000
) -> DataFrame:
    processing = Processing(queue_size=queue)
    raw = open_stream(spark, stream, checkpoint=folder, processing=processing)
    return parse(raw, parsing_of(stream), source=stream.name)


def make_lines(*ids: int) -> str:
    return "".join(json.dumps({"id": n, "at": n}) + "\n" for n in ids)


def all_rows(batches: dict[int, list[Row]]) -> list[Row]:
    return sorted((row for batch in batches.values() for row in batch), key=lambda r: r["_id"])


def open_feed(spark: SparkSession, folder: Path, **processing: Any) -> DataFrame:
    return open_stream(
        spark,
        make_stream("feed"),
        checkpoint=folder / "c",
        processing=Processing(**processing),
        feed_dir=folder / "feed",
    )


def test_each_segment_of_a_feed_is_one_batch_also_an_empty_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    feed = Feed(tmp_path / "feed")
    feed.append([{"id": 1}, "raw\ntext", b"\xff"], partition=2)
    feed.append(watermark=5)
    feed.append([{"id": 2}])
    raw = open_feed(spark, tmp_path, queue_size=1)
    batches = read(raw, tmp_path / "c", rows=4)
    found = [[(row["partition"], row["position"]) for row in batches[n]] for n in range(3)]
    assert found == [[(2, "1:0"), (2, "1:1"), (2, "1:2")], [], [(0, "3:0")]]
    assert [bytes(row["value"]) for row in batches[0]] == [b'{"id":1}', b"raw\ntext", b"\xff"]
    offsets = (tmp_path / "c" / "offsets" / "2").read_text().splitlines()
    assert json.loads(offsets[-1]) == {"segment": 3}


def ask_tick(spark: SparkSession, name: str) -> None:
    kernel.call(spark, "spark.stream.TickInlet.ask", name)


def test_a_tick_runs_one_batch_without_data(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(tmp_path / "feed")
    raw = open_feed(spark, tmp_path)
    reading = Reading(raw, tmp_path / "c", tick="ticked")
    feed.append([{"id": 1}])
    reading.wait(batches=1)
    ask_tick(spark, "another")
    ask_tick(spark, "ticked")
    reading.wait(batches=2)
    reading.stop()
    ask_tick(spark, "ticked")
    again = Reading(raw, tmp_path / "c", tick="ticked")
    again.wait(batches=1)
    again.stop()
    found = {**reading.batches, **again.batches}
    assert {number: len(rows) for number, rows in found.items()} == {0: 1, 1: 0, 2: 0}
    offsets = (tmp_path / "c" / "offsets" / "2").read_text().splitlines()
    assert [json.loads(line) for line in offsets[2:]] == [{"segment": 1}, {"tick": 2}]


def test_two_runs_of_a_mock_source_are_equal_however_they_are_cut(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = make_stream(
        "mock", shop.SCHEMA, rate="max", events=300, bad_share=0.1, disorder_ms=50, seed=7
    )
    runs = [
        all_rows(read(open_parsed(spark, stream, path, queue=queue), path, rows=300))
        for path, queue in ((tmp_path / "a", 40), (tmp_path / "b", 1000))
    ]
    assert runs[0] == runs[1]
    assert {row["_partition"] for row in runs[0]} == {0, 1}
    assert 10 < sum(row["_bad"] is not None for row in runs[0]) < 60


@pytest.mark.parametrize("partitions", [1, 3])
def test_one_record_of_a_mock_source_is_made_alone(
    spark: SparkSession, tmp_path: Path, partitions: int
) -> None:
    stream = make_stream("mock", partitions=partitions)
    offsets = ({"record": 7}, {"record": 40})

    def made(only: RecordAt | None) -> dict[tuple[int, str], bytes]:
        asked = Again(locate(str(tmp_path)), Processing(), *offsets, only)
        rows = open_again(spark, stream, asked).collect()
        return {(row["partition"], row["position"]): bytes(row["value"]) for row in rows}

    everything = made(None)
    assert len(everything) == 33
    places = sorted(everything, key=lambda place: int(place[1]))
    for place in (places[0], places[16], places[-1]):
        assert made(RecordAt(*place)) == {place: everything[place]}
    for nowhere in (RecordAt(0, "0"), RecordAt(0, "9999"), RecordAt(0, "x")):
        assert made(nowhere) == everything


def test_a_mock_source_that_starts_now_keeps_its_start(spark: SparkSession, tmp_path: Path) -> None:
    stream = make_stream("mock", shop.SCHEMA, rate="max", events=3, start="now")
    first = all_rows(read(open_parsed(spark, stream, tmp_path / "c"), tmp_path / "c", rows=3))
    kept = tmp_path / "c" / "source" / "start"
    before = kept.read_text()
    again = all_rows(read(open_parsed(spark, stream, tmp_path / "c"), tmp_path / "d", rows=3))
    assert kept.read_text() == before
    assert first == again


def test_new_files_are_read_and_unfinished_ones_are_not(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.json").write_text(make_lines(1))
    (folder / "b.json.tmp").write_text(make_lines(2))
    stream = make_stream("files", path=str(folder), settle_ms=10)
    reading = Reading(open_parsed(spark, stream, tmp_path / "c"), tmp_path / "c")
    reading.wait(rows=1)
    (folder / "c.json.gz").write_bytes(gzip.compress(make_lines(3).encode()))
    reading.wait(rows=2)
    (folder / "b.json.tmp").rename(folder / "b.json")
    reading.wait(rows=3)
    reading.stop()
    assert [(row["id"], row["_id"]) for row in reading.rows] == [
        (1, "orders/0/a.json#1"),
        (3, "orders/0/c.json.gz#1"),
        (2, "orders/0/b.json#1"),
    ]


def test_lines_that_are_appended_are_read_once_through_restarts(
    spark: SparkSession, tmp_path: Path
) -> None:
    file = tmp_path / "in" / "a.json"
    file.parent.mkdir()
    file.write_text(make_lines(1, 2, 3))
    stream = make_stream("files", path=str(file.parent), settle_ms=10)
    first = Reading(open_parsed(spark, stream, tmp_path / "c", queue=2), tmp_path / "c")
    first.wait(rows=3)
    with file.open("a") as more:
        more.write(make_lines(4, 5))
    first.wait(rows=5)
    first.stop()
    last = max(first.batches)
    (
        tmp_path / "c" / "commits" / str(last)
    ).unlink()  # as if it had died before the end of its batch
    with file.open("a") as more:
        more.write(make_lines(6))
    again = Reading(open_parsed(spark, stream, tmp_path / "c", queue=2), tmp_path / "c")
    again.wait(rows=len(first.batches[last]) + 1)
    again.stop()
    assert again.batches[last] == first.batches[last]
    rows = all_rows({**first.batches, **again.batches})
    assert [(row["id"], row["_position"]) for row in rows] == [
        (n, f"a.json#{n}") for n in range(1, 7)
    ]
    file.write_text(make_lines(9))
    third = read(open_parsed(spark, stream, tmp_path / "c"), tmp_path / "c", rows=1)
    assert [(row["id"], row["_id"]) for row in all_rows(third)] == [(9, "orders/0/a.json#1@2")]


def test_a_file_that_is_gone_before_it_was_read_stops_the_query_with_its_name(
    spark: SparkSession, tmp_path: Path
) -> None:
    file = tmp_path / "in" / "a.json"
    file.parent.mkdir()
    file.write_text(make_lines(1, 2, 3))
    stream = make_stream("files", path=str(file.parent), settle_ms=0)
    batches = read(open_parsed(spark, stream, tmp_path / "c", queue=2), tmp_path / "c", rows=3)
    file.unlink()
    (tmp_path / "c" / "commits" / str(max(batches))).unlink()
    again = Reading(open_parsed(spark, stream, tmp_path / "c", queue=2), tmp_path / "c")
    again.wait(batches=1)
    assert f"File {file} is gone" in str(again.loop.error)


def test_forty_small_files_make_as_many_tasks_as_there_is_parallelism(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.json").write_text(make_lines(*range(12 * number, 12 * number + 12)))
    stream = make_stream("files", path=str(folder), settle_ms=0)
    raw = open_stream(
        spark, stream, checkpoint=tmp_path / "c", processing=Processing(parallelism=2)
    )
    reading = Reading(raw, tmp_path / "c")
    reading.wait(rows=480)
    reading.stop()
    assert max(reading.tasks) <= 2


def test_quoted_line_breaks_are_part_of_their_csv_record(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    schema = Schema.of({"id": "long", "name": "string", "at": "timestamp"})
    (folder / "a.csv").write_text('AT;Id;name\n1;1;"one\n""line"" two"\n2;2;plain\n3;3;"open\n')
    (folder / "b.csv").write_text("id,name,at\n1,a,1\n")
    stream = make_stream(
        "files", schema, path=str(folder), format="csv", separator=";", settle_ms=0
    )
    rows = all_rows(read(open_parsed(spark, stream, tmp_path / "c"), tmp_path / "c", rows=5))
    found = {row["_position"]: row["name"] or row["_bad"] for row in rows}
    assert found["a.csv#2"] == 'one\n"line" two'
    assert found["a.csv#4"] == "plain"
    assert found["a.csv#5"] == "a quote is not closed"
    assert "no header for the columns id, name, at" in found["b.csv#1"]
    assert {row["_position"]: row["_raw"] for row in rows}["b.csv#2"] == bytearray(b"1,a,1")
    assert len(found) == 5


def test_parquet_columns_are_found_whatever_their_case(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    at = pa.array([1, 2], pa.timestamp("ms"))
    pq.write_table(pa.table({"ID": [1, 2], "At": at}), folder / "a.parquet")
    pq.write_table(pa.table({"ID": [8, 9], "id": [3, 4], "at": at}), folder / "b.parquet")
    stream = make_stream("files", path=str(folder), format="parquet", settle_ms=0)
    rows = all_rows(read(open_parsed(spark, stream, tmp_path / "c"), tmp_path / "c", rows=4))
    assert [(row["id"], row["_bad"]) for row in rows] == [(n, None) for n in (1, 2, 3, 4)]


def test_what_a_file_cannot_give_is_a_bad_record(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.json").write_text(make_lines(1) + "\r\n\nnot json\r\n" + make_lines(2).strip())
    (folder / "b.json.gz").write_bytes(gzip.compress(make_lines(3).encode())[:-4])
    stream = make_stream("files", path=str(folder), settle_ms=0)
    rows = all_rows(read(open_parsed(spark, stream, tmp_path / "c"), tmp_path / "c", rows=5))
    found = {row["_position"]: row["id"] or row["_bad"][:13] for row in rows}
    expected = {
        "a.json#1": 1,
        "a.json#4": "not JSON: Unr",
        "a.json#5": 2,
        "b.json.gz#1": 3,
        "b.json.gz#2": "the file cann",
    }
    assert found == expected


def test_parquet_that_does_not_fit_is_bad_row_by_row(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    rows = [{"id": "1", "at": "2026-01-01"}, {"id": "x", "at": None}]
    pq.write_table(pa.Table.from_pylist(rows), folder / "a.parquet")
    pq.write_table(pa.table({"id": pa.array([7], pa.int32())}), folder / "b.parquet")
    (folder / "c.parquet").write_text("not Parquet at all")
    stream = make_stream("files", path=str(folder), format="parquet", settle_ms=0)
    found = all_rows(read(open_parsed(spark, stream, tmp_path / "c"), tmp_path / "c", rows=4))
    reasons = {row["_position"]: row["_bad"] for row in found}
    assert reasons["a.parquet#1"] == "column 'id': expected bigint, found \"1\""
    assert reasons["a.parquet#2"] == "column 'id': expected bigint, found \"x\""
    assert reasons["b.parquet#1"] == "column 'at': it is missing, and it is the event time"
    assert reasons["c.parquet#1"].startswith("the file is not Parquet")
    assert json.loads(found[2]["_raw"]) == {"id": 7}


def test_a_column_of_a_native_source_that_does_not_fit_is_a_bad_record(
    spark: SparkSession, tmp_path: Path
) -> None:
    schema = Schema.of({"id": "tinyint", "at": "timestamp", "name": "int"})
    options = {"class": "tests.contracts.event_sources:Numbers", "to": 3}
    stream = make_stream("python", schema, **options)
    rows = all_rows(read(open_parsed(spark, stream, tmp_path / "c"), tmp_path / "c", rows=3))
    assert rows[0]["_bad"] == "column 'name': expected int, found \"name-0\""
    assert rows[0]["_id"] == "orders/0/0"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("tests.contracts.event_sources:Missing", "source.no-class"),
        ("no.such.module:Class", "source.no-class"),
        ("tests.contracts.event_sources:Nothing", "source.no-class"),
        ("", "source.options"),
    ],
)
def test_a_class_that_is_no_source_is_refused(
    spark: SparkSession, tmp_path: Path, name: str, code: str
) -> None:
    with pytest.raises(SourceError) as caught:
        open_parsed(spark, make_stream("python", **{"class": name}), tmp_path)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("kind", "options", "code"),
    [
        ("mok", {}, "source.unknown-kind"),
        ("files", {}, "source.options"),
        ("files", {"path": "/x", "format": "xml"}, "source.options"),
        ("files", {"path": "/x", "separator": ";;"}, "source.options"),
        ("files", {"path": "/x", "header": "no"}, "source.options"),
        ("kafka", {"topic": "a"}, "source.options"),
        ("kafka", {"servers": "a:1", "topic": "a", "start": "middle"}, "source.options"),
        ("kafka", {"servers": "a:1", "topic": "a", "group": "b"}, "source.options"),
    ],
)
def test_a_source_that_is_declared_wrongly_is_refused(
    spark: SparkSession, tmp_path: Path, kind: str, options: dict[str, Any], code: str
) -> None:
    with pytest.raises(SourceError) as caught:
        open_parsed(spark, make_stream(kind, **options), tmp_path)
    assert caught.value.code == code
    assert caught.value.hint


def test_a_feed_takes_hundreds_of_batches_in_seconds(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(tmp_path / "feed")
    raw = open_feed(spark, tmp_path)
    reading = Reading(raw, tmp_path / "c")
    waits = []
    for number in range(100):
        began = time.monotonic()
        feed.append([{"id": number}])
        reading.wait(batches=number + 1)
        waits.append(time.monotonic() - began)
    reading.stop()
    assert len(reading.rows) == 100
    assert sorted(waits)[50] < 0.5  # 20 to 30 ms on an idle machine
