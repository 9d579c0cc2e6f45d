"""The fingerprint of records in plain Python, for those who have values and no Spark.

In come values and their schema as Spark writes it in JSON, out come the hashes that the kernel recorded when it wrote
them. Called by `verify --deep`, by tests and by whoever checks a record by hand; the kernel's own, in Java, is the fast
one, and this is the second opinion.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any

from weft.schema.weft import WEFT

MODULUS = 1 << 256

Encoder = Callable[[Any], bytes]
"""The canonical form of a value that is not null."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_EXACT = Context(prec=100)
_NAN = {"float": b"\x7f\xc0\x00\x00", "double": b"\x7f\xf8" + b"\x00" * 6}


def fingerprint(records: Iterable[Mapping[str, Any]], schema: Mapping[str, Any]) -> str:
    """The sum of the records' hashes modulo 2^256 as 64 hex digits, in whatever order they come."""
    hashed = hasher(schema)
    total = sum(int.from_bytes(hashed(record), "big") for record in records)
    return f"{total % MODULUS:064x}"


def record_hash(record: Mapping[str, Any], schema: Mapping[str, Any]) -> bytes:
    """SHA-256 of one record: the canonical form of the user's columns, then the record's id."""
    return hasher(schema)(record)


def hasher(schema: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bytes]:
    """What hashes the records of a schema, one by one."""
    encode = former(schema)
    return lambda record: hashlib.sha256(encode(record)).digest()


def former(schema: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bytes]:
    """What brings the records of a schema into the form that is hashed, one by one."""
    encode = _fields(user_columns(schema))

    def form(record: Mapping[str, Any]) -> bytes:
        data = encode(record)
        system = record.get(WEFT)
        if system is not None and system["id"] is not None:
            data += _bytes(system["id"].encode())
        return data

    return form


def user_columns(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The columns of a schema that are the user's own."""
    return [field for field in schema["fields"] if field["name"] != WEFT]


def canonical(value: Any, kind: Any) -> bytes:
    """The canonical form of a value that is not null; `kind` is its type in the schema's JSON."""
    return encoder(kind)(value)


def encoder(kind: Any) -> Encoder:
    """What brings values of a type into their canonical form."""
    if isinstance(kind, Mapping):
        return _NESTED[kind["type"]](kind)
    name = str(kind)
    if found := re.fullmatch(r"decimal\((\d+),(-?\d+)\)", name):
        return _decimal(int(found[2]))
    form = _PLAIN.get(re.split(r"[( ]", name)[0])
    if form is None:
        raise ValueError(f"Values of type {name} cannot be hashed; cast them to another type.")
    return form


def _count(number: int) -> bytes:
    """A position, length or count: seven bits a byte, the lowest first."""
    if number <= 0x7F:
        return bytes((number,))
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def _bytes(value: bytes) -> bytes:
    return _count(len(value)) + value


def _fields(fields: Iterable[Mapping[str, Any]]) -> Callable[[Mapping[str, Any]], bytes]:
    """Each field that is not null after its position from one on, then a zero."""
    parts = [
        (field["name"], _count(position), encoder(field["type"]))
        for position, field in enumerate(fields, start=1)
    ]

    def encode(values: Mapping[str, Any]) -> bytes:
        found = [
            place + form(value)
            for name, place, form in parts
            if (value := values.get(name)) is not None
        ]
        return b"".join(found) + b"\x00"

    return encode


def _nullable(kind: Any) -> Encoder:
    form = encoder(kind)
    return lambda value: b"\x00" if value is None else b"\x01" + form(value)


def _struct(kind: Mapping[str, Any]) -> Encoder:
    names = [field["name"] for field in kind["fields"]]
    encode = _fields(kind["fields"])
    return lambda value: encode(
        value if isinstance(value, Mapping) else dict(zip(names, value, strict=True))
    )


def _array(kind: Mapping[str, Any]) -> Encoder:
    element = _nullable(kind["elementType"])
    return lambda value: _count(len(value)) + b"".join(map(element, value))


def _map(kind: Mapping[str, Any]) -> Encoder:
    key, item = encoder(kind["keyType"]), _nullable(kind["valueType"])

    def encode(value: Mapping[Any, Any]) -> bytes:
        entries = sorted((key(name), item(held)) for name, held in value.items())
        return _count(len(entries)) + b"".join(first + second for first, second in entries)

    return encode


def _decimal(scale: int) -> Encoder:
    def encode(value: Decimal) -> bytes:
        if not value.is_finite():
            raise ValueError(f"{value} is not a decimal number.")
        unscaled = int(value.scaleb(scale, _EXACT))
        magnitude = ~unscaled if unscaled < 0 else unscaled
        length = magnitude.bit_length() // 8 + 1
        return bytes([scale & 0xFF, length]) + unscaled.to_bytes(length, "big", signed=True)

    return encode


def _date(value: date | int) -> bytes:
    """Days since 1970, or the number of them."""
    days = value if isinstance(value, int) else (value - _FIRST_DAY).days
    return struct.pack(">i", days)


def _timestamp(value: datetime | int) -> bytes:
    """Microseconds since 1970, or the number of them; a time without a zone is one in UTC, as in every session."""
    if isinstance(value, int):
        return struct.pack(">q", value)
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    since = aware - _EPOCH
    micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return struct.pack(">q", micros)


def _time(value: time) -> bytes:
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return struct.pack(">q", (seconds * 1_000_000 + value.microsecond) * 1000)


def _float(value: float, kind: str, code: str) -> bytes:
    return _NAN[kind] if math.isnan(value) else struct.pack(code, value)


_PLAIN: Mapping[str, Encoder] = {
    "boolean": lambda value: b"\x01" if value else b"\x00",
    "byte": struct.Struct(">b").pack,
    "short": struct.Struct(">h").pack,
    "integer": struct.Struct(">i").pack,
    "long": struct.Struct(">q").pack,
    "float": lambda value: _float(value, "float", ">f"),
    "double": lambda value: _float(value, "double", ">d"),
    "string": lambda value: _bytes(value.encode()),
    "binary": lambda value: _bytes(bytes(value)),
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _timestamp,
    "time": _time,
    "interval": lambda value: struct.pack(">q", value // _MICROSECOND),
}

_NESTED: Mapping[str, Callable[[Mapping[str, Any]], Encoder]] = {
    "struct": _struct,
    "array": _array,
    "map": _map,
}
