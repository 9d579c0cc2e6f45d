"""The calendar of a project: days and times at which its load is another, by name. Read by the weaver's scaling.

A day is `2026-12-25`, several are `2026-12-24/2026-12-26` with the last one included, and a part of a day is
`2026-11-27T09:00/2026-11-27T18:00`. Times without a zone are UTC.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from weft.declared.limit import Fault, Limit

MOST_PERIODS = 1_000
"""More of one name are no calendar."""
FORM = "a day such as 2026-12-25, or a period such as 2026-12-24/2026-12-26 or 2026-11-27T09:00/2026-11-27T18:00"
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Period:
    """A time that has a name: from its begin to just before its end."""

    name: str
    begin: datetime
    end: datetime


class _ByName(Limit):
    def faults(self, value: Any) -> Iterator[Fault]:
        if not isinstance(value, Mapping):
            yield Fault("wrong-type", self.expected)
            return
        for name, said in value.items():
            texts = [said] if isinstance(said, str) else said
            if not isinstance(name, str) or not isinstance(texts, list | tuple) or not texts:
                yield Fault("wrong-type", f"{FORM}, or a list of them", (name,))
            elif len(texts) > MOST_PERIODS:
                yield Fault("out-of-range", f"a list of at most {MOST_PERIODS:,}", (name,))
            else:
                for place, text in enumerate(texts):
                    if _times(text) is None:
                        at = (name,) if isinstance(said, str) else (name, place)
                        yield Fault("unknown-value", FORM, at)

    def take(self, value: Any) -> dict[str, tuple[str, ...]]:
        return {
            name: (said,) if isinstance(said, str) else tuple(said) for name, said in value.items()
        }


CALENDAR = _ByName(
    "a mapping from names to days and periods such as {holiday: [2026-12-25]}",
    lambda value: None,
    {
        "type": "object",
        "additionalProperties": {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        },
    },
)


def periods(calendar: Mapping[str, tuple[str, ...]]) -> tuple[Period, ...]:
    """The periods of a calendar that was checked, by their begin."""
    found = [
        Period(name, *times)
        for name, texts in calendar.items()
        for text in texts
        if (times := _times(text)) is not None
    ]
    return tuple(sorted(found, key=lambda one: (one.begin, one.name)))


def _times(text: Any) -> tuple[datetime, datetime] | None:
    """When a period that is written so begins and ends, if it is one."""
    if not isinstance(text, str):
        return None
    first, slash, last = text.partition("/")
    try:
        begin, end = _moment(first), _moment(last if slash else first)
        if "T" not in (last if slash else first):
            end += DAY
    except (ValueError, OverflowError):
        return None
    has_day_or_end = slash or "T" not in first
    return (begin, end) if has_day_or_end and begin < end else None


def _moment(text: str) -> datetime:
    read = datetime.fromisoformat(text)
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
