"""What the reader of text files makes of their lines, without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from weft.sources.admission import Admitted
from weft.sources.content import look
from weft.sources.lines import Place
from weft.sources.pack import FileRange, Pack
from weft.sources.spark.files import FileReader


def read(path: Path, **said: Any) -> list[dict[str, Any]]:
    """The rows that come of a file."""
    found = look(str(path))
    assert found is not None
    file = Admitted(str(path), found.size, found.mtime_ns)
    part = FileRange(file, path.name, said.pop("suffix", ""), Place(), found.size, 1, **said)
    reader = FileReader({"format": "json", "separator": ","}, 10)
    return [row for batch in reader.read(Pack([part])) for row in batch.to_pylist()]


def test_each_line_is_a_record_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a":1}\n{"a":2}\n{"a":3}')
    rows = read(path, suffix="@2")
    assert [row["value"] for row in rows] == [b'{"a":1}', b'{"a":2}', b'{"a":3}']
    assert [row["position"] for row in rows] == ["a.json#1@2", "a.json#2@2", "a.json#3@2"]
    assert {row["bad"] for row in rows} == {None}


@pytest.mark.parametrize("blank", [b"", b"  ", b"\r", b"\t \r", b"\v", b"\f"])
def test_blank_lines_are_no_records_and_keep_their_numbers(tmp_path: Path, blank: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"1\n" + blank + b"\n 3\n4\r\n")
    rows = read(path)
    assert [(row["position"], row["value"]) for row in rows] == [
        ("a.json#1", b"1"),
        ("a.json#3", b" 3"),
        ("a.json#4", b"4"),
    ]


def test_lines_that_end_as_those_of_windows_lose_one_return_each(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"1\r\n2\r\r\n\xff\r\n")
    assert [row["value"] for row in read(path)] == [b"1", b"2\r", b"\xff"]


def test_records_that_cannot_be_taken_say_why(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"1\n2\n")
    assert [row["bad"] for row in read(path, reason="no header")] == ["no header"] * 2


NO_PANDAS = """
import sys
from pyspark.sql.streaming.datasource import ReadMaxRows
from weft.sources.spark.files import FileReader

reader = FileReader(%r, 100)
start = end = reader.initialOffset()
while end == start:
    end = reader.latestOffset(start, ReadMaxRows(100))
rows = [batch.num_rows for part in reader.partitions(start, end) for batch in reader.read(part)]
print(sum(rows), "pandas" in sys.modules)
"""


def test_reading_does_not_import_pandas(tmp_path: Path) -> None:
    # Each of Spark's Python processes would spend a second on it.
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"a": 1}\n\n{"a": 2}\r\n')
    spec = {
        "path": f"{tmp_path}/in/",
        "format": "json",
        "header": True,
        "settle_ms": 1,
        "schema": {"type": "struct", "fields": []},
        "log": str(tmp_path / "log"),
        "parallelism": 2,
    }
    done = subprocess.run(
        [sys.executable, "-c", NO_PANDAS % spec], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["2", "False"]
