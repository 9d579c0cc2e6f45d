"""What is said of a window that cannot be declared as written."""

from __future__ import annotations

from typing import Any

from weft.declared.limit import Fault
from weft.declared.read import message
from weft.errors import WeftError

_CODES = {
    "type": "window.type",
    "timestamp": "window.timestamp",
    "accumulate": "window.flag",
    "final": "window.flag",
    "trigger": "window.trigger",
    "early": "window.trigger",
    "late": "window.trigger",
}


class WindowError(WeftError):
    """A window cannot be declared as written."""

    code = "window.invalid"
    domain = "user"


def refused(fault: Fault, written: Any) -> WindowError:
    """The error for one thing that is wrong with a window."""
    name = str(fault.path[-1]) if fault.path else "window"
    told, hint = message(fault, written, "a window")
    code = "window.key" if fault.mistake == "unknown-key" else _CODES.get(name, "window.number")
    return WindowError(told, code=code, hint=hint, key=name)
