"""Columns and keys of a table, from what a change event and its key say of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from weft.schema.schema import SchemaError
from weft.sources.envelope import envelope_columns, key_columns

TIME = "io.debezium.time."
CONNECT = "org.apache.kafka.connect.data."


def event(*fields: dict[str, Any], side: str = "after") -> bytes:
    """An event whose schema says these columns of its rows."""
    row = {"type": "struct", "optional": True, "fields": list(fields), "field": side}
    parts = [row, {"type": "string", "field": "op"}]
    schema = {"type": "struct", "fields": parts, "name": "s.t.Envelope"}
    return json.dumps({"schema": schema, "payload": {"op": "t"}}).encode()


def learnt(**described: Any) -> str:
    """The type of a column that is described so."""
    schema = envelope_columns(event({"field": "v", **described}))
    assert schema is not None
    return str(schema.get("v").type)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("int8", "tinyint"),
        ("int16", "smallint"),
        ("int32", "int"),
        ("int64", "bigint"),
        ("float", "float"),
        ("float64", "double"),
        ("double", "double"),
        ("boolean", "boolean"),
        ("string", "string"),
        ("bytes", "binary"),
        ("int128", "string"),
        (None, "string"),
    ],
)
def test_a_plain_type_has_its_name_in_weft(kind: str | None, expected: str) -> None:
    assert learnt(type=kind) == expected


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("int32", TIME + "Date", "date"),
        ("int32", CONNECT + "Date", "date"),
        ("int64", TIME + "Timestamp", "timestamp"),
        ("int64", TIME + "MicroTimestamp", "timestamp"),
        ("int64", TIME + "NanoTimestamp", "timestamp"),
        ("string", TIME + "ZonedTimestamp", "timestamp"),
        ("int64", CONNECT + "Timestamp", "timestamp"),
        ("int64", TIME + "MicroTime", "string"),
        ("int32", CONNECT + "Time", "string"),
        ("string", TIME + "ZonedTime", "string"),
        ("string", TIME + "Interval", "string"),
        ("int64", TIME + "MicroDuration", "bigint"),
        ("int32", TIME + "Year", "int"),
        ("string", "io.debezium.data.Json", "string"),
        ("string", "io.debezium.data.Enum", "string"),
        ("bytes", "io.debezium.data.Bits", "binary"),
        ("struct", "io.debezium.data.VariableScaleDecimal", "string"),
    ],
)
def test_a_type_with_a_meaning_becomes_what_it_means(kind: str, name: str, expected: str) -> None:
    assert learnt(type=kind, name=name) == expected


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"scale": "2", "connect.decimal.precision": "10"}, "decimal(10,2)"),
        ({"scale": "4"}, "decimal(38,4)"),
        ({"scale": "5", "connect.decimal.precision": "3"}, "decimal(5,5)"),
        ({"scale": "-2", "connect.decimal.precision": "5"}, "decimal(7,0)"),
        ({"scale": "65", "connect.decimal.precision": "65"}, "string"),
        ({"scale": "many"}, "string"),
        (None, "decimal(38,0)"),
    ],
)
def test_a_decimal_is_as_wide_as_its_schema_says(parameters: Any, expected: str) -> None:
    assert learnt(type="bytes", name=CONNECT + "Decimal", parameters=parameters) == expected


def test_nested_types_are_made_of_their_parts() -> None:
    number = {"type": "int32"}
    assert learnt(type="array", items=number) == "array<int>"
    assert learnt(type="map", keys={"type": "string"}, values=number) == "map<string,int>"
    point = [{"field": "x", "type": "double"}, {"field": "wkb", "type": "bytes"}]
    assert learnt(type="struct", fields=point) == "struct<x:double,wkb:binary>"
    assert learnt(type="struct", fields=[]) == "string"
    assert learnt(type="map", keys={"type": "array", "items": number}, values=number) == "string"
    assert learnt(type="array", items=None) == "array<string>"
    twice = [{"field": "a", "type": "int32"}, {"field": "A", "type": "int32"}]
    assert learnt(type="struct", fields=twice) == "string"
    deep: dict[str, Any] = number
    for _ in range(40):
        deep = {"type": "array", "items": deep}
    assert learnt(**deep).startswith("array<")


def test_columns_stand_in_the_order_of_the_table() -> None:
    fields = [{"field": "b", "type": "int32"}, {"field": "__a", "type": "string"}]
    schema = envelope_columns(event(*fields, side="before"))
    assert schema is not None
    assert schema.to_dict() == {"b": "int", "__a": "string"}


def test_what_was_added_to_an_unwrapped_row_is_no_column() -> None:
    fields = [{"field": "id", "type": "int64"}, {"field": "__op", "type": "string"}]
    row = {"schema": {"type": "struct", "fields": fields}, "payload": {"id": 1, "__op": "c"}}
    schema = envelope_columns(json.dumps(row).encode())
    assert schema is not None
    assert schema.to_dict() == {"id": "bigint"}


def test_an_unwrapped_row_needs_no_mark_where_the_table_says_that_it_is_one() -> None:
    fields = [{"field": "id", "type": "int64"}, {"field": "after", "type": "string"}]
    row = {"schema": {"type": "struct", "fields": fields}, "payload": {"id": 1, "after": "x"}}
    value = json.dumps(row).encode()
    assert envelope_columns(value) is None
    schema = envelope_columns(value, unwrapped=True)
    assert schema is not None
    assert schema.to_dict() == {"id": "bigint", "after": "string"}


def test_columns_that_differ_by_their_case_alone_are_refused() -> None:
    with pytest.raises(SchemaError) as error:
        envelope_columns(event({"field": "a", "type": "int32"}, {"field": "A", "type": "int32"}))
    assert error.value.code == "schema.duplicate-column"


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xff",
        b"null",
        b"[]",
        b'{"op":"c","after":{"id":1}}',
        b'{"schema":{},"payload":{}}',
        b'{"schema":[],"payload":{}}',
        b'{"schema":{"fields":[1,{"field":"after","fields":7}]}}',
        b'{"schema":{"fields":[{"field":"ts_ms","type":"int64"}]},"payload":{}}',
        b"[" * 100_000,
    ],
)
def test_an_event_that_does_not_say_its_columns_has_none(value: bytes) -> None:
    assert envelope_columns(value) is None


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b'{"id":1,"region":"eu"}', ("id", "region")),
        (
            b'{"schema":{"fields":[{"field":"b"},{"field":"a"}]},"payload":{"a":1,"b":2}}',
            ("b", "a"),
        ),
        (b'{"schema":null,"payload":{"id":1}}', ("id",)),
        (b'{"schema":{},"payload":null}', None),
        (b"{}", None),
        (b"17", None),
        (b"id", None),
        (b"", None),
    ],
)
def test_a_key_names_its_columns(key: bytes, expected: tuple[str, ...] | None) -> None:
    assert key_columns(key) == expected
