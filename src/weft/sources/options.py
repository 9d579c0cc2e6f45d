"""Options of a source as a project file gives them: checked once, with the nearest right word for a
wrong one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weft.errors import WeftError
from weft.weaving.schema import nearest


class SourceError(WeftError):
    """A source that cannot be opened as it is declared."""

    code = "source.options"
    domain = "user"


def check_names(stream: str, kind: str, options: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse an option that this kind of source does not have."""
    names = sorted(known)
    for name in options:
        if name not in names:
            near = nearest(name, names)
            raise SourceError(
                f"Source {kind!r} of stream {stream!r} has no option {name!r}. "
                f"Its options are {', '.join(names)}.",
                hint=f"Did you mean {near!r}?" if near else "Use one of the options listed.",
                stream=stream,
                option=name,
            )


def number(
    stream: str,
    options: Mapping[str, Any],
    name: str,
    default: float,
    *,
    most: float = float("inf"),
) -> float:
    """The option as a number from 0 to `most`."""
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        limit = "" if most == float("inf") else f" to {most:g}"
        raise bad_option(stream, name, value, f"a number from 0{limit}")
    return value


def whole(
    stream: str, options: Mapping[str, Any], name: str, default: int, *, least: int = 0
) -> int:
    """The option as a whole number from `least` on."""
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise bad_option(stream, name, value, f"a whole number from {least} on")
    return value


def required(stream: str, options: Mapping[str, Any], name: str) -> str:
    """The option as a text that must be there."""
    value = options.get(name)
    if not isinstance(value, str) or not value:
        raise bad_option(stream, name, value, "a text, and it must be there")
    return value


def bad_option(stream: str, name: str, value: Any, expected: str) -> SourceError:
    """The error for an option with a value that it cannot have."""
    return SourceError(
        f"Option {name!r} of stream {stream!r}'s source is {value!r}; it should be {expected}.",
        hint=f"Correct `{name}` in the project file.",
        stream=stream,
        option=name,
    )
