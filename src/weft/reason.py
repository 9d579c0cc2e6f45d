"""Why Python code of a project failed, in one line: for dead letters, checks and the events of a pipeline."""

from __future__ import annotations

import re
from typing import Any

_TRACEBACK = "Traceback (most recent call last)"
_CALLED = re.compile(r"^An error occurred while calling \S+\.\n: (?:\w+\.)*")
"""What an error of Java's begins with, before its name."""
_MODULE = re.compile(r"^(?:\w+\.)+(?=\w+(?::|$))")

LONGEST = 500
"""Characters of a reason that are kept: a message may hold a whole record, or be made to be long."""
SHOWN = 60
"""Characters of a value that a reason shows."""


class ToldError(Exception):
    """An error of ours whose text is the reason as it stands, without a name before it."""


def reason_of(error: BaseException) -> str:
    """An exception as the last line of its traceback has it, short and printable whatever it holds."""
    if isinstance(error, ToldError):
        return one_line(str(error))
    name = type(error).__name__
    try:
        message = str(error)
    except Exception:  # its own `__str__` is the project's code too
        message = ""
    return one_line(f"{name}: {message}" if message else name)


def told(text: str) -> str:
    """The line of an error's text that says what happened: its first, or what a traceback in it ends with.

    That of an error in Java stands behind the name of the method that was called.
    """
    lines = _CALLED.sub("", text.strip()).splitlines()
    headers = [number for number, line in enumerate(lines) if _TRACEBACK in line]
    if headers:
        # Frames are indented, and so are the frames of Java that Spark writes behind them.
        ends = [line for line in lines[headers[-1] + 1 :] if line[:1].strip()]
        lines = [_MODULE.sub("", ends[0])] if ends else lines
    return one_line(lines[0]) if lines else ""


def one_line(text: str, longest: int = LONGEST) -> str:
    """A text without line ends and what cannot be written, cut where it is too long."""
    # Cut twice: the first keeps a text of megabytes from being gone through.
    plain = "".join(sign if sign.isprintable() else " " for sign in text[: 4 * longest])
    plain = " ".join(plain.split())
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def shown(value: Any, longest: int = SHOWN) -> str:
    """A value as a reason shows it."""
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return one_line(text, longest)
