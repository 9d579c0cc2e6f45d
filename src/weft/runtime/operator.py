"""Stream to stream with state: what the kernel's operators absorb, make and report, as the spine reads it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from weft import codec
from weft.gate.spark import select
from weft.lineage.ledger import Ledger
from weft.runtime.layout import BUCKETS_PER_PARTITION, FORM, Layout, layout_of
from weft.runtime.relay import batches_of, input_columns, input_time, open_input
from weft.runtime.shape import row_ledger
from weft.runtime.spine import Written
from weft.schema.schema import Schema, literal
from weft.schema.weft import WEFT
from weft.steps.step import Step
from weft.streams.intake import Intake
from weft.streams.read import CurrentRows
from weft.weaving.weave import Weave
from weft.windows.attached import Attached, State
from weft.windows.watermark import Watermarks

if TYPE_CHECKING:
    from weft.project.definition import PipelineSpec
    from weft.runtime.pipeline import Pinned, RunningPipeline


NO_REASON = "CAST(NULL AS STRING)"


@dataclass(frozen=True)
class BucketReport:
    """What one bucket of an operator says of a batch."""

    absorbed: int
    late: int
    dead: int = 0
    """Records whose aggregates cannot be computed."""
    hold: int | None = None
    """The lowest event time that a pane on time may still get."""
    windows: int = 0
    waits: str = ""
    """What it holds changes back for."""


class Operator(ABC):
    """What windows, joins and deduplication have in common."""

    operator = True
    is_steady = True
    counts_state = True

    def __init__(self, run: RunningPipeline) -> None:
        assert run.spec is not None
        self._run = run
        self._spec: PipelineSpec = run.spec
        self._layout = self.layout()
        self._attached: Attached | None = None

    def layout(self) -> Layout:
        """How its state is laid out."""
        tasks = self._run.project.processing.parallelism
        return layout_of(self._run.checkpoint, Layout(tasks, tasks * BUCKETS_PER_PARTITION, FORM))

    @property
    def steps(self) -> tuple[Step, ...]:
        return self._run.steps

    @property
    def buckets(self) -> int:
        """How many groups its state is kept in."""
        return self._layout.buckets

    @property
    def partitions(self) -> int:
        return self._layout.partitions

    @property
    def state(self) -> State:
        """Where its state is kept."""
        return self._run.project.processing.state

    @abstractmethod
    def attach(self) -> Attached:
        """The kernel's operator on the columns of its inputs."""

    def newest(self, position: int) -> CurrentRows | None:
        """What is enough of an input to begin with, or None where that is all of it."""
        return None

    def open(self) -> Intake:
        run = self._run
        places = range(len(run.inputs))
        inputs = [open_input(run, place, newest=self.newest(place)) for place in places]
        self._attached = self.attach()
        self._intake = Intake(run.spark, inputs, wakes=run.wakes)
        return self._intake

    def taken(self, batch: int) -> DataFrame:
        assert self._attached is not None
        return self._attached.run(
            batches_of(self._run, self._intake, batch),
            checkpoint=self._run.checkpoint,
            batch=batch,
            partitions=self.partitions,
        )

    def state_size(self) -> dict[str, int | None] | None:
        if self._attached is None:
            return None
        entries, held = self._attached.state_size()
        return {"rows": entries if self.counts_state else None, "bytes": held}

    def input_columns(self, position: int = 0) -> StructType:
        """The columns of one of its input streams, as they are stored."""
        return input_columns(self._run, position)

    def input_schema(self, position: int = 0) -> Schema:
        """The columns of one of its input streams."""
        return self._run.project.schema_of(self._run.inputs[position])

    def latest_ms(self, pinned: Pinned) -> None:
        return None

    def is_due(self, now: datetime) -> bool:
        return False

    def time(self, pinned: Pinned, written: Written) -> Watermarks:
        """The input's watermark, held back to the earliest time that an open pane may still be given."""
        inputs = input_time(self._run, pinned)
        found = reports(written)
        holds = [report.hold for report in found if report.hold is not None]
        marks = [ms for ms in (inputs.value_ms, *holds) if ms is not None]
        held = min(marks) if inputs.value_ms is not None else None
        known = [ms for ms in (held, pinned.watermark_ms) if ms is not None]
        windows = sum(report.windows for report in found)
        return replace(inputs, value_ms=max(known, default=None), windows=windows)

    def ledger(self, weave: Weave, written: Written) -> Ledger:
        absorbed, late = absorbed_and_late(written)
        dead = sum(report.dead for report in reports(written))
        return Ledger(
            rows_in=absorbed + late + dead,
            absorbed=absorbed,
            late=late,
            dead=dead,
            results=row_ledger(weave, written),
        )

    def carried(
        self,
        frame: DataFrame,
        columns: Mapping[str, str],
        *,
        weft: str,
        row: str,
        bad: str = NO_REASON,
    ) -> DataFrame:
        """The frame that the weave takes: columns and `_weft` where `row` is set, late rows and reports.

        `bad` is SQL for why a row that the operator made is a dead letter.
        """
        system = [
            (WEFT, f"CASE WHEN {row} IS NOT NULL THEN {weft} END"),
            ("_weft_bad", bad),
            ("_weft_raw", "CAST(NULL AS BINARY)"),
            ("_weft_late", "late"),
            ("_weft_report", "report"),
            ("_weft_dead", "dead"),
        ]
        return select(frame, [[*columns.items(), *system]])

    def made(self, *identity: str) -> str:
        """SQL of `_weft` for rows that the operator makes: who they are, and the time of their pane."""
        name = literal(self._run.stream.name)
        window = ("start", "end", "timestamp", "revision")
        columns = ", ".join([name, *(f"pane.window.{part}" for part in window), *identity])
        return (
            f"named_struct('id', weft_made({columns}), 'knot', CAST(0 AS BIGINT), 'at', CAST(NULL AS TIMESTAMP), "
            f"'source', {name}, 'partition', 0, 'event_time', pane.window.timestamp, "
            "'watermark', CAST(NULL AS TIMESTAMP))"
        )


def reports(written: Written) -> list[BucketReport]:
    """What each bucket of an operator said of the batch."""
    return [codec.from_form(BucketReport, json.loads(report)) for report in written.reports]


def absorbed_and_late(written: Written) -> tuple[int, int]:
    """How many records an operator took in, and how many came too late for it."""
    found = reports(written)
    return sum(report.absorbed for report in found), sum(report.late for report in found)
