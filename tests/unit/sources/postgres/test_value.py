"""Values of PostgreSQL become those of events without a digit lost."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from weft.schema.type import parse_type
from weft.sources.postgres.catalogue import column_type, fits
from weft.sources.postgres.value import PgType, converter

BOOL, BYTEA, BIGINT, FLOAT, NUMERIC = (
    PgType(16, "bool"),
    PgType(17, "bytea"),
    PgType(20, "int8"),
    PgType(701, "float8"),
    PgType(1700, "numeric"),
)
DATE, MOMENT, ZONED = (
    PgType(1082, "date"),
    PgType(1114, "timestamp"),
    PgType(1184, "timestamptz"),
)
TEXT, JSONB, MONEY = PgType(25, "text"), PgType(3802, "jsonb"), PgType(790, "money")


def array(element: PgType, separator: str = ",") -> PgType:
    return PgType(1, f"_{element.name}", element, separator)


def written(kind: PgType, text: str) -> str:
    """The JSON of a value."""
    return orjson.dumps(converter(kind)(text.encode())).decode()


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (BOOL, "t", "true"),
        (BOOL, "f", "false"),
        (BIGINT, "-9223372036854775808", "-9223372036854775808"),
        (NUMERIC, "12.3400", "12.3400"),
        (NUMERIC, "-0.000000000000000000000000000001", "-0.000000000000000000000000000001"),
        (NUMERIC, "NaN", '"NaN"'),
        (NUMERIC, "-Infinity", '"-Infinity"'),
        (NUMERIC, "9" * 2000, f'"{"9" * 2000}"'),
        (FLOAT, "1e+20", "1e+20"),
        (FLOAT, "0.1", "0.1"),
        (FLOAT, "Infinity", '"Infinity"'),
        (BYTEA, "\\x00ff10", '"AP8Q"'),
        (BYTEA, "\\x", '""'),
        (DATE, "2024-05-06", '"2024-05-06"'),
        (DATE, "0044-03-15 BC", '"-0043-03-15"'),
        (DATE, "0001-12-31 BC", '"-0000-12-31"'),
        (DATE, "infinity", '"infinity"'),
        (MOMENT, "2024-05-06 07:08:09.123456", '"2024-05-06T07:08:09.123456"'),
        (ZONED, "2024-05-06 07:08:09+00", '"2024-05-06T07:08:09Z"'),
        (ZONED, "0044-03-15 12:00:00+00 BC", '"-0043-03-15T12:00:00Z"'),
        (ZONED, "-infinity", '"-infinity"'),
        (TEXT, 'a"\n\t\\ü', json.dumps('a"\n\t\\ü', ensure_ascii=False)),
        (JSONB, '{"a": [1, null]}', '"{\\"a\\": [1, null]}"'),
        (MONEY, "$1,234.50", '"$1,234.50"'),
    ],
)
def test_a_value_is_written_exactly(kind: PgType, text: str, value: str) -> None:
    assert written(kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (array(TEXT), "{}", []),
        (
            array(TEXT),
            '{a,"b,c",NULL,"NULL","","d\\"e\\\\"}',
            ["a", "b,c", None, "NULL", "", 'd"e\\'],
        ),
        (array(TEXT), '{"{x}",é}', ["{x}", "é"]),
        (array(BIGINT), "{1,-2,NULL}", [1, -2, None]),
        (array(BIGINT), "{{1,2},{3,4}}", [[1, 2], [3, 4]]),
        (array(BIGINT), "[0:1]={5,6}", [5, 6]),
        (array(BOOL), "{t,f}", [True, False]),
        (array(ZONED), '{"2024-05-06 07:08:09+00"}', ["2024-05-06T07:08:09Z"]),
        (
            array(PgType(603, "box"), ";"),
            "{(1,1),(0,0);(2,2),(1,1)}",
            ["(1,1),(0,0)", "(2,2),(1,1)"],
        ),
    ],
)
def test_an_array_is_the_list_of_its_elements(kind: PgType, text: str, value: Any) -> None:
    assert json.loads(written(kind, text)) == value


def test_a_text_that_is_no_text_makes_an_event_that_is_no_json() -> None:
    made = orjson.dumps({"v": converter(TEXT)(b'a"\\\xff')})
    with pytest.raises(UnicodeDecodeError):
        made.decode()


@pytest.mark.parametrize(
    ("kind", "modifier", "type"),
    [
        (NUMERIC, ((10 << 16) | 2) + 4, "decimal(10,2)"),
        (NUMERIC, ((3 << 16) | (-2 & 0x7FF)) + 4, "decimal(5,0)"),
        (NUMERIC, ((2 << 16) | 5) + 4, "decimal(5,5)"),
        (NUMERIC, ((50 << 16) | 2) + 4, "string"),
        (NUMERIC, -1, "string"),
        (PgType(1700, "numeric", modifier=((8 << 16) | 3) + 4), -1, "decimal(8,3)"),
        (BIGINT, -1, "bigint"),
        (MOMENT, -1, "timestamp"),
        (MONEY, -1, "string"),
        (array(NUMERIC), ((4 << 16) | 1) + 4, "array<decimal(4,1)>"),
    ],
)
def test_the_type_of_a_column_holds_all_its_values(kind: PgType, modifier: int, type: str) -> None:
    assert str(column_type(kind, modifier)) == type


@pytest.mark.parametrize(
    ("kind", "declared", "taken"),
    [
        (BIGINT, "int", True),
        (BIGINT, "timestamp", False),
        (NUMERIC, "decimal(5,1)", True),
        (NUMERIC, "boolean", False),
        (ZONED, "date", True),
        (ZONED, "long", False),
        (BYTEA, "string", True),
        (BYTEA, "int", False),
        (TEXT, "timestamp", True),
        (JSONB, "struct<a:int>", True),
        (array(BIGINT), "array<long>", True),
        (array(BIGINT), "array<timestamp>", False),
        (array(BIGINT), "long", False),
    ],
)
def test_a_declared_type_is_one_that_values_can_become(
    kind: PgType, declared: str, taken: bool
) -> None:
    assert fits(kind, parse_type(declared)) is taken
