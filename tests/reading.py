"""Reads a source as a pipeline does, and hands back what each batch held."""

from __future__ import annotations

import time
from pathlib import Path

from pyspark.sql import DataFrame, Row

from tests.looped import Looped, Watched
from weft.streams.intake import At, Intake, over, source_inlet, tick_inlet

LIMIT_S = 60.0


class Reading:
    """Batches of a source, kept by number; one that runs again replaces the first.

    The frame is streaming: its source, and what is made of that.
    """

    def __init__(
        self,
        frame: DataFrame,
        checkpoint: Path,
        *,
        fail_at: int | None = None,
        tick: str | None = None,
    ) -> None:
        self.batches: dict[int, list[Row]] = {}
        self.tasks: list[int] = []
        self._frame = frame
        self._fail_at = fail_at
        self._tick = tick
        self._remembers = str(checkpoint / "sources" / "0")
        self.loop = Looped(frame.sparkSession, checkpoint, open=self._open, take=self._take)

    def _open(self) -> Watched:
        spark, inputs = self._frame.sparkSession, [source_inlet(self._frame, self._remembers)]
        if self._tick is not None:
            inputs.append(tick_inlet(spark, self._tick))
        return Watched(spark, inputs)

    def _take(self, intake: Intake, batch: int, after: At, upto: At) -> None:
        rows = intake.rows([intake.batch(0, after[0], upto[0])])
        self.tasks.append(rows.rdd.getNumPartitions())
        self.batches[batch] = over(rows, self._frame).collect()
        if batch == self._fail_at:
            raise RuntimeError("the batch fails after it has run")

    @property
    def rows(self) -> list[Row]:
        """The rows of all batches."""
        return [row for _, batch in sorted(self.batches.items()) for row in batch]

    def wait(self, *, rows: int = 0, batches: int = 0) -> None:
        """Wait until so much was read, or the loop ended."""
        end = time.monotonic() + LIMIT_S
        while len(self.rows) < rows or len(self.batches) < batches:
            if not self.loop.is_active:
                return
            if time.monotonic() > end:
                raise TimeoutError(f"read {len(self.rows)} rows in {len(self.batches)} batches")
            time.sleep(0.01)

    def stop(self) -> None:
        """Read what is there, and stop."""
        try:
            self.loop.drain()
        finally:
            self.loop.stop()


def read(frame: DataFrame, checkpoint: Path, *, rows: int) -> dict[int, list[Row]]:
    """The batches of a source until so many rows were read and no more are there."""
    reading = Reading(frame, checkpoint)
    try:
        reading.wait(rows=rows)
    finally:
        reading.stop()
    return reading.batches
