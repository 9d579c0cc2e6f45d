"""Values of a written window, read with an error that names the key and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from weft.errors import WeftError
from weft.reason import shown

LARGEST = 2**63 - 1


class WindowError(WeftError):
    """A window cannot be declared as written."""

    code = "window.invalid"
    domain = "user"


def refuse_unknown(written: Mapping[str, Any], known: tuple[str, ...], *, where: str) -> None:
    """Refuse the first key that is not known, with the nearest one that is."""
    for name in written:
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"It takes {', '.join(known)}."
            raise WindowError(
                f"There is no {name!r} in {where}.", code="window.key", hint=hint, key=name
            )


def whole(
    written: Mapping[str, Any], name: str, *, least: int | None, default: int | None = None
) -> int:
    """A whole number of 64 bits, at least so much where that is said."""
    value = written.get(name, default)
    unit = " of milliseconds" if name.endswith("_ms") else ""
    if isinstance(value, bool) or not isinstance(value, int):
        raise WindowError(
            f"`{name}` is {shown(value)}, not a whole number.",
            code="window.number",
            hint=f"Write {name} as a whole number{unit}.",
            key=name,
        )
    if not -LARGEST <= value <= LARGEST:
        raise WindowError(
            f"`{name}` is {shown(value)}, and must be a number of 64 bits.",
            code="window.number",
            hint=f"{LARGEST} is the largest, and stands for ever.",
            key=name,
        )
    if least is not None and value < least:
        raise WindowError(
            f"`{name}` is {value}, and must be at least {least}.",
            code="window.number",
            hint=f"Raise {name} to {least} or more.",
            key=name,
        )
    return value


def flag(written: Mapping[str, Any], name: str, *, default: bool) -> bool:
    """True or false."""
    value = written.get(name, default)
    if not isinstance(value, bool):
        raise WindowError(
            f"`{name}` is {value!r}, not true or false.",
            code="window.flag",
            hint=f"Write {name}: true or {name}: false.",
            key=name,
        )
    return value
