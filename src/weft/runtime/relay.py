"""Stream to stream without state: rows keep their identity, and their event time unless the steps give it anew."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from weft.lineage.ledger import Ledger
from weft.project.definition import Project
from weft.runtime.event_clock import EventClock
from weft.runtime.shape import row_ledger
from weft.runtime.spine import Written
from weft.schema.schema import Schema
from weft.schema.weft import stored_form
from weft.sources.stream import with_tick
from weft.steps.step import Step
from weft.streams.read import CurrentRows, open_table, read_batch, rows_of
from weft.streams.rows import as_read
from weft.weaving.weave import Weave
from weft.windows.attached import InputBatch
from weft.windows.watermark import Watermarks, minimum_of

if TYPE_CHECKING:
    from weft.runtime.pipeline import Pinned, RunningPipeline


class Relay:
    """Reads its input streams, one after the other, and weaves their rows."""

    operator = False
    is_steady = True
    counts_state = True

    def __init__(self, run: RunningPipeline) -> None:
        self._run = run
        owned = run.stream.clock == "own"
        self._clock = EventClock(run.stream.watermarks) if owned else None

    @property
    def schema(self) -> Schema:
        return self._run.project.schema_of(self._run.inputs[0])

    @property
    def steps(self) -> tuple[Step, ...]:
        return self._run.steps

    @property
    def partitions(self) -> int:
        return self._run.project.processing.parallelism

    def open(self) -> DataFrame:
        # What a window makes of its input depends on where knots end, so every knot of the way to it has one
        # of ours: then it does not matter how batches were cut, and running again gives the same panes.
        knots = 1 if _feeds_operator(self._run.project, self._run.stream.name) else 0
        frames = [open_input(self._run, n, knots=knots) for n in range(len(self._run.inputs))]
        frame = frames[0]
        for other in frames[1:]:
            frame = frame.unionByName(other)
        return frame if self._clock is None else with_tick(frame, self._run.name)

    def taken(self, frame: DataFrame, batch: int) -> DataFrame:
        return rows_of(self._run.spark, batches_of(self._run, batch))

    def state_size(self) -> None:
        return None

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        return as_read(frame, self.schema)

    def time(self, pinned: Pinned, written: Written) -> Watermarks:
        if self._clock is None:
            return input_time(self._run, pinned)
        return self._clock.advance(pinned, written)

    def latest_ms(self, pinned: Pinned) -> int | None:
        return None if self._clock is None else self._clock.latest_ms(pinned)

    def is_due(self, now: datetime) -> bool:
        return self._clock is not None and self._clock.is_due(now)

    def ledger(self, weave: Weave, written: Written) -> Ledger:
        return row_ledger(weave, written)


def _feeds_operator(project: Project, stream: str) -> bool:
    """Whether a pipeline with state reads this stream, or one that is made from it."""
    return any(
        spec.stateful or _feeds_operator(project, spec.to)
        for spec in project.pipelines.values()
        if stream in spec.inputs
    )


def open_input(
    run: RunningPipeline, position: int, *, knots: int = 0, newest: CurrentRows | None = None
) -> DataFrame:
    """An input stream, from its first knot on, or from the rows that it has now."""
    return open_table(
        run.spark,
        run.storage.table(run.inputs[position]),
        input_columns(run, position),
        replace(run.reading(position), newest=newest),
        name=run.reader(position),
        max_knots=knots,
    )


def input_columns(run: RunningPipeline, position: int) -> StructType:
    """The declared columns of an input stream, `_weft` last."""
    return StructType.fromJson(stored_form(run.project.schema_of(run.inputs[position])))


def batches_of(run: RunningPipeline, batch: int) -> list[InputBatch]:
    """What a batch has of each input, by the offsets that Spark has planned for it."""
    offsets = run.taken(batch).offsets
    return [
        read_batch(
            run.spark,
            run.reading(position).query,
            run.reader(position),
            after=offsets.start[position],
            upto=offsets.end[position],
        )
        for position in range(len(run.inputs))
    ]


def input_time(run: RunningPipeline, pinned: Pinned) -> Watermarks:
    """The lowest watermark of the inputs, each at the last knot consumed; it never goes back."""
    marks: dict[str, int | None] = {}
    for stream, knot in pinned.knot.offsets.inputs.items():
        found = run.tables.find(stream, knot) if knot else None
        marks[stream] = found.note.watermark if found else None
    lowest = minimum_of(marks.values())
    known = [ms for ms in (lowest, pinned.watermark_ms) if ms is not None]
    return Watermarks(max(known, default=None), inputs=marks)
