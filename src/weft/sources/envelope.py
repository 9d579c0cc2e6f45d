"""What a change event of Debezium says of its table: the bytes of a Kafka record come in, the table's columns or its
key go out. Called for projects that declare none; reads the `schema` that Kafka Connect writes beside a value. Knows no
Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from weft.schema.schema import Field, Schema, SchemaError, Type
from weft.schema.type import refuse_twice

MOST_DIGITS = 38
_STRING = Type("string")
_PLAIN: Mapping[str, str] = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "float32": "float",
    "float64": "double",
    "double": "double",
    "boolean": "boolean",
    "string": "string",
    "bytes": "binary",
}
# Times of day and spans of years and months have no type of their own: the kernel gives their texts.
_MEANINGS: Mapping[str, str] = {
    "org.apache.kafka.connect.data.Date": "date",
    "org.apache.kafka.connect.data.Time": "string",
    "org.apache.kafka.connect.data.Timestamp": "timestamp",
    "io.debezium.time.Date": "date",
    "io.debezium.time.IsoDate": "date",
    "io.debezium.time.Time": "string",
    "io.debezium.time.MicroTime": "string",
    "io.debezium.time.NanoTime": "string",
    "io.debezium.time.Timestamp": "timestamp",
    "io.debezium.time.MicroTimestamp": "timestamp",
    "io.debezium.time.NanoTimestamp": "timestamp",
    "io.debezium.time.IsoTimestamp": "timestamp",
    "io.debezium.time.ZonedTimestamp": "timestamp",
    "io.debezium.data.VariableScaleDecimal": "string",
}
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_ADDED = "__"
"""How the names begin that Debezium adds to a row when it unwraps it."""


def envelope_columns(value: bytes, *, unwrapped: bool = False) -> Schema | None:
    """The columns of the table that an event is of, or None where the event has no schema that says them.

    That of a row that was unwrapped is the row's own; of others it is told by what was added to them. Refuses, as every
    schema does, columns whose names differ by their case alone.
    """
    event = _object(value)
    fields = _row(event.get("schema"), unwrapped) if event else ()
    return Schema(fields) if fields else None


def key_columns(key: bytes) -> tuple[str, ...] | None:
    """The names of the key's columns, of the key of a record with its schema or without; None where it has none."""
    found = _object(key)
    if found is None:
        return None
    if set(found) == {"schema", "payload"}:
        described = found["schema"]
        names = [field.name for field in _fields(described)] if isinstance(described, dict) else []
        payload = found["payload"] if isinstance(found["payload"], dict) else {}
        return tuple(names) or tuple(payload) or None
    return tuple(found) or None


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _row(schema: Any, unwrapped: bool) -> tuple[Field, ...]:
    """The columns of a row, of the type of an event or of an unwrapped row."""
    if not isinstance(schema, dict):
        return ()
    members = {part.get("field"): part for part in _parts(schema)}
    if unwrapped or "__op" in members or "__deleted" in members:
        return tuple(field for field in _fields(schema) if not field.name.startswith(_ADDED))
    sides = (_fields(members[side]) for side in ("after", "before") if side in members)
    return next((fields for fields in sides if fields), ())


def _parts(described: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts = described.get("fields")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _fields(described: Mapping[str, Any]) -> tuple[Field, ...]:
    named = [part for part in _parts(described) if isinstance(part.get("field"), str)]
    return tuple(Field(part["field"], _type(part)) for part in named)


def _type(described: Any) -> Type:
    """The type of a described value; a string, which holds all of them, where there is no other."""
    if not isinstance(described, dict):
        return _STRING
    name, kind = str(described.get("name")), str(described.get("type"))
    if name == _DECIMAL:
        return _decimal(described.get("parameters"))
    if name in _MEANINGS:
        return Type(_MEANINGS[name])
    try:
        return _nested(described, kind) or Type(_PLAIN.get(kind, "string"))
    except SchemaError:  # too deep, or with two members of one name
        return _STRING


def _nested(described: Mapping[str, Any], kind: str) -> Type | None:
    match kind:
        case "array":
            return Type("array", items=(_type(described.get("items")),))
        case "map":
            key = _type(described.get("keys"))
            value = _type(described.get("values"))
            return None if key.items or key.fields else Type("map", items=(key, value))
        case "struct":
            fields = _fields(described)
            refuse_twice(fields)
            return Type("struct", fields=fields) if fields else None
    return None


def _decimal(parameters: Any) -> Type:
    """A decimal wide enough for precision and scale; a text where none is."""
    said = parameters if isinstance(parameters, dict) else {}
    try:
        scale = int(said.get("scale", 0))
        precision = int(said.get("connect.decimal.precision", MOST_DIGITS))
    except (TypeError, ValueError):
        return _STRING
    # A scale below zero means zeros before the point; one above the precision, zeros behind it.
    precision = max(precision - min(scale, 0), scale, 1)
    if precision > MOST_DIGITS:
        return _STRING
    return Type("decimal", precision=precision, scale=max(scale, 0))
