"""Runs a raw frame as a streaming query and hands back what each batch held."""

from __future__ import annotations

import time
from pathlib import Path

from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming import StreamingQuery

LIMIT_S = 60.0


class Reading:
    """A query whose batches are kept by number; one that runs again replaces the first."""

    def __init__(self, frame: DataFrame, checkpoint: Path, *, fail_at: int | None = None) -> None:
        self.batches: dict[int, list[Row]] = {}
        self._fail_at = fail_at
        self.query: StreamingQuery = (
            frame.writeStream.foreachBatch(self._keep)
            .option("checkpointLocation", str(checkpoint))
            .trigger(processingTime="0 seconds")
            .start()
        )

    def _keep(self, frame: DataFrame, batch: int) -> None:
        self.batches[batch] = frame.collect()
        if batch == self._fail_at:
            raise RuntimeError("the batch fails after it has run")

    @property
    def rows(self) -> list[Row]:
        """The rows of all batches."""
        return [row for _, batch in sorted(self.batches.items()) for row in batch]

    def wait(self, *, rows: int = 0, batches: int = 0) -> None:
        """Wait until so much was read, or the query ended."""
        end = time.monotonic() + LIMIT_S
        while len(self.rows) < rows or len(self.batches) < batches:
            if not self.query.isActive:
                return
            if time.monotonic() > end:
                raise TimeoutError(f"read {len(self.rows)} rows in {len(self.batches)} batches")
            time.sleep(0.01)

    def stop(self) -> None:
        """Let the batch in hand end, and stop the query."""
        if self.query.isActive:
            self.query.processAllAvailable()
            self.query.stop()


def read(frame: DataFrame, checkpoint: Path, *, rows: int) -> dict[int, list[Row]]:
    """The batches of a frame until so many rows were read and no more are there."""
    reading = Reading(frame, checkpoint)
    try:
        reading.wait(rows=rows)
    finally:
        reading.stop()
    return reading.batches
