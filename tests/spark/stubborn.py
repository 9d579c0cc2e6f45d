"""What stands in the way of operations on purpose: a sink that keeps what it has, a function without end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, ClassVar

from weft.sinks import EventSink, SinkError


class StubbornSink(EventSink):
    """Keeps records; gives none back as long as a file says why not."""

    kept: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, refusal: str) -> None:
        self._refusal = Path(refusal)

    def write(self, records: list[dict[str, Any]]) -> None:
        self.kept.extend(records)

    def retract(self, records: list[dict[str, Any]]) -> None:
        if self._refusal.exists():
            retryable = self._refusal.read_text() == "for now"
            raise SinkError("It does not give them back.", retryable=retryable)
        self.kept[:] = [one for one in self.kept if one not in records]

    def close(self) -> None:
        pass


def dawdle(record: dict[str, Any]) -> dict[str, Any]:
    """Takes for ever for one record."""
    if record["id"] == 13:
        time.sleep(3600)
    return record
