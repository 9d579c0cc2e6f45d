"""What a pipeline reads, batch by batch: streams, or a source. In come inlets, out come offsets, in between batches.

Made by a pipeline's shape, asked by the loop that cuts its batches. Where a pipeline is in its inlets, a text for each
of them says, or None where nothing was read yet; only the inlet knows what the text means.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NewType

from pyspark.sql import DataFrame, SparkSession

from weft import kernel
from weft.windows.attached import InputBatch

Inlet = NewType("Inlet", object)
"""Something to read, as the kernel holds it."""

At = tuple[str | None, ...]
"""Where a pipeline is in each of its inlets."""

LOOK_MS = 10
"""Who is not woken looks after so long for what others may have written, and then ever more rarely."""


def source_inlet(frame: DataFrame, remembers: str) -> Inlet:
    """The source of a streaming frame, which keeps in a folder what it has to remember."""
    return Inlet(kernel.call(frame.sparkSession, "spark.stream.Intake.source", frame, remembers))


def over(rows: DataFrame, frame: DataFrame) -> DataFrame:
    """What a streaming frame makes of rows of its source."""
    return kernel.to_frame(
        rows.sparkSession, kernel.call(rows.sparkSession, "spark.Leaf.over", rows, frame)
    )


def tick_inlet(spark: SparkSession, name: str) -> Inlet:
    """Batches without rows, whenever one is asked for under this name."""
    return Inlet(kernel.call(spark, "spark.stream.Intake.tick", name))


class Intake:
    """The inlets of one pipeline, in their order."""

    def __init__(
        self,
        spark: SparkSession,
        inlets: Sequence[Inlet],
        *,
        wakes: Sequence[str] = (),
        look_ms: int | None = None,
    ) -> None:
        """`wakes` are the tables and ticks that end its wait for more."""
        self.size = len(inlets)
        self._spark = spark
        self._made: Any = kernel.call(
            spark,
            "spark.stream.Intake",
            kernel.list_of(spark, inlets),
            kernel.list_of(spark, wakes),
            LOOK_MS if look_ms is None else look_ms,
        )

    def next(self, at: At, *, rest_ms: int = 0, wait_ms: int = 0) -> At | None:
        """Where the next batch ends, when something new is there in time; for a while it does not even look."""
        found = self._made.next(json.dumps(at), rest_ms, wait_ms)
        return None if found is None else tuple(json.loads(found))

    def batch(self, place: int, after: str | None, upto: str | None) -> InputBatch:
        """What an inlet has between two of its offsets."""
        return InputBatch(self._made.batch(place, after, upto))

    def rows(self, batches: Sequence[InputBatch]) -> DataFrame:
        """The rows of several batches with the same columns as one frame."""
        given = kernel.list_of(self._spark, batches)
        return kernel.to_frame(
            self._spark, kernel.call(self._spark, "spark.stream.Intake.rows", given)
        )

    def tick(self) -> None:
        """Have one more batch come, also when nothing is new."""
        self._made.tick()

    def committed(self, at: At) -> None:
        """Everything up to here was read for good."""
        self._made.committed(json.dumps(at))

    def known(self) -> At:
        """How far each inlet goes by what it knows, whatever a batch admits; None where it does not say."""
        return tuple(json.loads(self._made.known()))

    def release(self) -> None:
        """Wait no more: the pipeline is about to be stopped."""
        self._made.release()

    def interrupt(self) -> None:
        """Wait no more, also not for a source that does not answer."""
        self._made.interrupt()

    def close(self) -> None:
        """Let go of all inlets."""
        self._made.close()
