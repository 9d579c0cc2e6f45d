"""What one option of a source may be: checks that take a value and say what it should have been."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")

# The source sets these itself, and Spark refuses to start with most of them.
_OURS = (
    "bootstrap.servers",
    "auto.offset.reset",
    "key.deserializer",
    "value.deserializer",
    "enable.auto.commit",
    "interceptor.classes",
)


@dataclass(frozen=True)
class Fault:
    """Why an option cannot have its value: what kind of mistake it is, and what it should be."""

    kind: Literal["wrong-type", "out-of-range", "unknown-value"]
    expected: str


Check = Callable[[Any], Fault | None]


def whole(least: int, most: int) -> Check:
    """A whole number within limits."""
    expected = f"a whole number from {least} to {most}"

    def check(value: Any) -> Fault | None:
        if isinstance(value, bool) or not isinstance(value, int):
            return Fault("wrong-type", expected)
        return None if least <= value <= most else Fault("out-of-range", expected)

    return check


def number(least: float, most: float) -> Check:
    """A number within limits."""
    expected = f"a number from {least:g} to {most:g}"

    def check(value: Any) -> Fault | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return Fault("wrong-type", expected)
        # A comparison with NaN is false.
        return None if least <= value <= most else Fault("out-of-range", expected)

    return check


def choice(*words: str) -> Check:
    """One of several words."""

    def check(value: Any) -> Fault | None:
        known = isinstance(value, str) and value in words
        return None if known else Fault("unknown-value", f"one of {', '.join(words)}")

    return check


def text(value: Any) -> Fault | None:
    """A text that is not empty."""
    if isinstance(value, str) and value.strip():
        return None
    return Fault("wrong-type", "a text")


def flag(value: Any) -> Fault | None:
    """True or false."""
    return None if isinstance(value, bool) else Fault("wrong-type", "true or false")


def character(value: Any) -> Fault | None:
    """One character that can stand between two values."""
    expected = "one character, and neither a quote nor a line end"
    if not isinstance(value, str):
        return Fault("wrong-type", expected)
    # The kernel reads it as one of Java's characters, of which rarer signs have two.
    is_one = len(value) == 1 and value not in '"\r\n\0' and not 0xD800 <= ord(value) <= 0xDFFF
    return None if is_one and ord(value) <= 0xFFFF else Fault("unknown-value", expected)


def local_path(value: Any) -> Fault | None:
    """A path of this machine."""
    expected = "a path of a disk, and no address of an object store"
    if not isinstance(value, str) or not value.strip():
        return Fault("wrong-type", expected)
    if "://" in value or "\0" in value or len(value) > 4000:
        return Fault("unknown-value", expected)
    return None


def moment(value: Any) -> Fault | None:
    """A time in ISO 8601, or `now`."""
    expected = "a time such as 2026-01-01T00:00:00Z, or now"
    if value == "now" or isinstance(value, datetime):
        return None
    if not isinstance(value, str):
        return Fault("wrong-type", expected)
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return Fault("unknown-value", expected)
    return None


_SPEED = number(1e-6, 1e9)


def rate(value: Any) -> Fault | None:
    """Records a second, or as many as there can be."""
    fault = None if value in ("max", 0) and value is not False else _SPEED(value)
    return fault and Fault(fault.kind, f"{fault.expected}, or max")


def burst(value: Any) -> Fault | None:
    """`{every_s: 60, times: 10, for_s: 5}`: so many times the rate at the end of each period."""
    expected = "{every_s: 60, times: 10, for_s: 5}, with for_s shorter than every_s"
    if not isinstance(value, Mapping):
        return Fault("wrong-type", expected)
    if set(value) != {"every_s", "times", "for_s"}:
        return Fault("unknown-value", expected)
    for one in value.values():
        if (fault := _SPEED(one)) is not None:
            return Fault(fault.kind, f"{expected}, each {fault.expected}")
    return None if value["for_s"] < value["every_s"] else Fault("out-of-range", expected)


def topics(value: Any) -> Fault | None:
    """The name of a topic, or several with commas between them."""
    expected = "a topic, or several with commas between; letters, digits, dot, _ and - make a name"
    if not isinstance(value, str) or not value.strip():
        return Fault("wrong-type", expected)
    names = [name.strip() for name in value.split(",")]
    known = all(_TOPIC.fullmatch(name) and name not in (".", "..") for name in names)
    return None if known else Fault("unknown-value", expected)


def client(value: Any) -> Fault | None:
    """Settings of Kafka's client, handed on as they are."""
    if not isinstance(value, Mapping):
        return Fault("wrong-type", "a mapping of settings of the Kafka client")
    for name, one in value.items():
        if not isinstance(one, str | int | float) or one != one or one in (math.inf, -math.inf):
            return Fault("wrong-type", f"texts, numbers and flags, and `{name}` is none")
        if str(name).lower() in _OURS:
            return Fault("unknown-value", f"without `{name}`, which the source sets itself")
    return None
