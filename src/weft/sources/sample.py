"""The columns of files, from a sample of them, for projects that declare none. Called by `weft
check`; knows no Spark."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from weft.errors import WeftError
from weft.schema.schema import Field, Schema, Type
from weft.sources import lines
from weft.sources.watch import paths

SAMPLE = 1000
_STRING = Type("string")
_OPEN = Type("null")
"""The type of what is null or empty wherever it was seen so far."""
_EMPTY = Type("struct")
# Digits behind a leading zero are a code and no number: 01234 must stay 01234.
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII
)


class InferenceError(WeftError):
    """Files whose columns cannot be told."""

    code = "source.infer"
    domain = "user"


def infer(path: str, format: str = "json", *, header: bool = True, separator: str = ",") -> Schema:
    """The columns of the first finished file in a directory or pattern."""
    found = sorted(paths(path))
    if not found:
        raise InferenceError(
            f"The columns of {path} cannot be told: there is no file yet.",
            hint="Declare a schema, or put a file there.",
            path=path,
        )
    match format:
        case "parquet":
            fields = _from_arrow(pq.read_schema(found[0]))
        case "csv":
            fields = _from_records(_csv_records(found[0], header, separator), _text_type)
        case _:
            fields = _from_records(_json_records(found[0]), _json_type)
    if not fields:
        raise InferenceError(
            f"The columns of {found[0]} cannot be told: it has no record that is {format}.",
            hint="Declare a schema.",
            path=found[0],
        )
    return Schema(tuple(fields))


def _sample(path: str, separator: str | None = None) -> Iterator[str]:
    text = lines.Text(path, separator=separator.encode() if separator else None)
    found = (record for block in lines.blocks(text, lines.Place()) for record in block.records)
    decoded = (record.decode("utf-8-sig", errors="replace").rstrip("\r") for record in found)
    return itertools.islice((record for record in decoded if record.strip()), SAMPLE)


def _json_records(path: str) -> Iterator[Mapping[str, Any]]:
    for line in _sample(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _csv_records(path: str, header: bool, separator: str) -> Iterator[Mapping[str, Any]]:
    rows = (_fields(record, separator) for record in _sample(path, separator))
    names = [name.strip() for name in next(rows, [])] if header else None
    for row in rows:
        yield dict(zip(names or [f"column_{n}" for n in range(1, len(row) + 1)], row, strict=False))


def _fields(record: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([record], delimiter=separator), [])
    except csv.Error:
        return []


def _from_records(records: Iterable[Mapping[str, Any]], type_of: Any) -> list[Field]:
    kind = _EMPTY
    for record in records:
        fields = tuple(Field(name, type_of(value)) for name, value in record.items())
        kind = _wider(kind, _struct(fields))
    return [Field(field.name, _settled(field.type)) for field in kind.fields]


def _json_type(value: Any) -> Type:
    """The type of a value; what an empty one would hold is left open for others to say."""
    match value:
        case None:
            return _OPEN
        case bool():
            return Type("boolean")
        case int():
            return _whole(value)
        case float():
            return Type("double")
        case str():
            return _temporal(value) or _STRING
        case list():
            return Type("array", items=(reduce(_wider, map(_json_type, value), _OPEN),))
        case dict():
            return _struct(tuple(Field(name, _json_type(one)) for name, one in value.items()))
    return _STRING


def _whole(number: int) -> Type:
    if -(2**63) <= number < 2**63:
        return Type("bigint")
    return Type("decimal", precision=38) if abs(number) < 10**38 else _STRING


def _text_type(text: str) -> Type:
    if not text:
        return _OPEN
    if text.lower() in ("true", "false"):
        return Type("boolean")
    if _WHOLE.fullmatch(text):
        return Type("bigint")
    return Type("double") if _NUMBER.fullmatch(text) else _temporal(text) or _STRING


def _temporal(text: str) -> Type | None:
    if not _TIME.fullmatch(text):
        return None
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None
    return Type("date") if len(text) == 10 else Type("timestamp")


def _struct(fields: Iterable[Field]) -> Type:
    """An object; members whose names differ by their case alone are one, under its first spelling."""
    found: dict[str, Field] = {}
    for field in fields:
        known = found.get(field.name.lower())
        kind = field.type if known is None else _wider(known.type, field.type)
        found[field.name.lower()] = Field(known.name if known else field.name, kind)
    return Type("struct", fields=tuple(found.values()))


def _wider(one: Type, other: Type) -> Type:
    """The narrowest type that holds both."""
    if one == other or other == _OPEN:
        return one
    if one == _OPEN:
        return other
    names = {one.name, other.name}
    if names <= {"bigint", "double", "decimal"}:
        return Type("double") if "double" in names else Type("decimal", precision=38)
    if names == {"date", "timestamp"}:
        return Type("timestamp")
    if names == {"array"}:
        return Type("array", items=(_wider(one.items[0], other.items[0]),))
    if names == {"struct"}:
        return _struct((*one.fields, *other.fields))
    return _STRING


def _settled(kind: Type) -> Type:
    """The type with strings where nothing was ever said; an object that is always empty is one too."""
    if kind in (_OPEN, _EMPTY):
        return _STRING
    if kind.name == "array":
        return Type("array", items=(_settled(kind.items[0]),))
    if kind.name == "struct":
        return Type("struct", fields=tuple(Field(f.name, _settled(f.type)) for f in kind.fields))
    return kind


def _from_arrow(schema: pa.Schema) -> list[Field]:
    return [Field(field.name, _arrow_type(field.type)) for field in schema]


def _arrow_type(kind: pa.DataType) -> Type:
    if pa.types.is_decimal(kind):
        return Type("decimal", precision=kind.precision, scale=kind.scale)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return Type("array", items=(_arrow_type(kind.value_type),))
    if pa.types.is_map(kind):
        return Type("map", items=(_arrow_type(kind.key_type), _arrow_type(kind.item_type)))
    if pa.types.is_struct(kind):
        return Type("struct", fields=tuple(_from_arrow(pa.schema(list(kind)))))
    if pa.types.is_timestamp(kind):
        return Type("timestamp")
    if pa.types.is_dictionary(kind):
        return _arrow_type(kind.value_type)
    plain = {
        pa.bool_(): "boolean",
        pa.int8(): "tinyint",
        pa.int16(): "smallint",
        pa.uint8(): "smallint",
        pa.int32(): "int",
        pa.uint16(): "int",
        pa.int64(): "bigint",
        pa.uint32(): "bigint",
        pa.float32(): "float",
        pa.float64(): "double",
        pa.date32(): "date",
        pa.binary(): "binary",
        pa.large_binary(): "binary",
    }
    return Type(plain.get(kind, "string"))
