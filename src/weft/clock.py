"""Where time comes from: the system's clocks, or ones that a test moves."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Anything that can say what time it is, and how much time has passed."""

    def now(self) -> datetime:
        """The time of day, which may be set back."""
        ...

    def elapsed(self) -> timedelta:
        """The time since some moment in this process, which only grows."""
        ...


class SystemClock:
    """The machine's own clocks, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def elapsed(self) -> timedelta:
        return timedelta(seconds=time.monotonic())


class ManualClock:
    """Clocks that stand still until `advance` moves them; `set` changes the time of day alone."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._elapsed = timedelta()

    def now(self) -> datetime:
        return self._now

    def elapsed(self) -> timedelta:
        return self._elapsed

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self._now += by
        self._elapsed += by

    def set(self, now: datetime) -> None:
        """Change the time of day, as an administrator does."""
        self._now = now


def iso(moment: datetime) -> str:
    """A moment as it is written in knots and REST bodies: UTC, microseconds, `Z`."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_iso(text: str) -> datetime:
    """The moment that `iso` wrote."""
    return datetime.fromisoformat(text)


def to_ms(moment: datetime) -> int:
    """Milliseconds since the epoch."""
    return int(moment.timestamp() * 1000)
