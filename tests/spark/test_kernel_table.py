"""Stream tables: every knot one commit, readable by every Delta reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import deltalake
import deltalake.exceptions
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from tests.spark.streams import SYSTEM, Stream, note, schema_of
from weft.errors import WeftError
from weft.runtime import spine
from weft.streams import delta_checkpoint
from weft.streams.table import Table


def head(table: Table) -> tuple[int, int] | None:
    """The newest knot that is not cut, and its version."""
    found = table.head()
    return None if found is None else (found.note.knot, found.version)


def test_a_table_that_is_not_there_has_no_versions(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(spark, str(tmp_path / "none"))
    assert not table.exists()
    assert table.version() == -1
    assert table.head() is None
    assert table.find(1) is None
    assert table.knots(0, 10) == []
    with pytest.raises(WeftError):
        table.commit(-1, note(1), [])


def test_creating_twice_is_the_same_and_another_schema_conflicts(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path)
    again = Stream(spark, tmp_path)
    assert again.table.version() == 0
    assert again.table.schema() == json.loads(stream.schema.json())
    with pytest.raises(WeftError) as caught:
        again.table.create(json.loads(schema_of("other string").json()))
    assert caught.value.code == "table.conflict"


def test_knots_are_commits_that_other_readers_see(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    assert stream.tie(1, [1, 2, 3], id="a", watermark=5) == 1
    assert stream.tie(2, []) == 2
    assert stream.tie(4, [4]) == 3
    assert stream.read() == stream.read_with_spark() == [1, 2, 3, 4]
    assert head(stream.table) == (4, 3)
    first = stream.table.find(1)
    assert first is not None and first.version == 1
    assert first.note == note(1, id="a", watermark=5)
    assert stream.table.find(3) is None
    assert [knot.note.knot for knot in stream.table.knots(0, 9)] == [1, 2, 4]
    assert [len(knot.files) for knot in stream.table.knots(1, 4)] == [0, 1]


def test_a_second_writer_of_a_version_gets_a_conflict(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    other = Table(spark, stream.path)
    seen = other.version()
    stream.tie(1, [1])
    for attempt in (lambda: other.commit(seen, note(1), []), lambda: stream.tie(1, [1])):
        with pytest.raises(WeftError) as caught:
            attempt()
        assert caught.value.code == "table.conflict"
    assert stream.read() == [1]


def test_a_cut_takes_knots_out_and_they_stay_out(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    for knot in range(1, 7):
        stream.tie(knot, [knot])
    version = stream.table.cut(4, 6, {"why": "test"})
    assert stream.table.cut(4, 6, {"why": "test"}) == version == stream.table.version()
    assert stream.read() == [1, 2, 3, 4]
    assert head(stream.table) == (4, 4)
    last = stream.table.last()
    assert last is not None and last.note.knot == 6
    assert stream.table.find(5) is None
    stream.tie(7, [7])
    stream.table.cut(2, 7, {})
    assert head(stream.table) == (2, 2)
    stream.tie(8, [8])
    assert stream.read() == stream.read_with_spark() == [1, 2, 8]
    reopened = Table(spark, stream.path)
    assert [knot.note.knot for knot in reopened.knots(0, 99)] == [1, 2, 8]
    assert [reopened.find(knot) is not None for knot in range(1, 9)] == [
        *[True, True],
        *[False] * 5,
        True,
    ]


def test_a_cut_that_comes_again_late_undoes_nothing_that_came_after_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path)
    for knot in range(1, 4):
        stream.tie(knot, [knot])
    cut = stream.table.cut(1, 3, {"operation": "a"})
    stream.table.restore(1, 3, {"operation": "b"})
    sleeper = Table(spark, stream.path)
    assert sleeper.cut(1, 3, {"operation": "a"}) == cut
    assert stream.read() == [1, 2, 3]
    stream.table.cut(1, 3, {"operation": "c"})
    sleeper.restore(1, 3, {"operation": "b"})
    assert stream.read() == [1]


def test_a_cut_of_everything_leaves_an_empty_stream(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.tie(1, [1])
    stream.table.cut(0, 1, {})
    assert stream.table.head() is None
    assert stream.read() == []
    assert Table(spark, stream.path).head() is None


def test_a_column_is_added_with_a_knot(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.tie(1, [1])
    wider = schema_of(f"n bigint, note string, {SYSTEM}")
    woven = stream.rows([2], 2).select(
        f.struct("n", f.lit("new").alias("note"), "_weft").alias("out"), f.lit(0).alias("verdict")
    )
    written = spine.write(woven, prefix="k2", outputs={"out": stream.path}).outputs["out"]
    stream.table.commit(1, note(2), written.files, schema=json.loads(wider.json()))
    stream.tie(3, [3])
    assert stream.table.schema() == json.loads(wider.json())
    assert Table(spark, stream.path).schema() == json.loads(wider.json())
    rows = spark.read.format("delta").load(stream.path).sort("n").select("n", "note").collect()
    assert [tuple(row) for row in rows] == [(1, None), (2, "new"), (3, None)]
    found = deltalake.DeltaTable(stream.path).to_pyarrow_table().sort_by("n")
    assert found["note"].to_pylist() == [None, "new", None]


def test_a_long_log_is_opened_by_reading_a_few_files(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    for knot in range(1, 301):
        stream.table.commit(knot - 1, note(knot), [])
    stream.table.cut(10, 300, {})
    for file in (tmp_path / "_delta_log").glob("*.json"):
        if int(file.stem) not in {0, 10, 300, 301}:
            file.write_text("not read")
    reopened = Table(spark, stream.path)
    assert reopened.version() == 301
    assert reopened.schema() == json.loads(stream.schema.json())
    assert head(reopened) == (10, 10)


def test_another_tools_commits_are_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.tie(1, [1])
    stream.tie(2, [2])
    stream.table.cut(1, 2, {})
    foreign = {"commitInfo": {"timestamp": 0, "operation": "SET TBLPROPERTIES"}}
    (tmp_path / "_delta_log" / f"{4:020d}.json").write_text(json.dumps(foreign) + "\n")
    assert head(stream.table) == (1, 1)
    stream.tie(3, [3])
    reopened = Table(spark, stream.path)
    assert reopened.find(2) is None
    assert head(reopened) == (3, 5)
    assert stream.read() == [1, 3]


def test_other_tools_read_a_table_and_write_none(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    for knot in range(1, 5):
        stream.tie(knot, [knot])
    table = deltalake.DeltaTable(stream.path)
    by_rust: list[Callable[[], object]] = [
        table.optimize.compact,
        lambda: table.delete("n = 1"),
        lambda: table.alter.set_table_properties({"delta.appendOnly": "true"}),
        lambda: deltalake.write_deltalake(table, table.to_pyarrow_table(), mode="append"),
    ]
    for writing in by_rust:
        with pytest.raises(deltalake.exceptions.DeltaError):
            writing()
    for statement in ("OPTIMIZE delta.`{}`", "DELETE FROM delta.`{}` WHERE n = 1"):
        with pytest.raises(Py4JJavaError, match="UNSUPPORTED_FEATURES_FOR_WRITE"):
            spark.sql(statement.format(stream.path)).collect()
    assert stream.table.version() == 4
    assert stream.read() == [1, 2, 3, 4]
    stream.table.cut(2, 4, {})
    assert stream.read() == [1, 2]


def test_a_checkpoint_of_the_log_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.tie(1, [1])
    stream.tie(2, [2])
    stream.table.cut(1, 2, {})
    thread = delta_checkpoint.request(stream.path)
    assert thread is not None
    thread.join(30)
    log = tmp_path / "_delta_log"
    assert (log / "_last_checkpoint").exists()
    assert len(list(log.glob("*.json"))) == 4
    stream.tie(3, [3])
    assert stream.read() == [1, 3]
    assert Table(spark, stream.path).find(2) is None


def test_a_checkpoint_that_fails_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    thread = delta_checkpoint.request(str(tmp_path / "none"))
    assert thread is not None
    thread.join(30)
    assert "got no checkpoint" in caplog.text
