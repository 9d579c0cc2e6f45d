"""Where a series of counts lies in time: which of its intervals are which time of day, and which the calendar names.

Intervals are numbered from 1970 on, as the calendar is known ahead of all that comes. Made by whoever has a series with
its first moment; models get it beside the series.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.project.calendar import periods

Places = NDArray[np.int64]

AFTER = 20
"""So many intervals after a period are like those after the one before it."""


@dataclass(frozen=True)
class NamedSpan:
    """A period of the calendar, from its first interval to just before its end."""

    name: str
    first: int
    end: int


@dataclass(frozen=True)
class Timeline:
    """The time of a series: the intervals of a day, the number of its first one, and the calendar."""

    day: int
    start: int = 0
    spans: tuple[NamedSpan, ...] = ()

    @classmethod
    def of(
        cls, begin_s: float, interval_s: float, calendar: Mapping[str, tuple[str, ...]]
    ) -> Timeline:
        """The timeline of a series that begins at a moment, in seconds since 1970."""
        spans = tuple(
            NamedSpan(
                one.name,
                math.floor(one.begin.timestamp() / interval_s),
                math.ceil(one.end.timestamp() / interval_s),
            )
            for one in periods(calendar)
        )
        day = max(1, round(86_400 / interval_s))
        return cls(day, math.floor(begin_s / interval_s + 1e-6), spans)

    def of_day(self, places: Places) -> Places:
        """How far into its day each interval of the series is."""
        return (self.start + places) % self.day

    def of_week(self, places: Places) -> Places:
        """Which day of the week each interval is in."""
        return (self.start + places) // self.day % 7

    def named(self, places: Places) -> Places:
        """Which name of the calendar each interval has, by its number from 1 on; 0 where it has none."""
        names = sorted({span.name for span in self.spans})
        found = np.zeros(len(places), np.int64)
        for span in self._near(places):
            at = self.start + places
            found[(at >= span.first) & (at < span.end)] = names.index(span.name) + 1
        return found

    def since_last(self, places: Places) -> Places:
        """How many intervals ago a period of the same name was at the same point; 0 where none is or was before."""
        before: dict[str, int] = {}
        last = {}
        for span in self.spans:
            last[span] = span.first - before[span.name] if span.name in before else 0
            before[span.name] = span.first
        found = np.zeros(len(places), np.int64)
        for span in self._near(places):
            at = self.start + places
            found[(at >= span.first) & (at < span.end + AFTER)] = last[span]
        return found

    def turns(self) -> list[int]:
        """The intervals of the series, also those to come, in which a period begins or has ended."""
        return [at - self.start for span in self.spans for at in (span.first, span.end)]

    def _near(self, places: Places) -> list[NamedSpan]:
        if not len(places) or not self.spans:
            return []
        low, high = self.start + int(places.min()), self.start + int(places.max())
        return [one for one in self.spans if one.first <= high and one.end + AFTER > low]
