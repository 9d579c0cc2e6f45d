"""How far the rows of a stream may be let go of: by age and size, and never what somebody still needs. Pure.

In come what a stream keeps by which declaration and who needs what, out comes the number of a knot. Asked by the
weaver when an expiry is planned, again when it is done, and by `weft history`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from weft.project.settings import HistorySpec

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class KnotRows:
    """What a knot, live or rolled back, has written to a stream: how much, and when it was tied."""

    number: int
    at: datetime
    rows: int
    bytes: int


@dataclass(frozen=True)
class RowNeed:
    """Somebody who needs the rows of knots after this one."""

    after: int
    by: str
    """Who, in words that end a sentence: `pipeline clean`."""


@dataclass(frozen=True)
class ExpiryVerdict:
    """How far rows go now."""

    upto: int
    """The last knot whose rows go; where it stands when none do."""
    due: int
    """The last knot whose rows are too old or too much, whoever needs them."""
    held_by: str | None = None
    """Who keeps rows that are due, if anybody does."""


def decide(
    history: HistorySpec,
    rows: Sequence[KnotRows],
    needs: Iterable[RowNeed],
    *,
    now: datetime,
    expired: int = 0,
) -> ExpiryVerdict:
    """The last knot whose rows go; `rows` are those that are kept, oldest first, and `expired` is where it stands."""
    due = max(expired, _too_old(history, rows, now), _too_much(history, rows))
    least = min(needs, key=lambda need: need.after, default=None)
    if least is None or least.after >= due:
        return ExpiryVerdict(due, due)
    upto = max([expired, *(one.number for one in rows if one.number <= least.after)])
    return ExpiryVerdict(upto, due, held_by=least.by)


def _too_old(history: HistorySpec, rows: Sequence[KnotRows], now: datetime) -> int:
    """The last knot before the first that is young enough."""
    if history.keep_days is None:
        return 0
    longest = timedelta(days=min(history.keep_days, 365_000))
    found = 0
    for one in rows:
        if now - one.at <= longest:
            break
        found = one.number
    return found


def _too_much(history: HistorySpec, rows: Sequence[KnotRows]) -> int:
    """The newest knot with which the rows take more than they may."""
    if history.keep_mb is None:
        return 0
    left = history.keep_mb * MEGABYTE
    for one in reversed(rows):
        left -= one.bytes
        if left < 0:
            return one.number
    return 0
