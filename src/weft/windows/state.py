"""What a windowed pipeline keeps, read from its checkpoint: now, or as of an earlier batch.

The worker calls this for `GET /windows` and `GET /state`; the state describes itself, so nothing of
the pipeline is needed but its checkpoint.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession

from weft import kernel
from weft.windows.attached import State

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
LOWEST = -(1 << 63)
NEWEST = -1


@dataclass(frozen=True)
class KeptWindow:
    """A window of a key that may still get records: its bounds, its records, its aggregates so
    far.
    """

    key: str
    start_ms: int | None
    end_ms: int | None
    records: int
    values: dict[str, Any]

    @property
    def start(self) -> datetime | None:
        """When it begins; None of a global window."""
        return _moment(self.start_ms)

    @property
    def end(self) -> datetime | None:
        """When it ends; None of a global window."""
        return _moment(self.end_ms)

    def position(self) -> str:
        """Where the next page goes on after this window."""
        start = LOWEST if self.start_ms is None else self.start_ms
        return f"{self.key}\0{(start ^ LOWEST) & ((1 << 64) - 1):016X}"


def read_windows(
    spark: SparkSession,
    checkpoint: str,
    *,
    batch: int | None = None,
    prefix: str = "",
    after: str | None = None,
    limit: int = 100,
    state: State = "rocksdb",
) -> list[KeptWindow]:
    """A page of the windows that are kept, by key and start.

    A key is its columns joined by a slash, and those that begin with `prefix` are wanted. `batch` is
    the one after which the state is wanted, the newest when it is not said. `after` is the `position`
    of the last window of the page before.
    """
    found = kernel.call(
        spark,
        "window.plan.StateView.windows",
        spark,
        checkpoint,
        NEWEST if batch is None else batch,
        state == "memory",
        prefix,
        after,
        limit,
    )
    return [
        KeptWindow(row.key, row.start, row.end, row.records, json.loads(row[4]))
        for row in kernel.to_frame(spark, found).collect()
    ]


def _moment(ms: int | None) -> datetime | None:
    """A bound as a time; one beyond Python's years is the first or the last that it has."""
    if ms is None:
        return None
    try:
        return EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return FIRST if ms < 0 else LAST
