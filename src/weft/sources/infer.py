"""The columns of files, from a sample of them, for projects that declare none. Called by `weft
check`; knows no Spark."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from weft.errors import WeftError
from weft.sources import lines
from weft.sources.admission import paths
from weft.weaving.schema import Field, Schema, Type

SAMPLE = 1000
_STRING = Type("string")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


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


def _sample(path: str) -> Iterator[str]:
    found = (line for block in lines.blocks(path, lines.Place()) for line in block.lines)
    decoded = (line.decode("utf-8-sig", errors="replace").rstrip("\r") for line in found)
    return itertools.islice((line for line in decoded if line.strip()), SAMPLE)


def _json_records(path: str) -> Iterator[Mapping[str, Any]]:
    for line in _sample(path):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def _csv_records(path: str, header: bool, separator: str) -> Iterator[Mapping[str, Any]]:
    rows = csv.reader(_sample(path), delimiter=separator)
    names = next(rows, []) if header else None
    for row in rows:
        yield dict(zip(names or [f"column_{n}" for n in range(1, len(row) + 1)], row, strict=False))


def _from_records(records: Iterable[Mapping[str, Any]], type_of: Any) -> list[Field]:
    types: dict[str, Type | None] = {}
    for record in records:
        for name, value in record.items():
            types[name] = _wider(types.get(name), type_of(value))
    return [Field(name, kind or _STRING) for name, kind in types.items()]


def _json_type(value: Any) -> Type | None:
    match value:
        case None:
            return None
        case bool():
            return Type("boolean")
        case int():
            return Type("bigint") if abs(value) < 2**63 else Type("decimal", precision=38)
        case float():
            return Type("double")
        case str():
            return _temporal(value) or _STRING
        case list():
            inner: Type | None = None
            for item in value:
                inner = _wider(inner, _json_type(item))
            return Type("array", items=(inner or _STRING,))
        case dict():
            return (
                Type("struct", fields=tuple(_from_records([value], _json_type)))
                if value
                else _STRING
            )
    return _STRING


def _text_type(text: str) -> Type | None:
    if not text:
        return None
    if text.lower() in ("true", "false"):
        return Type("boolean")
    if _WHOLE.fullmatch(text):
        return Type("bigint")
    return Type("double") if _NUMBER.fullmatch(text) else _temporal(text) or _STRING


def _temporal(text: str) -> Type | None:
    if not _DATE.match(text):
        return None
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None
    return Type("date") if len(text) == 10 else Type("timestamp")


def _wider(one: Type | None, other: Type | None) -> Type | None:
    """The narrowest type that holds both."""
    if one is None or other is None or one == other:
        return one or other
    names = {one.name, other.name}
    if names <= {"bigint", "double", "decimal"}:
        return Type("double") if "double" in names else Type("decimal", precision=38)
    if names == {"date", "timestamp"}:
        return Type("timestamp")
    if names == {"array"}:
        return Type("array", items=(_wider(one.items[0], other.items[0]) or _STRING,))
    if names == {"struct"}:
        types: dict[str, Type | None] = {}
        for field in (*one.fields, *other.fields):
            types[field.name] = _wider(types.get(field.name), field.type)
        return Type("struct", fields=tuple(Field(n, t or _STRING) for n, t in types.items()))
    return _STRING


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
