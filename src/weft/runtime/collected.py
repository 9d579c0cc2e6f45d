"""Rows of a frame as Python values. Spark gives times in the zone of this machine, without saying so; here they are in
UTC wherever a worker runs. Called by whatever tells rows to people."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

from weft.sinks.document import finite

Convert = Callable[[Any], Any]


def collected(frame: DataFrame) -> list[dict[str, Any]]:
    """All rows; structs in them are dicts too, and times have their zone."""
    convert = _converter(frame.schema)
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    return rows if convert is None else [convert(row) for row in rows]


def _converter(kind: DataType) -> Convert | None:
    """What makes of a value the same with times in UTC; None where it can have none."""
    if isinstance(kind, TimestampType):
        return lambda value: value if value is None else value.astimezone(UTC)
    if isinstance(kind, StructType):
        inside = {field.name: made for field in kind if (made := _converter(field.dataType))}
        return (lambda value: _in_struct(value, inside)) if inside else None
    if isinstance(kind, ArrayType):
        each = _converter(kind.elementType)
        return (lambda value: value and [each(one) for one in value]) if each else None
    if isinstance(kind, MapType):
        of_key, of_value = _converter(kind.keyType), _converter(kind.valueType)
        if of_key or of_value:
            return lambda value: value and _in_map(value, of_key or _same, of_value or _same)
    return None


def _in_struct(value: dict[str, Any] | None, inside: dict[str, Convert]) -> Any:
    if value is None:
        return None
    return {name: inside[name](one) if name in inside else one for name, one in value.items()}


def _in_map(value: dict[Any, Any], of_key: Convert, of_value: Convert) -> dict[Any, Any]:
    return {of_key(key): of_value(one) for key, one in value.items()}


def _same(value: Any) -> Any:
    return value


def plain(value: Any) -> Any:
    """A value as JSON can hold it; bytes are base64, and what is no number is a word, as in sinks."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return str(value.astimezone(UTC).replace(tzinfo=None))
    return value if isinstance(value, bool | int | str | None) else str(value)
