"""Sinks as a user would write them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, ClassVar

from weft.sinks import EventSink


class Collector(EventSink):
    """Appends what it is given to a list that outlives it."""

    seen: ClassVar[defaultdict[str, list[dict[str, Any]]]] = defaultdict(list)

    def __init__(self, name: str) -> None:
        self.name = name

    def write(self, records: list[dict[str, Any]]) -> None:
        self.seen[self.name] += records

    def close(self) -> None:
        pass


class Numbered(EventSink):
    """Takes the number of the knot too."""

    calls: ClassVar[list[tuple[str, Any]]] = []

    def write(self, records: list[dict[str, Any]], knot: int = -1) -> None:
        self.calls.append(("write", (knot, records)))

    def retract(self, records: list[dict[str, Any]]) -> None:
        self.calls.append(("retract", records))

    def close(self) -> None:
        self.calls.append(("close", None))


class Stubborn(EventSink):
    """Refuses what it is given until it is told to take it."""

    takes: ClassVar[bool] = False

    def write(self, records: list[dict[str, Any]]) -> None:
        if not self.takes:
            raise ConnectionError("nobody answers")

    def close(self) -> None:
        pass
