"""Columns from a sample of files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weft.sources.sample import InferenceError, infer


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


def types(folder: Path, *records: object) -> dict[str, str]:
    """The columns of a file with these records."""
    folder.mkdir(exist_ok=True)
    (folder / "a.json").write_text("".join(json.dumps(record) + "\n" for record in records))
    return infer(str(folder)).to_dict()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([{"x": 1}, {}], "struct<x:bigint>"),
        ([{}, {"x": 1}], "struct<x:bigint>"),
        ([{"x": 1}, {"x": None}], "struct<x:bigint>"),
        ([{"x": None}, {"x": {"y": 1.5}}, {"x": {}}], "struct<x:struct<y:double>>"),
        ([[{"x": 1}], []], "array<struct<x:bigint>>"),
        ([[], [1], [None]], "array<bigint>"),
        ([[[]], [[1.5]]], "array<array<double>>"),
        ([[{}, {"x": 1}, {"y": "2026-01-01"}]], "array<struct<x:bigint,y:date>>"),
        ([{"X": 1, "x": 1.5}, {"x": 2}], "struct<X:double>"),
        ([{}, {}], "string"),
        ([[], []], "array<string>"),
        ([None], "string"),
        ([{"x": {}}], "struct<x:string>"),
        ([{"x": 1}, [1]], "string"),
        ([10**40, 1], "string"),
        ([-(2**63)], "bigint"),
        (["2026-01-01T10"], "string"),
        (["2026-01-01T10:00"], "timestamp"),
        (["2026-13-01"], "string"),
    ],
)
def test_what_is_empty_takes_the_type_that_others_have(
    tmp_path: Path, values: list[object], kind: str
) -> None:
    assert types(tmp_path, *({"p": value} for value in values)) == {"p": kind}


def test_names_that_differ_by_their_case_are_one_column(tmp_path: Path) -> None:
    assert types(tmp_path, {"Id": 1}, {"ID": 1.5}, {"id": None}) == {"Id": "double"}


def test_a_code_with_leading_zeros_is_no_number(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("zip,n,f,z\n01234,0,0.5,00.5\n")
    found = infer(str(tmp_path), "csv").to_dict()
    assert found == {"zip": "string", "n": "bigint", "f": "double", "z": "string"}


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
