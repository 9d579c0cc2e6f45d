"""Events: what happened, in order, for people and pages that follow along."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from weft.clock import Clock, iso
from weft.weaver.store.records import Records, put
from weft.weaver.store.store import Write

KEPT = 10_000


class Events:
    """A numbered log of events in the store; those who wait for the next one are woken."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        last = next(iter(records.scan("event", limit=1, reverse=True)), None)
        self._last: int = last["number"] if last else 0
        self._wake = asyncio.Event()

    def write(self, kind: str, **facts: Any) -> list[Write]:
        """The writes that record one event; they go into the same atomic apply as what they tell of."""
        self._last += 1
        event = {
            "number": self._last,
            "kind": kind,
            "at": iso(self._clock.now()),
            **{name: value for name, value in facts.items() if value is not None},
        }
        writes = [put("event", self._last, record=event)]
        if self._last > KEPT:
            writes.append(Write(put("event", self._last - KEPT, record=None).key, None))
        return writes

    def record(self, kind: str, **facts: Any) -> None:
        """Record one event by itself and wake those who wait."""
        self._records.store.apply(self.write(kind, **facts))
        self.wake()

    def wake(self) -> None:
        """Tell those who wait that there is something new."""
        self._wake.set()
        self._wake = asyncio.Event()

    def since(self, number: int, *, limit: int = 1000) -> list[dict[str, Any]]:
        """The events after this one."""
        return list(self._records.scan("event", start=number + 1, limit=limit))

    @property
    def last(self) -> int:
        """The number of the newest event."""
        return self._last

    async def follow(self, number: int) -> AsyncIterator[dict[str, Any]]:
        """Events after this one, as they come, without end."""
        while True:
            wake = self._wake
            for event in self.since(number):
                number = event["number"]
                yield event
            await wake.wait()
