"""Records as JSON, text and keys."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.sinks.document import documents, to_json, to_key, to_text

NOON = dt.datetime(2026, 1, 2, 12, 0, 0, 5, tzinfo=dt.UTC)


def written(values: list[Any], kind: pa.DataType) -> list[Any]:
    """What a reader of the JSON finds for the values of one column."""
    batch = pa.record_batch({"x": pa.array(values, kind)})
    return [json.loads(to_json(one))["x"] for one in documents(batch)]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (9007199254740993, pa.int64(), 9007199254740993),
        (Decimal("1.10"), pa.decimal128(10, 2), "1.10"),
        (Decimal("1E+3"), pa.decimal128(10, 0), "1000"),
        (NOON, pa.timestamp("us", "UTC"), "2026-01-02T12:00:00.000005Z"),
        (NOON.replace(tzinfo=None), pa.timestamp("us"), "2026-01-02T12:00:00.000005"),
        (NOON.date(), pa.date32(), "2026-01-02"),
        (b"\x00\xff", pa.binary(), "AP8="),
        (float("nan"), pa.float64(), "NaN"),
        (float("-inf"), pa.float32(), "-Infinity"),
        (1.5, pa.float64(), 1.5),
        (True, pa.bool_(), True),
        ([1.0, float("inf"), None], pa.list_(pa.float64()), [1.0, "Infinity", None]),
        ([("a", 1), ("b", None)], pa.map_(pa.string(), pa.int32()), {"a": 1, "b": None}),
        ([(1, 2)], pa.map_(pa.int64(), pa.int64()), {"1": 2}),
        ({"d": Decimal("2.5")}, pa.struct({"d": pa.decimal128(5, 1)}), {"d": "2.5"}),
        (None, pa.string(), None),
        ("ü\n\x00", pa.string(), "ü\n\x00"),
    ],
)
def test_each_type_has_one_form(value: Any, kind: pa.DataType, expected: Any) -> None:
    assert written([value], kind) == [expected]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_finite_numbers_are_read_back_as_they_were(values: list[float]) -> None:
    assert written(values, pa.float64()) == values


def test_a_key_of_one_text_column_is_that_text() -> None:
    assert to_key({"a": "x"}, ("a",)) == b"x"
    assert to_key({"a": 7}, ("a",)) == b"7"
    assert to_key({"a": "x", "b": 7}, ("a", "b")) == b'{"a":"x","b":7}'
    assert to_key({"a": "x"}, ()) is None
    assert to_key({"a": {"b": "x"}}, ("a.b",)) == b"x"
    assert to_key({"a": {"b": "x"}, "c": None}, ("a.b", "c.d")) == b'{"a.b":"x","c.d":null}'


def test_cells_are_bare_text() -> None:
    cells = [None, "a,b", 7, Decimal("1.50"), NOON, [1, "x"]]
    expected = ["", "a,b", "7", "1.50", "2026-01-02T12:00:00.000005Z", '[1,"x"]']
    assert [to_text(cell) for cell in cells] == expected
