"""PySpark's transformWithState for the windows bench: per key a map of windows and a timer for each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from bench._window_data import Case

OUTPUT = "start timestamp, end timestamp, key bigint, n bigint, s bigint"


def processor(case: Case) -> StatefulProcessor:
    """A processor for the windows of a case."""
    return Windows(case.size_ms, case.slide_ms)


class Windows(StatefulProcessor):
    """Counts and sums of one key's windows, told when the watermark passes their end."""

    def __init__(self, size_ms: int, slide_ms: int) -> None:
        self._size = size_ms
        self._slide = slide_ms

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._windows = handle.getMapState("windows", "start bigint", "n bigint, s bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        found: dict[int, list[int]] = {}
        for row in rows:
            at = int(row.at.timestamp() * 1000)
            start = at // self._slide * self._slide
            while start > at - self._size:
                counts = found.setdefault(start, [0, 0])
                counts[0] += 1
                counts[1] += row.value
                start -= self._slide
        for start, (n, s) in found.items():
            if self._windows.containsKey((start,)):
                before = self._windows.getValue((start,))
                n, s = n + before[0], s + before[1]
            else:
                self._handle.registerTimer(start + self._size)
            self._windows.updateValue((start,), (n, s))
        return iter([])

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:

        end = expiredTimerInfo.getExpiryTimeInMs()
        start = end - self._size
        n, s = self._windows.getValue((start,))
        self._windows.removeKey((start,))
        bounds = [datetime.fromtimestamp(ms / 1000, UTC) for ms in (start, end)]
        yield Row(start=bounds[0], end=bounds[1], key=key[0], n=n, s=s)

    def close(self) -> None:
        """Nothing is held open."""
