"""The fingerprint of records in plain Python, for those who have values and no Spark.

In come values and their schema as Spark writes it in JSON, out come the hashes that the kernel
recorded when it wrote them. Called by tests and by whoever checks a record by hand; the kernel's
own, in Java, is the fast one.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

SYSTEM_COLUMN = "_weft"
CONTROL_COLUMN = "_control"
MODULUS = 1 << 256

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NAN = {"float": b"\x7f\xc0\x00\x00", "double": b"\x7f\xf8" + b"\x00" * 6}


def fingerprint(records: Iterable[Mapping[str, Any]], schema: Mapping[str, Any]) -> str:
    """The sum of the records' hashes modulo 2^256 as 64 hex digits, in whatever order they come."""
    total = sum(int.from_bytes(record_hash(record, schema), "big") for record in records)
    return f"{total % MODULUS:064x}"


def record_hash(record: Mapping[str, Any], schema: Mapping[str, Any]) -> bytes:
    """SHA-256 of one record: the canonical form of the user's columns, then the record's id."""
    columns = [
        field for field in schema["fields"] if field["name"] not in (SYSTEM_COLUMN, CONTROL_COLUMN)
    ]
    data = _fields([record.get(column["name"]) for column in columns], columns)
    system = record.get(SYSTEM_COLUMN)
    if system is not None and system["id"] is not None:
        data += _bytes(system["id"].encode())
    return hashlib.sha256(data).digest()


def canonical(value: Any, kind: Any) -> bytes:
    """The canonical form of a value that is not null; `kind` is its type in the schema's JSON."""
    if isinstance(kind, Mapping):
        return _NESTED[kind["type"]](value, kind)
    name = str(kind)
    if found := re.fullmatch(r"decimal\((\d+),(-?\d+)\)", name):
        return _decimal(value, int(found[2]))
    form = _PLAIN.get(re.split(r"[( ]", name)[0])
    if form is None:
        raise ValueError(f"Values of type {name} cannot be hashed; cast them to another type.")
    return form(value)


def _count(number: int) -> bytes:
    """A position, length or count: seven bits a byte, the lowest first."""
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def _bytes(value: bytes) -> bytes:
    return _count(len(value)) + value


def _fields(values: Sequence[Any], fields: Sequence[Mapping[str, Any]]) -> bytes:
    """Each field that is not null after its position from one on, then a zero."""
    present = [
        _count(position) + canonical(value, field["type"])
        for position, (value, field) in enumerate(zip(values, fields, strict=True), start=1)
        if value is not None
    ]
    return b"".join(present) + _count(0)


def _nullable(value: Any, kind: Any) -> bytes:
    return b"\x00" if value is None else b"\x01" + canonical(value, kind)


def _struct(value: Any, kind: Mapping[str, Any]) -> bytes:
    fields = kind["fields"]
    values = [value[field["name"]] for field in fields] if isinstance(value, Mapping) else value
    return _fields(values, fields)


def _array(value: Sequence[Any], kind: Mapping[str, Any]) -> bytes:
    elements = [_nullable(element, kind["elementType"]) for element in value]
    return _count(len(elements)) + b"".join(elements)


def _map(value: Mapping[Any, Any], kind: Mapping[str, Any]) -> bytes:
    entries = sorted(
        (canonical(key, kind["keyType"]), _nullable(item, kind["valueType"]))
        for key, item in value.items()
    )
    return _count(len(entries)) + b"".join(key + item for key, item in entries)


def _decimal(value: Decimal, scale: int) -> bytes:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"{value} is not a decimal number.")
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    shift = exponent + scale
    unscaled = unscaled * int(10**shift) if shift >= 0 else unscaled // int(10**-shift)
    magnitude = ~unscaled if unscaled < 0 else unscaled
    length = magnitude.bit_length() // 8 + 1
    return bytes([scale & 0xFF, length]) + unscaled.to_bytes(length, "big", signed=True)


def _timestamp(value: datetime) -> bytes:
    """Microseconds since 1970; a time without a zone is one in UTC, as in every session."""
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return struct.pack(">q", (aware - _EPOCH) // _MICROSECOND)


def _time(value: time) -> bytes:
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return struct.pack(">q", (seconds * 1_000_000 + value.microsecond) * 1000)


def _float(value: float, kind: str, code: str) -> bytes:
    return _NAN[kind] if math.isnan(value) else struct.pack(code, value)


_PLAIN: Mapping[str, Callable[[Any], bytes]] = {
    "boolean": lambda value: b"\x01" if value else b"\x00",
    "byte": lambda value: struct.pack(">b", value),
    "short": lambda value: struct.pack(">h", value),
    "integer": lambda value: struct.pack(">i", value),
    "long": lambda value: struct.pack(">q", value),
    "float": lambda value: _float(value, "float", ">f"),
    "double": lambda value: _float(value, "double", ">d"),
    "string": lambda value: _bytes(value.encode()),
    "binary": lambda value: _bytes(bytes(value)),
    "date": lambda value: struct.pack(">i", (value - date(1970, 1, 1)).days),
    "timestamp": _timestamp,
    "timestamp_ntz": _timestamp,
    "time": _time,
    "interval": lambda value: struct.pack(">q", value // _MICROSECOND),
}

_NESTED: Mapping[str, Callable[[Any, Mapping[str, Any]], bytes]] = {
    "struct": _struct,
    "array": _array,
    "map": _map,
}
