"""Runs windows on Spark: knots in, panes and late rows out, batch by batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from tests.unit.windows.model import Knot
from weft.schema.schema import Schema
from weft.schema.weft import stored_form
from weft.windows.aggregate import Aggregate
from weft.windows.attached import Attached, InputBatch, State, batch_of
from weft.windows.panes import attach
from weft.windows.window import WindowSpec

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BUCKETS = 2
PARTITIONS = 2
COLUMNS = StructType.fromJson(stored_form(Schema.of({"key": "string", "value": "bigint"})))
VALUES = (Aggregate("values", "collect_list", ("value",)),)


def to_ms(moment: datetime | None) -> int | None:
    """A timestamp of Spark's as milliseconds since 1970."""
    if moment is None:
        return None
    return (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)


def to_moment(ms: int | None) -> datetime | None:
    """Milliseconds since 1970 as a timestamp."""
    return None if ms is None else EPOCH + timedelta(milliseconds=ms)


def batch_of_knots(
    spark: SparkSession, knots: Iterable[Knot], *, after: int = 0, watermark: int | None = None
) -> InputBatch:
    """The knots behind one of this number and watermark as a batch of a stream."""
    rows: list[dict[str, Any]] = []
    marks = []
    for number, knot in enumerate(knots, after + 1):
        for place, row in enumerate(knot.rows):
            weft = {
                "id": f"{number}-{place:06d}",
                "knot": number,
                "event_time": to_moment(row.at),
                "watermark": to_moment(watermark),
            }
            rows.append({"key": row.key, "value": row.value, "_weft": weft})
        watermark = watermark_after(watermark, knot)
        marks.append((number, watermark))
    return batch_of(spark.createDataFrame(rows, COLUMNS), marks, len(rows))


def watermark_after(watermark: int | None, knot: Knot) -> int | None:
    """A stream's watermark after a knot; it never goes back."""
    known = [mark for mark in (watermark, knot.watermark) if mark is not None]
    return max(known, default=None)


def run_once(
    attached: Attached, folder: Path, *batches: InputBatch, partitions: int = PARTITIONS
) -> DataFrame:
    """What an operator makes of its first batch, with its state in this folder."""
    return attached.run(batches, checkpoint=str(folder), batch=0, partitions=partitions)


@dataclass
class Answer:
    """What one batch gave: rows of panes, late rows and reports, by the number of the window."""

    panes: list[tuple[int, Any]] = field(default_factory=list)
    late: list[tuple[int, Any]] = field(default_factory=list)
    reports: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


@dataclass
class WindowRun:
    """A window operator for each specification, over one stream."""

    spark: SparkSession
    folder: Path
    specs: Sequence[WindowSpec]
    aggregates: Sequence[Aggregate] = VALUES
    by: Sequence[str] | dict[str, str] = ("key",)
    buckets: int = 3
    state: State = "rocksdb"
    _operators: list[Attached] = field(default_factory=list)
    _knots: int = 0
    _watermark: int | None = None
    _batches: list[InputBatch] = field(default_factory=list)

    def start(self) -> None:
        """Attach the operators, or go on from their checkpoints."""
        self._operators = [
            attach(
                self.spark,
                [COLUMNS],
                window=spec,
                by=self.by,
                aggregates=self.aggregates,
                buckets=self.buckets,
                pipeline=f"window-{number}",
                state=self.state,
            )
            for number, spec in enumerate(self.specs)
        ]

    def checkpoint(self, number: int = 0) -> str:
        """Where an operator has its state."""
        return str(self.folder / f"checkpoint-{number}")

    def feed(self, knots: Sequence[Knot]) -> Answer:
        """Run one batch of these knots and return what it gave."""
        batch = batch_of_knots(self.spark, knots, after=self._knots, watermark=self._watermark)
        for knot in knots:
            self._watermark = watermark_after(self._watermark, knot)
        self._knots += len(knots)
        self._batches.append(batch)
        return self._run()

    def _run(self) -> Answer:
        answer = Answer()
        for number, operator in enumerate(self._operators):
            frame = operator.run(
                self._batches[-1:],
                checkpoint=self.checkpoint(number),
                batch=len(self._batches) - 1,
                partitions=PARTITIONS,
            )
            self.take(number, frame, answer)
        return answer

    def take(self, number: int, frame: DataFrame, answer: Answer) -> None:
        """Read what an operator made of a batch."""
        for row in frame.collect():
            if row.pane is not None:
                answer.panes.append((number, row.pane))
            elif row.late is not None:
                answer.late.append((number, row.late))
            else:
                answer.reports.append((number, json.loads(row.report)))

    def repeat(self) -> Answer:
        """Run the last batch again, as after a crash, by operators that were attached anew."""
        self.start()
        return self._run()

    def state_size(self, number: int = 0) -> int:
        """How many entries an operator's state has."""
        return self._operators[number].state_size()[0]


def pane_of(row: Any) -> tuple[Any, ...]:
    """A pane's row in the form in which it is compared with the model's."""
    window = row.window
    return (
        row.key,
        to_ms(window.start),
        to_ms(window.end),
        tuple(sorted(row["values"])),
        to_ms(window.timestamp),
        window.kind,
        window.revision,
        window.final,
        window.records,
    )
