"""Events: what happened, in order, for people and pages that follow along."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.clock import Clock, iso
from weft.weaver.store.records import Records, put, remove
from weft.weaver.store.store import Write

KEPT = 10_000


@dataclass(frozen=True)
class Event:
    """One thing that happened; `facts` say to what."""

    number: int
    kind: str
    at: str
    facts: Mapping[str, Any] = field(default_factory=dict)


class Events:
    """A numbered log of events in the store; those who wait for the next one are woken."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        last = next(iter(records.scan(Event, "events", limit=1, reverse=True)), None)
        self._last: int = last.number if last else 0
        self._wake = asyncio.Event()

    def write(self, kind: str, **facts: Any) -> list[Write]:
        """The writes that record one event; they go into the same atomic apply as what they tell of."""
        self._last += 1
        known = {name: value for name, value in facts.items() if value is not None}
        event = Event(self._last, kind, iso(self._clock.now()), known)
        writes = [put("events", self._last, value=event)]
        if self._last > KEPT:
            writes.append(remove("events", self._last - KEPT))
        return writes

    def record(self, kind: str, **facts: Any) -> None:
        """Record one event by itself and wake those who wait."""
        self._records.store.apply(self.write(kind, **facts))
        self.wake()

    def wake(self) -> None:
        """Tell those who wait that there is something new."""
        self._wake.set()
        self._wake = asyncio.Event()

    def since(self, number: int, *, limit: int = 1000) -> list[Event]:
        """The events after this one."""
        return list(self._records.scan(Event, "events", start=number + 1, limit=limit))

    @property
    def last(self) -> int:
        """The number of the newest event."""
        return self._last

    async def keep(self) -> None:
        """Make durable what is about to be told: a number that was told names the same event under the next leader."""
        if self._records.store.takes_long:
            await asyncio.to_thread(self._records.store.flush)

    async def follow(self, number: int) -> AsyncIterator[Event]:
        """Events after this one, as they come, without end."""
        while True:
            wake = self._wake
            found = self.since(number)
            if found:
                await self.keep()
            for event in found:
                number = event.number
                yield event
            await wake.wait()
