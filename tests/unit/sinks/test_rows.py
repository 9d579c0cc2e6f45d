"""Rows in Parquet files."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from weft.sinks.rows import ParquetRows, RowFile, first, to_records


def write(path: Path, numbers: list[int]) -> RowFile:
    """A file as Spark writes it: columns in another order than the stream's, and one more."""
    marks = [{"id": str(number), "knot": 1} for number in numbers]
    pq.write_table(
        pa.table({"_weft": marks, "extra": numbers, "b": [str(n) for n in numbers], "a": numbers}),
        path,
    )
    return RowFile(str(path), len(numbers), path.stat().st_size, knot=1, place=0)


def test_rows_come_in_file_order_with_the_streams_columns_and_weft_last(tmp_path: Path) -> None:
    paths = [write(tmp_path / "2.parquet", [1, 2]), write(tmp_path / "1.parquet", [3])]
    rows = ParquetRows(paths, ["a", "b"])
    assert rows.count == 3
    assert [batch.schema.names for batch in rows.batches()] == [["a", "b", "_weft"]] * 2
    assert [record["a"] for record in rows.records()] == [1, 2, 3]
    assert [record["a"] for record in rows.records()] == [1, 2, 3]
    assert first(rows, 1) == [{"a": 1, "b": "1", "_weft": {"id": "1", "knot": 1}}]


def test_an_address_is_read_through_its_file_system(tmp_path: Path) -> None:
    file = write(tmp_path / "1.parquet", [1])
    rows = ParquetRows([replace(file, path=(tmp_path / "1.parquet").as_uri())], ["a"])
    assert [record["a"] for record in rows.records()] == [1]


def test_no_files_are_no_rows() -> None:
    rows = ParquetRows([], ["a"])
    assert rows.count == 0
    assert list(rows.records()) == []


def test_a_column_that_a_rule_has_dropped_is_null(tmp_path: Path) -> None:
    rows = ParquetRows([write(tmp_path / "1.parquet", [1])], ["gone", "a"])
    assert list(rows.records()) == [{"gone": None, "a": 1, "_weft": {"id": "1", "knot": 1}}]


def test_times_that_python_has_no_value_for_are_texts() -> None:
    days = pa.array([0, 2_932_897, None], pa.int32()).cast(pa.date32())
    moments = pa.array([0, 253_402_300_800_000_000, None], pa.int64())
    moments = moments.cast(pa.timestamp("us", tz="UTC"))
    nested = pa.StructArray.from_arrays([days, moments], ["d", "t"])
    kind = pa.map_(pa.string(), pa.date32())
    maps = pa.MapArray.from_arrays(pa.array([0, 1, 2, 2]), pa.array(["a", "b"]), days[:2])
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3]), days)
    batch = pa.RecordBatch.from_arrays([days, nested, maps.cast(kind), lists], list("dnml"))
    first_row, second, third = to_records(batch)
    assert first_row["d"] == date(1970, 1, 1)
    assert second == {
        "d": "10000-01-01",
        "n": {"d": "10000-01-01", "t": "10000-01-01 00:00:00.000000Z"},
        "m": {"b": "10000-01-01"},
        "l": ["10000-01-01"],
    }
    assert (third["d"], third["l"]) == (None, [None])


def test_bytes_that_are_no_text_and_keys_that_are_there_twice_stop_nothing() -> None:
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffb")]
    )
    maps = pa.MapArray.from_arrays(pa.array([0, 2]), pa.array(["k", "k"]), pa.array([1, 2]))
    batch = pa.RecordBatch.from_arrays([text, maps], ["t", "m"])
    assert to_records(batch) == [{"t": "a\ufffdb", "m": {"k": 2}}]
