"""Records as JSON: one way for every sink that writes text.

Numbers stay numbers, decimals are strings so that no digit is lost, times are ISO 8601 in UTC,
bytes are base64, and what JSON has no number for (NaN, infinities) is a string.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa

from weft.sinks.rows import to_records

_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS


def documents(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The records of a batch, ready for `to_json`."""
    fractional = [field.name for field in batch.schema if _has_floats(field.type)]
    for record in to_records(batch):
        for name in fractional:
            record[name] = finite(record[name])
        yield record


def to_json(value: Any) -> bytes:
    """A value of `documents` as JSON."""
    return orjson.dumps(value, default=_plain, option=_OPTIONS)


def to_key(document: Mapping[str, Any], key: Sequence[str]) -> bytes | None:
    """The key of a record: a single text column as it is, another as JSON, several as an object."""
    if not key:
        return None
    if len(key) > 1:
        return to_json({name: _value(document, name) for name in key})
    value = _value(document, key[0])
    return value.encode() if isinstance(value, str) else to_json(value)


def _value(document: Mapping[str, Any], name: str) -> Any:
    """A column, or a part of one by its name with dots."""
    if name in document:
        return document[name]
    value: Any = document
    for part in name.split("."):
        value = None if value is None else value[part]
    return value


def to_text(value: Any) -> str:
    """A value as a cell of a text table: nothing for null, text as it is, all else as in JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    text = to_json(value).decode()
    return text[1:-1] if text.startswith('"') else text


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _has_floats(kind: pa.DataType) -> bool:
    if pa.types.is_floating(kind):
        return True
    return any(_has_floats(kind.field(index).type) for index in range(kind.num_fields))


def finite(value: Any) -> Any:
    """The value with every NaN and infinity in it as a string."""
    if isinstance(value, float):
        return value if math.isfinite(value) else _WORDS.get(value, "NaN")
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    return value


_WORDS = {math.inf: "Infinity", -math.inf: "-Infinity"}
