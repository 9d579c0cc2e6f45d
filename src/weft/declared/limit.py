"""What one value may be: limits, each with the words that say it, the judge that keeps it and its JSON schema.

Limits take values as they are. Nothing is converted on the way: true is no number, and a text of digits is a text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Mistake = Literal["unknown-key", "missing-key", "wrong-type", "out-of-range", "unknown-value"]
Judge = Callable[[Any], Mistake | None]

LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Fault:
    """Why a value cannot be: what kind of mistake it is, what it should be, and where below the value it lies."""

    mistake: Mistake
    expected: str
    path: tuple[str | int, ...] = ()
    words: tuple[str, ...] = ()
    """The words that it could have been, where they are few."""
    hint: str = ""
    """What to do about it, where that is more than to correct the value."""


@dataclass(frozen=True)
class Limit:
    """What a value may be. `expected` goes on a sentence that begins with "it should be"."""

    expected: str
    judge: Judge
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)
    words: tuple[str, ...] = ()

    def faults(self, value: Any) -> Iterator[Fault]:
        """Everything that is wrong with a value."""
        if (mistake := self.judge(value)) is not None:
            yield Fault(mistake, self.expected, words=self.words)

    def take(self, value: Any) -> Any:
        """A value that is right, as a declaration holds it."""
        return value


def shape(expected: str, schema: Mapping[str, Any]) -> Limit:
    """A value whose parts are read and judged by a reader of their own."""
    return Limit(expected, lambda value: None, schema)


def whole(least: int, most: int) -> Limit:
    """A whole number within limits."""

    def judge(value: Any) -> Mistake | None:
        if isinstance(value, bool) or not isinstance(value, int):
            return "wrong-type"
        return None if least <= value <= most else "out-of-range"

    expected = f"a whole number from {least} to {most}"
    if most == LARGEST:
        expected = "a whole number of 64 bits" + (f", at least {least}" if least > -LARGEST else "")
    schema = {"type": "integer", "minimum": least, "maximum": most}
    return Limit(expected, judge, schema)


def number(least: float, most: float) -> Limit:
    """A number within limits."""

    def judge(value: Any) -> Mistake | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "wrong-type"
        # A comparison with NaN is false.
        return None if least <= value <= most else "out-of-range"

    schema = {"type": "number", "minimum": least, "maximum": most}
    return Limit(f"a number from {least:g} to {most:g}", judge, schema)


def choice(*words: str) -> Limit:
    """One of several words."""

    def judge(value: Any) -> Mistake | None:
        return None if isinstance(value, str) and value in words else "unknown-value"

    return Limit(f"one of {', '.join(words)}", judge, {"enum": list(words)}, words)


def _text(value: Any) -> Mistake | None:
    return None if isinstance(value, str) and value.strip() else "wrong-type"


TEXT = Limit("a text", _text, {"type": "string", "minLength": 1})
FLAG = Limit(
    "true or false",
    lambda value: None if isinstance(value, bool) else "wrong-type",
    {"type": "boolean"},
)


def _character(value: Any) -> Mistake | None:
    if not isinstance(value, str):
        return "wrong-type"
    # The kernel reads it as one of Java's characters, of which rarer signs have two.
    is_one = len(value) == 1 and value not in '"\r\n\0' and not 0xD800 <= ord(value) <= 0xDFFF
    return None if is_one and ord(value) <= 0xFFFF else "unknown-value"


CHARACTER = Limit(
    "one character, and neither a quote nor a line end",
    _character,
    {"type": "string", "minLength": 1, "maxLength": 1},
)


def _local_path(value: Any) -> Mistake | None:
    if not isinstance(value, str) or not value.strip():
        return "wrong-type"
    return "unknown-value" if "://" in value or "\0" in value or len(value) > 4000 else None


LOCAL_PATH = Limit(
    "a path of a disk, and no address of an object store",
    _local_path,
    {"type": "string", "minLength": 1, "maxLength": 4000},
)


_HOSTS = {
    "s3a": re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"),
    "hdfs": re.compile(r"[A-Za-z0-9._-]+(:[0-9]{1,5})?"),
}
"""What stands behind the scheme of an address: the name of a bucket, the host of a name node."""
_NO_FOLDER = re.compile(r"~|(s3[an]?|gs|abfss?|wasbs?|hdfs|file|https?):")
"""How nothing begins that is meant for a folder."""


def stored_at(*schemes: str) -> Limit:
    """A path of a disk, or an address of one of these kinds of storage."""

    def judge(value: Any) -> Mistake | None:
        if not isinstance(value, str) or not value.strip():
            return "wrong-type"
        scheme, found, rest = value.partition("://")
        if found and scheme in schemes:
            is_right = _HOSTS[scheme].fullmatch(rest.partition("/")[0]) and "\0" not in rest
            return None if is_right and len(value) <= 4000 else "unknown-value"
        return "unknown-value" if _NO_FOLDER.match(value) else _local_path(value)

    listed = " or ".join(f"`{scheme}://…`" for scheme in schemes)
    schema = {"type": "string", "minLength": 1, "maxLength": 4000}
    return Limit(f"a path of a disk, or an address {listed}", judge, schema)


class Names(Limit):
    """One text, or a list of them."""

    def take(self, value: Any) -> tuple[str, ...]:
        """The names, also where there is one."""
        return (value,) if isinstance(value, str) else tuple(value)


def _names(value: Any) -> Mistake | None:
    one = [value] if isinstance(value, str) else value
    right = isinstance(one, list | tuple) and all(_text(name) is None for name in one)
    return None if right else "wrong-type"


def names(what: str = "a column") -> Names:
    """One name, or a list of them."""
    schema = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    return Names(f"{what}, or a list of them", _names, schema)


@dataclass(frozen=True)
class Settings(Limit):
    """A mapping of settings that are handed on to something else, except those that are set already."""

    taken: tuple[str, ...] = ()

    def faults(self, value: Any) -> Iterator[Fault]:
        """What is wrong with any of the settings."""
        if not isinstance(value, Mapping):
            yield Fault("wrong-type", self.expected)
            return
        for name, one in value.items():
            is_plain = isinstance(one, str | int | float) and one == one
            if not is_plain or one in (math.inf, -math.inf):
                yield Fault("wrong-type", f"texts, numbers and flags, and `{name}` is none")
            elif str(name).lower() in self.taken:
                yield Fault("unknown-value", f"without `{name}`, which is set already")


def settings(expected: str, *, taken: tuple[str, ...] = ()) -> Settings:
    """Settings of a client, handed on as they are."""
    values = {"type": ["string", "number", "boolean"]}
    schema = {"type": "object", "additionalProperties": values}
    return Settings(expected, lambda value: None, schema, taken=taken)
