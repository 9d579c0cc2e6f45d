"""What a project's Python returned meets its column: taken as it is, or refused with a reason."""

from __future__ import annotations

import enum
from collections import OrderedDict
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from weft.schema.schema import parse_type
from weft.schema.value import MisfitError, fit, is_exact

NAN, INFINITY = float("nan"), float("inf")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Word(enum.StrEnum):
    YES = "yes"


class Text(str):
    def __str__(self) -> str:
        return "another"


class Level(enum.IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    ("kind", "value", "kept"),
    [
        ("string", "a", "a"),
        ("string", Word.YES, "yes"),
        ("string", Text("one"), "one"),
        ("string", "déjà", "déjà"),
        ("string", b"bytes", "bytes"),
        ("int", 5, 5),
        ("int", Level.HIGH, 3),
        ("int", 5.0, 5),
        ("int", Decimal("5.00"), 5),
        ("int", np.int64(5), 5),
        ("int", np.float32(5), 5),
        ("bigint", -(2**63), -(2**63)),
        ("double", 5, 5.0),
        ("double", 2**60 + 1, float(2**60)),
        ("double", INFINITY, INFINITY),
        ("double", Decimal("0.5"), 0.5),
        ("float", 3.4e38, 3.4e38),
        ("float", INFINITY, INFINITY),
        ("boolean", True, True),
        ("boolean", np.bool_(False), False),
        ("decimal(10,2)", Decimal("1.005"), Decimal("1.01")),
        ("decimal(10,2)", Decimal("-1.005"), Decimal("-1.01")),
        ("decimal(10,2)", 7, Decimal("7.00")),
        ("decimal(10,2)", Decimal("1e3"), Decimal("1000.00")),
        ("decimal(38,0)", 10**38 - 1, Decimal(10**38 - 1)),
        ("decimal(10,2)", Decimal("1e-999999"), Decimal("0.00")),
        ("binary", bytearray(b"x"), b"x"),
        ("date", NOON, date(2026, 1, 1)),
        ("timestamp", datetime(2026, 1, 1, 12), NOON),  # noqa: DTZ001
        ("timestamp", NOON.astimezone(timezone(timedelta(hours=5))), NOON),
        ("array<int>", (1, None, 2.0), [1, None, 2]),
        ("array<int>", np.array([1, 2]), [1, 2]),
        ("array<int>", set(), []),
        ("map<string,int>", {"a": 1}, [("a", 1)]),
        ("map<string,int>", [("a", 1), ["b", None]], [("a", 1), ("b", None)]),
        ("struct<a:int,b:string>", OrderedDict(a=1, more=2), {"a": 1, "b": None}),
        ("struct<a:array<int>>", {"a": None}, {"a": None}),
    ],
)
def test_a_value_that_fits_is_kept(kind: str, value: Any, kept: Any) -> None:
    found = fit(value, parse_type(kind))
    assert found == kept
    assert type(found) is type(kept)
    assert fit(None, parse_type(kind)) is None


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("string", 5, "column 'c': expected string, found 5 (int)"),
        ("string", b"\xff", "column 'c': expected string, found b'\\xff' (bytes)"),
        ("string", "\ud800", "column 'c': expected string, found '\\ud800' (str)"),
        ("string", ["a"], "column 'c': expected string, found ['a'] (list)"),
        ("int", "5", "column 'c': expected int, found '5' (str)"),
        ("int", 1.5, "column 'c': expected int, found 1.5 (float)"),
        ("int", NAN, "column 'c': expected int, found nan (float)"),
        ("int", INFINITY, "column 'c': expected int, found inf (float)"),
        ("int", True, "column 'c': expected int, found True (bool)"),
        ("int", 2**31, "column 'c': expected int, found 2147483648 (int)"),
        ("tinyint", -129, "column 'c': expected tinyint, found -129 (int)"),
        ("bigint", 2**63, "column 'c': expected bigint, found 9223372036854775808 (int)"),
        ("bigint", 1j, "column 'c': expected bigint, found 1j (complex)"),
        ("double", "x", "column 'c': expected double, found 'x' (str)"),
        ("double", 10**400, None),
        ("float", 1e39, "column 'c': expected float, found 1e+39 (float)"),
        ("boolean", 1, "column 'c': expected boolean, found 1 (int)"),
        ("boolean", "true", "column 'c': expected boolean, found 'true' (str)"),
        ("decimal(4,2)", Decimal(100), "column 'c': expected decimal(4,2), found Decimal('100')"),
        ("decimal(4,2)", 1.5, "column 'c': expected decimal(4,2), found 1.5 (float)"),
        ("decimal(4,2)", Decimal("NaN"), None),
        ("decimal(4,2)", Decimal("Infinity"), None),
        ("decimal(4,2)", Decimal("1e999999"), None),
        ("binary", "x", "column 'c': expected binary, found 'x' (str)"),
        ("date", 5, "column 'c': expected date, found 5 (int)"),
        ("date", "2026-01-01", "column 'c': expected date, found '2026-01-01' (str)"),
        ("timestamp", 1_700_000_000_000, None),
        ("timestamp", date(2026, 1, 1), None),
        ("timestamp", datetime.min.replace(tzinfo=timezone(timedelta(hours=5))), None),
        ("array<string>", "abc", "column 'c': expected array<string>, found 'abc' (str)"),
        ("array<int>", {"a": 1}, None),
        ("array<int>", [1, "x"], "column 'c[1]': expected int, found 'x' (str)"),
        ("map<string,int>", {"a": "x"}, "column 'c.a': expected int, found 'x' (str)"),
        ("map<string,int>", {None: 1}, None),
        ("map<string,int>", [1], None),
        ("struct<a:int>", (1,), "column 'c': expected struct<`a`:int>, found (1,) (tuple)"),
        ("struct<a:array<int>>", {"a": [1.5]}, "column 'c.a[0]': expected int, found 1.5"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_column_type_and_value(
    kind: str, value: Any, reason: str | None
) -> None:
    with pytest.raises(MisfitError) as caught:
        fit(value, parse_type(kind))
    told = str(caught.value.inside("c"))
    assert told.replace("`", "").startswith((reason or "column 'c").replace("`", ""))
    assert len(told) < 200


def test_a_value_that_fails_when_it_is_shown_is_told_by_its_type() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise ValueError("no")

    with pytest.raises(MisfitError) as caught:
        fit(Hostile(), parse_type("int"))
    assert "a Hostile" in str(caught.value)


def test_only_values_of_pythons_own_types_are_handed_on_unseen() -> None:
    assert is_exact([1, None, 2**70], parse_type("bigint"))
    assert not is_exact([1.5], parse_type("bigint"))
    assert not is_exact([True], parse_type("int"))
    assert not is_exact([5], parse_type("timestamp"))
    assert not is_exact([Word.YES], parse_type("string"))
    assert not is_exact([[1]], parse_type("array<int>"))
