"""Dates and times as texts: those that mean one moment, and those that ask the clock. Called by the
checker for literals, which Spark reads when it plans a batch."""

from __future__ import annotations

import re
from datetime import datetime

# The forms that Spark reads too, and reads as the same moment.
_WRITTEN = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})"
    r"(?:[ T](?P<time>\d{2}:\d{2}(?::\d{2})?)(?P<fraction>\.\d{1,6})?(?P<zone>Z|[+-]\d{2}:\d{2})?)?"
)
# The letters of formats that Spark takes, each with the longest run of it.
_LETTERS = {
    **dict.fromkeys("GMLQqEzO", 4),
    **dict.fromkeys("dhKkHmsV", 2),
    "y": 6,
    "D": 3,
    "F": 1,
    "a": 1,
    "S": 9,
    "X": 5,
    "x": 5,
    "Z": 5,
}
_ONLY_WRITTEN = "EFqQ"
_CLOCK = re.compile(r"\s*(now|today|tomorrow|yesterday|epoch)\b", re.IGNORECASE)


def is_moment(text: str) -> bool:
    """Whether a text is a date or a time, written out."""
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        return False
    day, time, fraction = found["day"], found["time"] or "00:00", found["fraction"]
    if fraction and len(time) == len("00:00"):
        return False
    zone = found["zone"]
    if zone and zone != "Z" and (int(zone[1:3]), int(zone[4:6])) > (14, 0):
        return False
    try:
        return datetime.fromisoformat(f"{day}T{time}").year > 0
    except ValueError:
        return False


def asks_clock(text: str) -> bool:
    """Whether Spark would read a literal text as a moment that the clock gives, such as now."""
    return _CLOCK.match(text) is not None


def format_refusal(form: str, *, reads: bool) -> str | None:
    """Why a format of dates and times cannot be used, to read them or to write them, or None."""
    pieces = form.split("'")
    if not len(pieces) % 2:
        return "a quote in it is not closed"
    for piece in pieces[::2]:
        for run in re.findall(r"(([a-zA-Z])\2*)", piece):
            letter, length = run[1], len(run[0])
            if length > _LETTERS.get(letter, 0) or (reads and letter in _ONLY_WRITTEN):
                return f"{run[0]!r} is not a part of a date that can be {'read' if reads else 'written'}"
        if re.search(r"[{}#]", piece) or piece.count("[") != piece.count("]"):
            return "it has a sign that means nothing"
    return None
