"""Rows that a table lets go of: its knots stay, other tools read what is left, readers that are past it go on."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tests.spark.streams import Reader, Stream
from weft.errors import WeftError
from weft.streams.read import TableReading
from weft.streams.rows import chunks, recent

BY = {"operation": "expire-1"}


def filled(spark: SparkSession, folder: Path) -> Stream:
    """A stream of six knots with a row each."""
    stream = Stream(spark, folder)
    for knot in range(1, 7):
        stream.tie(knot, [knot], rows=1)
    return stream


def test_other_tools_read_what_is_left_and_the_knots_stay(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = filled(spark, tmp_path)
    version = stream.table.expire(4, BY)
    assert stream.table.expire(4, BY) == version == stream.table.version()
    assert stream.read() == stream.read_with_spark() == [5, 6]
    knots = stream.table.knots()
    assert [knot.note.knot for knot in knots] == [1, 2, 3, 4, 5, 6]
    assert [len(knot.files) for knot in knots] == [0, 0, 0, 0, 1, 1]
    assert stream.table.expired() == 4
    files = list(tmp_path.glob("*.parquet"))
    assert stream.table.delete_expired(0, 4).files == 4
    assert stream.table.delete_expired(0, 4).files == 0
    assert len(list(tmp_path.glob("*.parquet"))) == len(files) - 4
    stream.tie(7, [7], rows=1)
    assert stream.read() == stream.read_with_spark() == [5, 6, 7]


def test_only_what_is_expired_is_deleted(spark: SparkSession, tmp_path: Path) -> None:
    stream = filled(spark, tmp_path)
    assert stream.table.delete_expired(0, 6).files == 0
    stream.table.expire(2, BY)
    assert stream.table.delete_expired(0, 6).files == 2
    assert stream.read() == [3, 4, 5, 6]


def test_a_reader_that_is_past_it_goes_on_and_one_before_it_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = filled(spark, tmp_path / "table")
    with Reader(stream, tmp_path / "past") as reader:
        assert reader.drain() == [[1, 2, 3, 4, 5, 6]]
    stream.tie(7, [7], rows=1)
    with Reader(stream, tmp_path / "past") as reader:
        assert reader.drain() == [[7]]
    stream.table.expire(6, BY)
    stream.table.delete_expired(0, 6)
    stream.tie(8, [8], rows=1)
    with Reader(stream, tmp_path / "past") as reader:
        assert reader.drain() == [[8]]
    with (
        pytest.raises(Py4JJavaError, match="kept from knot 7 on"),
        Reader(stream, tmp_path / "first") as reader,
    ):
        reader.drain()
    with Reader(stream, tmp_path / "after", reading=TableReading(after=6)) as reader:
        assert reader.drain() == [[7, 8]]


def test_rows_that_are_gone_are_not_taken_for_none(spark: SparkSession, tmp_path: Path) -> None:
    stream = filled(spark, tmp_path)
    stream.table.expire(3, BY)
    with pytest.raises(WeftError) as caught:
        list(chunks(stream.table, "s", 1, 6, rows=10))
    assert (caught.value.code, caught.value.ids["knot"]) == ("stream.rows-gone", 4)
    newest = recent(stream.table, "s", 0, 6, rows=10)
    assert newest.chunk is not None
    assert (newest.chunk.first, newest.chunk.last, newest.recorded) == (4, 6, 3)
