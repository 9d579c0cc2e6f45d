"""Stream to stream with state: rows are absorbed into windows, and what comes out are panes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from weft.lineage.ledger import Ledger
from weft.project.pane import checked_aggregate
from weft.runtime.relay import input_time, open_input
from weft.runtime.shape import Time, row_ledger
from weft.weaving.schema import Schema, quote
from weft.weaving.step import Step
from weft.weaving.weave import Weave
from weft.windows import panes
from weft.windows.aggregate import Aggregate
from weft.windows.window import WindowSpec

if TYPE_CHECKING:
    from weft.runtime.pipeline import Pinned, RunningPipeline

BUCKETS_PER_PARTITION = 4
"""State is grouped by buckets of keys; a few per partition spread evenly and still combine rows well."""


class Operator:
    """A window over one stream."""

    operator = True

    def __init__(self, run: RunningPipeline) -> None:
        assert run.spec is not None and run.spec.window is not None
        self._run = run
        self._spec = run.spec
        self._window = WindowSpec.from_dict(run.spec.window)

    @property
    def schema(self) -> Schema:
        return self._run.stream.schema

    @property
    def steps(self) -> tuple[Step, ...]:
        return ()

    @property
    def buckets(self) -> int:
        """How many groups its state is kept in; fixed for the life of a checkpoint."""
        return self._run.project.processing.parallelism * BUCKETS_PER_PARTITION

    def open(self) -> DataFrame:
        rows = open_input(self._run, self._run.inputs[0], buckets=self.buckets)
        return panes.attach(
            rows,
            window=self._window,
            by=self._spec.by,
            aggregates=self._aggregates(),
            buckets=self.buckets,
            pipeline=self._run.name,
            state=self._run.project.processing.state,
        )

    def _aggregates(self) -> list[Aggregate]:
        schema = self._run.project.schema_of(self._run.inputs[0])
        return [
            checked_aggregate(name, text, schema)[0] for name, text in self._spec.aggregate.items()
        ]

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        keys = ", ".join(f"pane.{quote(name)}" for name in self._spec.by) or "1"
        identity = (
            f"concat_ws('/', '{self._run.stream.name}', unix_millis(pane.window.start), "
            f"unix_millis(pane.window.end), pane.window.revision, md5(to_json(struct({keys}))))"
        )
        return frame.selectExpr(
            *(f"pane.{quote(name)} AS {quote(name)}" for name in self.schema.names),
            f"CASE WHEN pane IS NOT NULL THEN named_struct('id', {identity}, "
            "'knot', CAST(0 AS BIGINT), 'at', CAST(NULL AS TIMESTAMP), "
            f"'source', '{self._run.stream.name}', 'partition', 0, "
            "'event_time', pane.window.timestamp, 'watermark', CAST(NULL AS TIMESTAMP)) END AS _weft",
            "CAST(NULL AS STRING) AS _weft_bad",
            "CAST(NULL AS BINARY) AS _weft_raw",
            "late",
            "control",
        )

    def time(self, pinned: Pinned, result: Mapping[str, Any]) -> Time:
        """The input's watermark, held back to the earliest time that an open pane may still be given."""
        inputs = input_time(self._run, pinned)
        reports = _reports(result)
        holds = [report["hold"] for report in reports if report["hold"] is not None]
        marks = [ms for ms in (inputs.watermark_ms, *holds) if ms is not None]
        held = min(marks) if inputs.watermark_ms is not None else None
        known = [ms for ms in (held, pinned.watermark_ms) if ms is not None]
        detail = {**inputs.detail, "windows": sum(report["windows"] for report in reports)}
        return Time(max(known, default=None), detail)

    def is_due(self, now: datetime) -> bool:
        return False

    def ledger(self, weave: Weave, result: Mapping[str, Any]) -> Ledger:
        reports = _reports(result)
        absorbed = sum(report["absorbed"] for report in reports)
        late = sum(report["late"] for report in reports)
        return Ledger(
            rows_in=absorbed + late,
            absorbed=absorbed,
            late=late,
            results=row_ledger(weave, result),
        )


def _reports(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(report) for report in result["control"]]
