"""Texts of PostgreSQL's values to what stands for them in a change event, exactly. Called by `event`.

The session that they come from writes dates in ISO's order, times in UTC, intervals in ISO's form and bytes in hex:
`address` sees to that.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson

Converter = Callable[[bytes], Any]

LONGEST_NUMBER: Final = 500
"""JSON's readers refuse numbers of more than a thousand digits; longer ones go as texts."""
_FINITE: Final = re.compile(rb"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BOUNDS: Final = re.compile(r"(\[[+-]?\d+:[+-]?\d+\])+=")
_ERA: Final = " BC"

BOOL, BYTES, DATE, MOMENT, ZONED = 16, 17, 1082, 1114, 1184
WHOLE: Final = frozenset({20, 21, 23, 26})
NUMBERS: Final = frozenset({700, 701, 1700})


@dataclass(frozen=True)
class PgType:
    """A type of the database: its number, or that of what it is a domain over, and its element's if it is an array.

    `modifier` is what a domain cuts its values to, or -1.
    """

    number: int
    name: str
    element: PgType | None = None
    separator: str = ","
    modifier: int = -1


def converter(kind: PgType) -> Converter:
    """What makes the value of an event of the text of a value."""
    if kind.element is not None:
        return _array(converter(kind.element), kind.separator)
    if kind.number == BOOL:
        return lambda text: text == b"t"
    if kind.number in WHOLE:
        return orjson.Fragment
    if kind.number in NUMBERS:
        return _number
    if kind.number == BYTES:
        return lambda text: base64.b64encode(bytes.fromhex(text[2:].decode())).decode()
    if kind.number == DATE:
        return lambda text: _era(text.decode())
    if kind.number in (MOMENT, ZONED):
        return _moment
    return _text


def _text(text: bytes) -> Any:
    try:
        return text.decode()
    except UnicodeDecodeError:
        # A database without an encoding lets any bytes in: the event is no JSON then, and so a dead letter.
        return orjson.Fragment(b'"' + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"')


def _number(text: bytes) -> Any:
    """A number with all its digits; NaN, the infinities and those that are too long are texts."""
    if len(text) <= LONGEST_NUMBER and _FINITE.fullmatch(text):
        return orjson.Fragment(text)
    return text.decode()


def _era(text: str) -> str:
    """A date or time with its year as ISO counts them: 1 BC is 0000, 44 BC is -0043."""
    if not text.endswith(_ERA):
        return text
    year, _, rest = text.removesuffix(_ERA).partition("-")
    return f"-{int(year) - 1:04d}-{rest}"


def _moment(text: bytes) -> str:
    """A time in ISO's form: `2024-05-06T07:08:09.1Z`, or without the Z where it has no zone."""
    said = _era(text.decode()).replace(" ", "T", 1)
    return f"{said[:-3]}Z" if said.endswith("+00") else said


def _array(element: Converter, separator: str) -> Converter:
    def convert(text: bytes) -> Any:
        try:
            said = text.decode()
        except UnicodeDecodeError:
            return _text(text)
        return _Elements(said[_prefix(said) :], element, separator).read()

    return convert


def _prefix(text: str) -> int:
    """How long the bounds are that stand before an array which does not begin at 1."""
    found = _BOUNDS.match(text)
    return found.end() if found else 0


class _Elements:
    """An array as PostgreSQL writes it: `{1,NULL,"a \\"b\\""}`, one in another if it has more dimensions."""

    def __init__(self, text: str, element: Converter, separator: str) -> None:
        self._text = text
        self._element = element
        self._ends = (separator, "}")
        self._at = 0

    def read(self) -> list[Any]:
        """The elements between the braces that begin here."""
        self._at += 1
        found: list[Any] = []
        while self._text[self._at] != "}":
            found.append(self._one())
            if self._text[self._at] == self._ends[0]:
                self._at += 1
        self._at += 1
        return found

    def _one(self) -> Any:
        match self._text[self._at]:
            case "{":
                return self.read()
            case '"':
                return self._element(self._quoted().encode())
        start = self._at
        while self._text[self._at] not in self._ends:
            self._at += 1
        bare = self._text[start : self._at]
        return None if bare.upper() == "NULL" else self._element(bare.encode())

    def _quoted(self) -> str:
        parts: list[str] = []
        self._at += 1
        while (sign := self._text[self._at]) != '"':
            self._at += sign == "\\"
            parts.append(self._text[self._at])
            self._at += 1
        self._at += 1
        return "".join(parts)
