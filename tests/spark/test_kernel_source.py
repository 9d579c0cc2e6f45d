"""Streams read back knot by knot, with nothing lost, doubled or rolled back."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from tests.spark.streams import SYSTEM, Reader, Stream, note, schema_of
from weft.errors import WeftError
from weft.runtime import spine
from weft.streams.read import TableReading


def wait_for(batches: int, reader: Reader, seconds: float = 20) -> None:
    """Wait until the reader has had this many batches."""
    end = time.monotonic() + seconds
    while len(reader.batches) < batches and time.monotonic() < end:
        time.sleep(0.01)
    assert len(reader.batches) == batches


def test_each_row_is_read_once_also_across_restarts(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path / "stream")
    stream.tie(1, [1, 2])
    stream.tie(2, [3])
    with Reader(stream, tmp_path / "reader") as reader:
        assert reader.drain() == [[1, 2, 3]]
        stream.tie(3, [4])
        assert reader.drain() == [[1, 2, 3], [4]]
        idle = len(reader.batches)
    stream.tie(4, [5])
    with Reader(stream, tmp_path / "reader") as reader:
        assert reader.drain() == [[5]]
    assert idle == 2


def test_a_batch_that_lost_where_it_begins_is_not_run_from_the_start(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path / "stream")
    checkpoint = tmp_path / "reader"
    with Reader(stream, checkpoint) as reader:
        for knot in (1, 2):
            stream.tie(knot, [knot])
            reader.drain()
    (checkpoint / "commits" / "1").unlink()
    (checkpoint / "offsets" / "0").rename(checkpoint / "gone")
    with Reader(stream, checkpoint) as reader, pytest.raises(WeftError) as refused:
        reader.drain()
    assert refused.value.code == "checkpoint.batch-gone"
    (checkpoint / "gone").rename(checkpoint / "offsets" / "0")
    with Reader(stream, checkpoint) as reader:
        assert reader.drain() == [[2]]


def test_a_stream_that_is_not_there_yet_is_waited_for(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path / "stream")
    shutil.rmtree(stream.path)
    with Reader(stream, tmp_path / "reader") as reader:
        assert reader.drain() == []
        Stream(spark, tmp_path / "stream").tie(1, [1])
        assert reader.drain() == [[1]]


def test_batches_take_whole_knots_up_to_a_number_of_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path / "stream")
    for knot, values in enumerate([[1, 2], [3], [4, 5, 6, 7], [8], [9]], start=1):
        stream.tie(knot, values)
    with Reader(stream, tmp_path / "reader", reading=TableReading(most_rows=3)) as reader:
        assert reader.drain() == [[1, 2, 3], [4, 5, 6, 7], [8, 9]]
        assert reader.files == [2, 1, 2]


def test_reading_starts_after_a_knot(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path / "stream")
    for knot in (1, 2, 3):
        stream.tie(knot, [knot])
    with Reader(stream, tmp_path / "reader", reading=TableReading(after=2)) as reader:
        assert reader.drain() == [[3]]


def test_knots_that_were_cut_are_not_read(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path / "stream")
    for knot in (1, 2, 3):
        stream.tie(knot, [knot])
    with Reader(stream, tmp_path / "reader", reading=TableReading(most_rows=1)) as reader:
        assert reader.drain() == [[1], [2], [3]]
    stream.table.cut(1, 3, {})
    # The reader goes back to before the cut, as a rollback makes it.
    for batch in (1, 2):
        for part in ("offsets", "commits"):
            (tmp_path / "reader" / part / str(batch)).unlink()
    stream.tie(4, [4])
    with Reader(stream, tmp_path / "reader", reading=TableReading(most_rows=1)) as reader:
        assert reader.drain() == [[4]]


def test_a_batch_that_runs_again_after_a_cut_leaves_the_cut_knots_out(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path / "stream")
    for knot in (1, 2, 3):
        stream.tie(knot, [knot])
    with Reader(stream, tmp_path / "reader") as reader:
        assert reader.drain() == [[1, 2, 3]]
    (tmp_path / "reader" / "commits" / "0").unlink()
    stream.table.cut(1, 2 + 1, {})
    with Reader(stream, tmp_path / "reader") as reader:
        assert reader.drain() == [[1]]


def test_a_tick_makes_one_batch_without_data(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path / "stream")
    with Reader(stream, tmp_path / "reader", name="ticked") as reader:
        reader.loop.tick()
        wait_for(1, reader)
        stream.tie(1, [1])
        wait_for(2, reader)
        reader.loop.tick()
        wait_for(3, reader)
        assert reader.drain() == [[], [1], []]
        assert reader.knots == [[], [(1, None)], []]


def test_a_batch_names_its_knots_and_their_watermarks(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path / "stream")
    stream.tie(1, [1], watermark=1000)
    stream.tie(2, [], watermark=2000)
    with Reader(stream, tmp_path / "reader") as reader:
        assert reader.drain() == [[1]]
        stream.tie(3, [], watermark=None)
        assert reader.drain() == [[1], []]
        assert reader.knots == [[(1, 1000), (2, 2000)], [(3, None)]]


def test_columns_that_old_files_lack_are_null(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path / "stream")
    stream.tie(1, [1])
    wider = schema_of(f"n bigint, note string, {SYSTEM}")
    woven = stream.rows([2], 2).select(
        f.struct("n", f.lit("new").alias("note"), "_weft").alias("out"), f.lit(0).alias("verdict")
    )
    written = spine.write(woven, prefix="k2", outputs={"out": stream.path}).outputs["out"]
    stream.table.commit(1, note(2), written.files, schema=json.loads(wider.json()))
    stream.schema = wider
    with Reader(stream, tmp_path / "reader") as reader:
        assert reader.drain() == [[1, 2]]
        assert {(row.n, row.note) for row in reader.batches[0]} == {(1, None), (2, "new")}


def test_a_table_made_anew_is_not_taken_for_the_old_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path / "stream")
    stream.tie(1, [1])
    stream.tie(2, [2])
    with Reader(stream, tmp_path / "reader") as reader:
        assert reader.drain() == [[1, 2]]
    shutil.rmtree(stream.path)
    anew = Stream(spark, tmp_path / "stream")
    anew.tie(7, [7])
    with (
        Reader(anew, tmp_path / "reader") as reader,
        pytest.raises(Py4JJavaError, match="made anew"),
    ):
        reader.drain()
