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
from weft.steps.step import Step
from weft.streams.intake import Inlet, Intake, tick_inlet
from weft.streams.read import CurrentRows, open_table
from weft.streams.rows import as_read
from weft.streams.table import table_errors
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

    def open(self) -> Intake:
        # What a window makes of its input depends on where knots end, so every knot of the way to it has one
        # of ours: then it does not matter how batches were cut, and running again gives the same panes.
        knots = 1 if _feeds_operator(self._run.project, self._run.stream.name) else 0
        run = self._run
        inputs = [open_input(run, place, knots=knots) for place in range(len(run.inputs))]
        if self._clock is not None:
            inputs.append(tick_inlet(run.spark, run.name))
        self._intake = Intake(run.spark, inputs, wakes=run.wakes)
        return self._intake

    def taken(self, batch: int) -> DataFrame:
        return self._intake.rows(batches_of(self._run, self._intake, batch))

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
) -> Inlet:
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


def batches_of(run: RunningPipeline, intake: Intake, batch: int) -> list[InputBatch]:
    """What a batch has of each input stream."""
    taken = run.taken(batch)
    found = []
    for place, stream in enumerate(run.inputs):
        with table_errors(reader=run.reader(place), stream=stream):
            found.append(intake.batch(place, taken.after[place], taken.upto[place]))
    return found


def input_time(run: RunningPipeline, pinned: Pinned) -> Watermarks:
    """The lowest watermark of the inputs, each at the last knot consumed; it never goes back."""
    marks: dict[str, int | None] = {}
    for stream, knot in pinned.knot.offsets.inputs.items():
        found = run.tables.find(stream, knot) if knot else None
        marks[stream] = found.note.watermark if found else None
    lowest = minimum_of(marks.values())
    known = [ms for ms in (lowest, pinned.watermark_ms) if ms is not None]
    return Watermarks(max(known, default=None), inputs=marks)
