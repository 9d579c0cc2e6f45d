"""Records to typed rows: what is taken, and the reason for each record that is not."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from weft.schema.path import find_path
from weft.schema.schema import Schema
from weft.sources.parse import Format, Parsing, parse

SCHEMA = Schema.of(
    {
        "id": "long",
        "email": "string",
        "total": "decimal(10,2)",
        "at": "timestamp",
        "n": "int",
        "d": "double",
        "f": "float",
        "b": "boolean",
        "day": "date",
        "tags": "array<int>",
        "m": "map<string,long>",
        "s": "struct<a:int,t:timestamp>",
        "bin": "binary",
    }
)


def moment(text: str) -> datetime:
    """A time as Spark hands it to Python: that of the clock on the wall here."""
    return datetime.fromisoformat(text).astimezone().replace(tzinfo=None)


RAW = "value binary, partition int, position string, timestamp timestamp, header string"

BAD: dict[bytes | None, str] = {
    None: "the record has no value",
    b"": "the record is empty",
    b" \n": "the record is empty",
    b"xx": "not JSON: Unrecognized token 'xx' at byte 0",
    b"[1]": "expected an object, found an array",
    b"5": "expected an object, found 5",
    b"null": "expected an object, found null",
    b'{"id":1': "not JSON: Unexpected end-of-input at byte 7",
    b'{"id":1,"at":1}{"id":2}': "not JSON: it goes on after the end of the object",
    b"{'id':1}": "not JSON: Unexpected character (''' (code 39)) at byte 1",
    b'{"d":NaN}': "not JSON: Non-standard token 'NaN' at byte 8",
    '{"id":1}'.encode("utf-16-le"): "not JSON: it begins with a NUL byte",
    b'{"email":"\xff"}': "the record is not valid UTF-8",
    b'{"email":"\xc3("}': "the record is not valid UTF-8",
    b'{"id":"x"}': "column 'id': expected bigint, found \"x\"",
    b'{"id":1.5}': "column 'id': expected bigint, found 1.5",
    b'{"id":99999999999999999999}': (
        "column 'id': 99999999999999999999 is out of range for bigint"
    ),
    b'{"n":3000000000}': "column 'n': 3000000000 is out of range for int",
    b'{"total":123456789}': "column 'total': 123456789 is out of range for decimal(10,2)",
    b'{"total":1e999999999}': "column 'total': 1E+999999999 is out of range for decimal(10,2)",
    b'{"total":99999999.995}': "column 'total': 99999999.995 is out of range for decimal(10,2)",
    b'{"total":"abc"}': "column 'total': expected decimal(10,2), found \"abc\"",
    b'{"d":1e400}': "column 'd': 1e400 is out of range for double",
    b'{"f":1e39}': "column 'f': 1e39 is out of range for float",
    b'{"b":"true"}': "column 'b': expected boolean, found \"true\"",
    b'{"at":"12:30"}': (
        "column 'at': expected timestamp, found \"12:30\"; "
        "write 2026-01-31T12:00:00Z or milliseconds since 1970"
    ),
    b'{"at":1e30}': "column 'at': 1E+30 is out of range for timestamp (years 1 to 9999)",
    b'{"at":null}': "column 'at': it is missing, and it is the event time",
    b'{"id":1}': "column 'at': it is missing, and it is the event time",
    b'{"day":"2026-02-30"}': "column 'day': expected date, found \"2026-02-30\"; write 2026-01-31",
    b'{"at":1,"ID":"x"}': "column 'id': expected bigint, found \"x\"",
    b'{"day":"0000-01-01"}': "column 'day': 0000-01-01 is out of range for date (years 1 to 9999)",
    b'{"tags":[1,"a"]}': "column 'tags[1]': expected int, found \"a\"",
    b'{"s":{"a":true}}': "column 's.a': expected int, found true",
    b'{"m":{"k":"v"}}': "column 'm.k': expected bigint, found \"v\"",
    b'{"bin":"!!"}': "column 'bin': expected binary (base64), found \"!!\"",
    b'{"x":' * 2000: "not JSON: Document nesting depth (1001) exceeds the maximum allowed (1000)",
}

GOOD: dict[bytes, dict[str, Any]] = {
    b'{"at":1700000000123}': {"at": moment("2023-11-14T22:13:20.123000Z")},
    b'{"at":"1700000000123"}': {"at": moment("2023-11-14T22:13:20.123000Z")},
    b'{"at":"2026-01-01 10:00:00"}': {"at": moment("2026-01-01T10:00:00Z")},
    b'{"at":"2026-01-01T10:00:00.5+02:00"}': {"at": moment("2026-01-01T08:00:00.500000Z")},
    b'{"at":1,"unknown":{"a":[1]}}': {},
    b'\xef\xbb\xbf{"at":1,"id":1}': {"id": 1},
    b'{"at":1,"id":1,"id":2}': {"id": 2},
    b'{"at":1,"ID":5,"EMail":"x","S":{"A":7}}': {
        "id": 5,
        "email": "x",
        "s": Row(a=7, t=None),
    },
    b'{"AT":1,"ID":"wrong","id":6,"Id":[1]}': {"id": 6},
    b'{"at":1,"Id":1,"ID":2}': {"id": 2},
    b'{"at":1,"ID":null,"TAGS":[1]}': {"tags": [1]},
    b'{"at":1,"id":1e3,"n":5.0}': {"id": 1000, "n": 5},
    b'{"at":1,"total":12.345}': {"total": Decimal("12.35")},
    b'{"at":1,"total":"12.3"}': {"total": Decimal("12.30")},
    b'{"at":1,"total":1e-999999999}': {"total": Decimal("0.00")},
    b'{"at":1,"email":{"a":[1]}}': {"email": '{"a":[1]}'},
    b'{"at":1,"email":5,"d":"-Infinity"}': {"email": "5", "d": float("-inf")},
    b'{"at":1,"email":null,"b":false,"day":"2026-01-31"}': {"b": False, "day": date(2026, 1, 31)},
    b'{"at":1,"tags":[1,null],"m":{"x":1},"bin":"aGk="}': {
        "tags": [1, None],
        "m": {"x": 1},
        "bin": bytearray(b"hi"),
    },
    b'{"at":1,"s":{"t":5}}': {"s": Row(a=None, t=moment("1970-01-01T00:00:00.005000Z"))},
}


def run(
    spark: SparkSession,
    values: list[bytes | None],
    *,
    schema: Schema = SCHEMA,
    format: Format = "json",
    event_time: str | None = "at",
    header: str | None = None,
    separator: str = ",",
) -> list[Row]:
    rows = [(value, 3, str(n), None, header) for n, value in enumerate(values)]
    place = None if event_time is None else find_path(event_time, schema)
    parsing = Parsing(schema, format, place, separator)
    return parse(spark.createDataFrame(rows, RAW), parsing, source="orders").collect()


def test_a_bad_record_keeps_its_bytes_place_and_reason(spark: SparkSession) -> None:
    rows = run(spark, list(BAD))
    assert {value: row["_bad"] for value, row in zip(BAD, rows, strict=True)} == BAD
    assert [row["_raw"] for row in rows] == [value and bytearray(value) for value in BAD]
    assert [row["_id"] for row in rows] == [f"orders/3/{n}" for n in range(len(BAD))]
    assert all(row[name] is None for row in rows for name in (*SCHEMA.names, "_event_time"))


def test_a_good_record_has_its_columns(spark: SparkSession) -> None:
    rows = run(spark, list(GOOD))
    assert [row["_bad"] for row in rows] == [None] * len(GOOD)
    assert [row["_raw"] for row in rows] == [None] * len(GOOD)
    for row, expected in zip(rows, GOOD.values(), strict=True):
        found = {name: row[name] for name in SCHEMA.names if row[name] is not None}
        assert found == {"at": row["at"], **expected}
        assert row["_event_time"] == row["at"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("1,a,2026-01-01", (1, "a", moment("2026-01-01T00:00:00Z"))),
        ('2,"a,""b""",1700000000000', (2, 'a,"b"', moment("2023-11-14T22:13:20Z"))),
        ('3,"",1', (3, "", moment("1970-01-01T00:00:00.001000Z"))),
        ("4,,1", (4, None, moment("1970-01-01T00:00:00.001000Z"))),
        (" 5 , b ,1", (5, " b ", moment("1970-01-01T00:00:00.001000Z"))),
        ("1,a", "the line has 2 fields where 3 are expected"),
        ("1,a,1,2", "the line has 4 fields where 3 are expected"),
        ('1,"a,1', "a quote is not closed"),
        ('1,"a\nb",1\n', (1, "a\nb", moment("1970-01-01T00:00:00.001000Z"))),
        ('1,"a\r\n""b""",1\r\n', (1, 'a\r\n"b"', moment("1970-01-01T00:00:00.001000Z"))),
        ('1,5" pipe,1', (1, '5" pipe', moment("1970-01-01T00:00:00.001000Z"))),
        ("#1,a,1", "column 'id': expected bigint, found \"#1\""),
        ("\ufeff1,a,1", (1, "a", moment("1970-01-01T00:00:00.001000Z"))),
        ('1,"a"b,1', "a value goes on after its closing quote"),
        ("1,a,1\n2,b,1", "a line ends outside of quotes"),
        ("1,a\nb,1", "a line ends outside of quotes"),
        ("x,a,1", "column 'id': expected bigint, found \"x\""),
        ("1,a,", "column 'at': it is missing, and it is the event time"),
    ],
)
def test_a_csv_line_is_taken_by_place(spark: SparkSession, line: str, found: Any) -> None:
    schema = Schema.of({"id": "long", "name": "string", "at": "timestamp"})
    [row] = run(spark, [line.encode()], schema=schema, format="csv")
    assert (row["_bad"] or tuple(row)[:3]) == found


def test_a_csv_line_is_taken_by_its_header(spark: SparkSession) -> None:
    schema = Schema.of({"id": "long", "name": "string", "at": "timestamp"})
    [row] = run(
        spark,
        [b"x;2026-01-01;7"],
        schema=schema,
        format="csv",
        header="more;at;id",
        separator=";",
    )
    assert tuple(row)[:4] == (7, None, moment("2026-01-01T00:00:00Z"), None)


@pytest.mark.parametrize(
    ("header", "line", "found"),
    [
        ("AT,Id,NAME", "1,7,x", (7, "x")),
        (" id , name , at ", "7,x,1", (7, "x")),
        ("ID,id,name,at", "8,7,x,1", (7, "x")),
        ('"id","na""me",at', "7,x,1", (7, None)),
        ("id,name,at", "7,x", "the line has 2 fields where 3 are expected"),
    ],
)
def test_a_name_in_a_csv_header_is_found_whatever_its_case(
    spark: SparkSession, header: str, line: str, found: Any
) -> None:
    schema = Schema.of({"id": "long", "name": "string", "at": "timestamp"})
    [row] = run(spark, [line.encode()], schema=schema, format="csv", header=header)
    assert (row["_bad"] or tuple(row)[:2]) == found


def test_records_of_files_with_different_headers_are_told_apart(spark: SparkSession) -> None:
    schema = Schema.of({"a": "int", "b": "int"})
    headers = ["a,b", "b,a", "B,A", "a,b"]
    rows = [(b"1,2", 0, str(n), None, header) for n, header in enumerate(headers)]
    frame = spark.createDataFrame(rows, RAW).coalesce(1)
    found = parse(frame, Parsing(schema, "csv"), source="orders").collect()
    assert [(row.a, row.b) for row in found] == [(1, 2), (2, 1), (2, 1), (1, 2)]


def test_without_a_declared_event_time_the_record_has_that_of_its_source(
    spark: SparkSession,
) -> None:
    at = moment("2026-01-01T00:00:00Z")
    frame = spark.createDataFrame([(b'{"id":1}', 0, "0", at, None)], RAW)
    [row] = parse(frame, Parsing(SCHEMA), source="orders").collect()
    assert (row["_bad"], row["_event_time"]) == (None, at)
