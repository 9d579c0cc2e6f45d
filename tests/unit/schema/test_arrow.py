"""Arrow rows for Python code and back: one bad row costs itself and no other."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from weft.reason import LONGEST, one_line, reason_of, told
from weft.schema.arrow import Columns, ResultError, to_records
from weft.schema.schema import Schema
from weft.schema.value import MisfitError

SCHEMA = Schema.of({"id": "long", "name": "string", "tags": "array<int>"})
TYPES = [pa.int64(), pa.string(), pa.list_(pa.int64())]


def days(*numbers: int) -> pa.Array:
    return pa.array(numbers, pa.int32()).cast(pa.date32())


def moments(*micros: int) -> pa.Array:
    return pa.array(micros, pa.int64()).cast(pa.timestamp("us", tz="UTC"))


def test_rows_with_times_that_python_has_no_value_for_are_told_and_the_others_go_on() -> None:
    batch = pa.RecordBatch.from_pydict(
        {
            "n": [1, 2, 3, 4],
            "day": days(0, -719_528, 0, 0),
            "at": moments(0, 0, 253_402_300_800_000_000, 0),
            "deep": pa.array([{"d": 0}] * 3 + [{"d": 2_932_897}], pa.struct([("d", pa.int32())])),
        }
    ).cast(
        pa.schema(
            [
                ("n", pa.int64()),
                ("day", pa.date32()),
                ("at", pa.timestamp("us", tz="UTC")),
                ("deep", pa.struct([("d", pa.date32())])),
            ]
        )
    )
    records, reasons = to_records(batch)
    assert [record and record["n"] for record in records] == [1, None, None, None]
    assert reasons == {
        1: "column 'day': 0000-01-01 is outside the years 1 to 9999 of Python",
        2: "column 'at': 10000-01-01 00:00:00.000000Z is outside the years 1 to 9999 of Python",
        3: "column 'deep': it holds a time outside the years 1 to 9999 of Python",
    }


def test_maps_are_dictionaries() -> None:
    kind = pa.map_(pa.string(), pa.int64())
    batch = pa.RecordBatch.from_pydict({"m": pa.array([[("a", 1)], None], kind)})
    assert to_records(batch) == ([{"m": {"a": 1}}, {"m": None}], {})


def test_rows_that_fit_become_columns_and_the_others_have_a_reason() -> None:
    columns = Columns(SCHEMA, TYPES)
    for row in (
        {"id": 1, "name": "a", "tags": [1], "more": "left out"},
        {"id": 2**70, "name": "b"},
        {"id": 3, "name": 3},
        {"id": 4.0},
        {"id": 5, "name": "\ud800"},
    ):
        columns.add(row)
    arrays, reasons = columns.finish()
    assert [array.to_pylist() for array in arrays] == [[1, 4], ["a", None], [[1], None]]
    assert [(number, reason[:13]) for number, reason in sorted(reasons.items())] == [
        (1, "column 'id': "),
        (2, "column 'name'"),
        (4, "column 'name'"),
    ]
    assert [array.type for array in arrays] == TYPES


def test_a_nested_value_is_what_it_was_when_it_was_returned() -> None:
    columns = Columns(SCHEMA, TYPES)
    shared: list[int] = []
    for number in range(3):
        shared.append(number)
        columns.add({"tags": shared})
    arrays, _ = columns.finish()
    assert arrays[2].to_pylist() == [[0], [0, 1], [0, 1, 2]]


@pytest.mark.parametrize("result", [[1], "text", 5, object(), iter([])])
def test_what_is_no_mapping_is_refused(result: Any) -> None:
    columns = Columns(SCHEMA, TYPES)
    with pytest.raises(ResultError):
        columns.add(result)
    assert columns.finish()[0][0].to_pylist() == []


def test_a_nested_value_that_does_not_fit_leaves_no_half_a_row() -> None:
    columns = Columns(SCHEMA, TYPES)
    with pytest.raises(MisfitError):
        columns.add({"id": 1, "tags": ["x"]})
    columns.add({"id": 2})
    assert [array.to_pylist() for array in columns.finish()[0]] == [[2], [None], [None]]


def test_a_reason_is_one_short_printable_line() -> None:
    class HostileError(Exception):
        def __str__(self) -> str:
            raise ValueError("no")

    assert reason_of(HostileError()) == "HostileError"
    assert reason_of(ValueError("a\n  b\x00\ud800c")) == "ValueError: a b c"
    assert reason_of(KeyError("x")) == "KeyError: 'x'"
    assert len(reason_of(ValueError("y" * 10_000_000))) == LONGEST
    assert one_line("é" * 20, 10) == "é" * 9 + "…"


SPARK = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "a.py", line 1, in f
    raise KeyError
KeyError: 'x'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "b.py", line 2, in g
    raise
my.module.OtherError: what happened
and more of it

\tat org.apache.spark.Some.java
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SPARK, "OtherError: what happened"),
        ("one\ntwo", "one"),
        ("", ""),
        ("Traceback (most recent call last):", "Traceback (most recent call last):"),
        ("Traceback (most recent call last):\n  File x\nKeyboardInterrupt", "KeyboardInterrupt"),
        ("Traceback (most recent call last):\n  x\na.b.Error", "Error"),
    ],
)
def test_what_happened_is_the_last_line_of_a_traceback(text: str, line: str) -> None:
    assert told(text) == line
