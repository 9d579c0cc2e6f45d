"""Rows in Parquet files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from weft.sinks.rows import ParquetRows, first


def write(path: Path, numbers: list[int]) -> str:
    """A file as Spark writes it: columns in another order than the stream's, and one more."""
    marks = [{"id": str(number), "knot": 1} for number in numbers]
    pq.write_table(
        pa.table({"_weft": marks, "extra": numbers, "b": [str(n) for n in numbers], "a": numbers}),
        path,
    )
    return str(path)


def test_rows_come_in_file_order_with_the_streams_columns_and_weft_last(tmp_path: Path) -> None:
    paths = [write(tmp_path / "2.parquet", [1, 2]), write(tmp_path / "1.parquet", [3])]
    rows = ParquetRows(paths, ["a", "b"])
    assert rows.count == 3
    assert [batch.schema.names for batch in rows.batches()] == [["a", "b", "_weft"]] * 2
    assert [record["a"] for record in rows.records()] == [1, 2, 3]
    assert [record["a"] for record in rows.records()] == [1, 2, 3]
    assert first(rows, 1) == [{"a": 1, "b": "1", "_weft": {"id": "1", "knot": 1}}]


def test_an_address_is_read_through_its_file_system(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", [1])
    rows = ParquetRows([(tmp_path / "1.parquet").as_uri()], ["a"])
    assert [record["a"] for record in rows.records()] == [1]


def test_no_files_are_no_rows() -> None:
    rows = ParquetRows([], ["a"])
    assert rows.count == 0
    assert list(rows.records()) == []
