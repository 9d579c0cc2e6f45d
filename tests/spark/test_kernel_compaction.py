"""Knots whose rows were put together into one file: every reader sees the same rows, of any knot, before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.streams import Reader, Stream
from weft.sinks.rows import SharedRows
from weft.streams import compaction
from weft.streams.pieces import parts_of, read_parts
from weft.streams.read import TableReading
from weft.streams.rows import whole
from weft.streams.table import TableConflictError

BY = {"operation": "compact-1"}


def filled(spark: SparkSession, folder: Path, knots: int = 8) -> Stream:
    """A stream of knots with two rows each; the fourth has none."""
    stream = Stream(spark, folder)
    for knot in range(1, knots + 1):
        values = [] if knot == 4 else [2 * knot, 2 * knot + 1]
        stream.tie(knot, values, rows=len(values))
    return stream


def numbers(*knots: int) -> list[int]:
    return [n for knot in knots if knot != 4 for n in (2 * knot, 2 * knot + 1)]


def compact(stream: Stream, upto: int, *, small: int = 1 << 20) -> list[compaction.Made]:
    """Put the knots up to one together, as a worker does."""
    made = []
    for run in compaction.plan(stream.table, upto, small=small):
        one = compaction.write(stream.table, run)
        if one is not None and compaction.commit(stream.table, one, BY):
            made.append(one)
    return made


def of_knots(stream: Stream, after: int, upto: int) -> list[int]:
    """The rows of some knots, by Spark; the sinks' reader must see the same."""
    parts = parts_of(stream.path, stream.table.knots(after, upto))
    if not parts:
        return []
    rows = SharedRows(parts, ["n"])
    by_arrow = sorted(row["n"] for row in rows.records())
    assert rows.count == len(by_arrow)
    by_spark = sorted(row.n for row in read_parts(stream.spark, parts, stream.schema).collect())
    assert by_spark == by_arrow
    return by_spark


def test_all_readers_see_the_same_rows_in_one_file(spark: SparkSession, tmp_path: Path) -> None:
    stream = filled(spark, tmp_path)
    [made] = compact(stream, 6)
    [file] = made.files
    assert (file.after, file.upto, file.rows) == (0, 6, 10)
    assert stream.read() == stream.read_with_spark() == numbers(*range(1, 9))
    for knot in range(1, 9):
        assert of_knots(stream, knot - 1, knot) == numbers(knot)
    assert of_knots(stream, 2, 7) == numbers(3, 5, 6, 7)
    assert compact(stream, 6) == []
    chunk = whole(stream.table, "s", 1, 3)
    assert chunk is not None
    assert (chunk.first, chunk.last, chunk.rows) == (2, 3, 4)
    stream.tie(9, [18, 19], rows=2)
    assert stream.read() == numbers(*range(1, 10))


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_reader_in_the_middle_sees_each_row_once(
    spark: SparkSession, tmp_path: Path, step: int
) -> None:
    stream = filled(spark, tmp_path / "table")
    reading = TableReading(most_rows=1)
    with Reader(stream, tmp_path / "middle", reading=reading, max_knots=step) as reader:
        assert [n for batch in reader.drain() for n in batch] == numbers(*range(1, 9))
    compact(stream, 7)
    stream.tie(9, [18, 19], rows=2)
    with Reader(stream, tmp_path / "middle", reading=reading, max_knots=step) as reader:
        assert reader.drain() == [[18, 19]]
    with Reader(stream, tmp_path / "first", max_knots=step) as reader:
        batches = reader.drain()
    assert [n for batch in batches for n in batch] == numbers(*range(1, 10))
    assert max(map(len, batches)) <= 2 * step
    with Reader(stream, tmp_path / "late", reading=TableReading(after=2)) as reader:
        assert reader.drain() == [numbers(*range(3, 10))]


def test_a_cut_into_a_shared_file_cuts_exactly_and_can_be_undone(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = filled(spark, tmp_path)
    compact(stream, 8)
    with pytest.raises(TableConflictError):
        stream.table.cut(5, 8, BY)
    compaction.divide(stream.table, 5, BY)
    stream.table.cut(5, 8, BY)
    assert stream.read() == stream.read_with_spark() == numbers(1, 2, 3, 5)
    stream.tie(9, [18, 19], rows=2)
    # What was cut comes back in part, and is cut again.
    compaction.divide(stream.table, 7, BY)
    stream.table.cut(8, 9, {"operation": "second"})
    stream.table.restore(5, 7, {"operation": "second"})
    assert stream.read() == stream.read_with_spark() == numbers(1, 2, 3, 5, 6, 7)
    for knot in (5, 6, 7):
        assert of_knots(stream, knot - 1, knot) == numbers(knot)
    for knot in (10, 11):
        stream.tie(knot, [2 * knot, 2 * knot + 1], rows=2)
    # Knots 8 and 9 are cut: what lies on both sides of them does not share a file.
    spans = [(file.after, file.upto) for made in compact(stream, 11) for file in made.files]
    assert spans == [(0, 7), (9, 11)]
    assert stream.read() == numbers(1, 2, 3, 5, 6, 7, 10, 11)


def test_who_comes_second_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    stream = filled(spark, tmp_path)
    [run] = compaction.plan(stream.table, 8)
    first, second = (compaction.write(stream.table, run) for _ in range(2))
    assert first is not None
    assert second is not None
    assert compaction.commit(stream.table, first, BY)
    version = stream.table.version()
    assert not compaction.commit(stream.table, second, BY)
    assert stream.table.version() == version
    assert not Path(stream.path, second.files[0].path).exists()
    assert stream.read() == numbers(*range(1, 9))


@pytest.mark.parametrize("meanwhile", ["cut", "expire"])
def test_what_was_cut_or_expired_meanwhile_does_not_come_back(
    spark: SparkSession, tmp_path: Path, meanwhile: str
) -> None:
    stream = filled(spark, tmp_path)
    [run] = compaction.plan(stream.table, 7)
    made = compaction.write(stream.table, run)
    assert made is not None
    if meanwhile == "cut":
        stream.table.cut(6, 8, BY)
    else:
        stream.table.expire(3, BY)
    left = stream.read()
    assert not compaction.commit(stream.table, made, BY)
    assert stream.read() == stream.read_with_spark() == left


def test_expiry_takes_rows_out_of_a_shared_file(spark: SparkSession, tmp_path: Path) -> None:
    stream = filled(spark, tmp_path)
    [made] = compact(stream, 7)
    with pytest.raises(TableConflictError):
        stream.table.expire(3, BY)
    compaction.divide(stream.table, 3, BY)
    stream.table.expire(3, BY)
    assert stream.read() == stream.read_with_spark() == numbers(*range(5, 9))
    assert stream.table.delete_expired(0, 3).files == 4  # three knots' own, and what they share
    version, paths = stream.table.replaced(-1, before_ms=2**62)
    assert made.files[0].path in paths
    assert stream.table.replaced(version, before_ms=2**62) == (version, [])
    assert stream.table.replaced(-1, before_ms=0) == (-1, [])
    stream.table.delete(paths)
    assert stream.read() == stream.read_with_spark() == numbers(*range(5, 9))
    for knot in range(5, 9):
        assert of_knots(stream, knot - 1, knot) == numbers(knot)


def test_files_are_put_together_by_size(spark: SparkSession, tmp_path: Path) -> None:
    stream = filled(spark, tmp_path, knots=4)
    compact(stream, 4)
    for knot in range(5, 25):
        stream.tie(knot, [2 * knot, 2 * knot + 1], rows=2)
        if knot % 4 == 0:
            compact(stream, knot, small=4000)
    files = {file.path for knot in stream.table.knots() for file in knot.files}
    assert len(files) <= 5
    assert stream.read() == numbers(*range(1, 25))


def test_a_file_that_was_changed_is_not_put_together_with_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = filled(spark, tmp_path)
    [file] = stream.table.knots(1, 2)[0].files
    path = tmp_path / file.path
    path.write_bytes(path.read_bytes()[:-1] + b"\x00")
    version = stream.table.version()
    [run] = compaction.plan(stream.table, 6)
    with pytest.raises(compaction.RowsAlteredError):
        compaction.write(stream.table, run)
    assert stream.table.version() == version
    assert not list(tmp_path.glob("*-compacted-*"))
