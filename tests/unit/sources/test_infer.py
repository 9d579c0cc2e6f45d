"""Columns from a sample of files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weft.sources.infer import InferenceError, infer


def test_json_columns_are_the_narrowest_that_hold_all_values(tmp_path: Path) -> None:
    records = [
        {"id": 1, "x": 1, "at": "2026-01-01T00:00:00Z", "day": "2026-01-01", "s": {"a": 1}},
        {"id": 2, "x": 1.5, "at": "2026-01-01", "tags": ["a"], "s": {"b": None}, "n": None},
        {"id": 3, "mixed": 1, "ok": True, "big": 2**70, "tags": []},
        {"mixed": "a"},
    ]
    text = "".join(json.dumps(record) + "\n" for record in records) + "not json\n[]\n"
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(text.encode()))
    assert infer(str(tmp_path)).to_dict() == {
        "id": "bigint",
        "x": "double",
        "at": "timestamp",
        "day": "date",
        "s": "struct<a:bigint,b:string>",
        "tags": "array<string>",
        "n": "string",
        "mixed": "string",
        "ok": "boolean",
        "big": "decimal(38,0)",
    }


def test_csv_columns_are_named_by_the_header_or_numbered(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;name;at\n1;x;2026-01-01 10:00:00\n2;;\n")
    path = str(tmp_path / "*.csv")
    assert infer(path, "csv", separator=";").to_dict() == {
        "id": "bigint",
        "name": "string",
        "at": "timestamp",
    }
    assert infer(path, "csv", header=False, separator=";").names == (
        "column_1",
        "column_2",
        "column_3",
    )


def test_parquet_columns_are_those_of_the_file(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            ("a", pa.int32()),
            ("b", pa.decimal128(10, 2)),
            ("c", pa.timestamp("ms")),
            ("d", pa.list_(pa.float64())),
            ("e", pa.map_(pa.string(), pa.int64())),
            ("f", pa.struct([("x", pa.large_string())])),
        ]
    )
    pq.write_table(schema.empty_table(), tmp_path / "a.parquet")
    assert infer(str(tmp_path), "parquet").to_dict() == {
        "a": "int",
        "b": "decimal(10,2)",
        "c": "timestamp",
        "d": "array<double>",
        "e": "map<string,bigint>",
        "f": "struct<x:string>",
    }


@pytest.mark.parametrize("text", [None, "", "not json\n"])
def test_files_that_say_nothing_are_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "a.json").write_text(text)
    with pytest.raises(InferenceError) as caught:
        infer(str(tmp_path))
    assert caught.value.hint
