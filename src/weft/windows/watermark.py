"""How far event time has come, per source partition and for the whole stream. Pure values.

The ingest spine calls `advance` once a knot, stamps `minimum()` on the rows of the next one and
keeps it all in the knot, from which a restart goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

State = Literal["active", "behind", "idle", "waiting"]

MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Partition:
    """One source partition: its highest event time that counts, and when its last records came.

    `active` partitions hold the minimum; a `waiting` one is known but has brought nothing yet, so
    there is no minimum; `idle` ones have left; one that is `behind` came back, or came first, with
    records older than the stream's watermark, and joins the others once it has caught up.
    """

    highest_ms: Annotated[int | None, Field(alias="highest")]
    seen_at_ms: Annotated[int, Field(alias="seen_at")]
    state: State
    watermark_ms: Annotated[int | None, Field(alias="watermark")]
    ahead: int = 0
    """Records from the future so far."""


@dataclass(frozen=True)
class Seen:
    """What a knot saw of a partition: its highest event time, and how many records were from the future."""

    highest_ms: int | None = None
    ahead: int = 0


@dataclass(frozen=True)
class Watermarks:
    """The watermarks of a stream after a knot: of its source's partitions, or of the streams that it is made from."""

    value_ms: Annotated[int | None, Field(alias="watermark")] = None
    stated_ms: Annotated[int | None, Field(alias="stated")] = None
    partitions: Mapping[str, Partition] = field(default_factory=dict)
    ahead: int = 0
    """Records from the future in this knot."""
    inputs: Mapping[str, int | None] = field(default_factory=dict)
    windows: int | None = None
    """How many windows are open, where there are windows."""

    def minimum(self) -> int | None:
        """The stream's watermark: no record before it is expected. None while there is none yet."""
        return self.value_ms

    def held_by(self) -> list[str]:
        """The partitions or inputs that hold the minimum back: those without a record yet, else the lowest ones."""
        if self.stated_ms is not None:
            return []
        if self.inputs:
            return _lowest(self.inputs)
        waiting = [name for name, part in self.partitions.items() if part.state == "waiting"]
        if waiting:
            return sorted(waiting)
        return _lowest(
            {n: p.watermark_ms for n, p in self.partitions.items() if p.state == "active"}
        )


def latest_ms(now: datetime, max_ahead: timedelta) -> int:
    """The latest event time that counts; a record after it is from the future and moves no
    watermark.
    """
    return _ms(now) + max_ahead // MILLISECOND


def advance(
    previous: Watermarks,
    observed: Mapping[str, Seen],
    *,
    now: datetime,
    delay: timedelta,
    idle: timedelta,
    stated: int | None = None,
) -> Watermarks:
    """The watermarks after a knot that saw this of each partition.

    A partition that was read and brought nothing is given too, so that one which has never
    brought a record holds the watermark back until it counts as idle. A stated watermark replaces
    the derived one from then on. The watermark never goes back.
    """
    at_ms = _ms(now)
    parts: dict[str, Partition] = {}
    for name in {*previous.partitions, *observed}:
        before = previous.partitions.get(name)
        seen = observed.get(name, Seen())
        times = [before.highest_ms if before else None, seen.highest_ms]
        highest = max((ms for ms in times if ms is not None), default=None)
        # A future event shows that the partition is alive, though it moves no watermark.
        is_alive = seen.highest_ms is not None or seen.ahead > 0
        seen_at = at_ms if before is None or is_alive else before.seen_at_ms
        mark = None if highest is None else highest - delay // MILLISECOND
        state = _state(
            mark, is_idle=at_ms - seen_at >= idle // MILLISECOND, value=previous.value_ms
        )
        ahead = seen.ahead + (before.ahead if before else 0)
        parts[name] = Partition(highest, seen_at, state, mark, ahead)
    if stated is None:
        stated = previous.stated_ms
    elif previous.stated_ms is not None:
        stated = max(stated, previous.stated_ms)
    derived = _derive(parts) if stated is None else stated
    marks = [ms for ms in (previous.value_ms, derived) if ms is not None]
    future = sum(seen.ahead for seen in observed.values())
    return Watermarks(max(marks, default=None), stated, parts, future)


def minimum_of(watermarks: Iterable[int | None]) -> int | None:
    """The watermark of a pipeline with several inputs: none while one of them has none."""
    marks = list(watermarks)
    if not marks or any(ms is None for ms in marks):
        return None
    return min(ms for ms in marks if ms is not None)


def _state(mark: int | None, *, is_idle: bool, value: int | None) -> State:
    if is_idle:
        return "idle"
    if mark is None:
        return "waiting" if value is None else "behind"
    return "behind" if value is not None and mark < value else "active"


def _derive(parts: Mapping[str, Partition]) -> int | None:
    states = {part.state for part in parts.values()}
    if "waiting" in states:
        return None
    active = [p.watermark_ms for p in parts.values() if p.state == "active"]
    if active:
        return min(ms for ms in active if ms is not None)
    # With nobody left to wait for, the windows of the records that did come are closed.
    if states == {"idle"}:
        return max(
            (p.watermark_ms for p in parts.values() if p.watermark_ms is not None), default=None
        )
    return None


def _lowest(marks: Mapping[str, int | None]) -> list[str]:
    missing = sorted(name for name, mark in marks.items() if mark is None)
    known = [mark for mark in marks.values() if mark is not None]
    return missing or sorted(name for name, mark in marks.items() if mark == min(known))


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
