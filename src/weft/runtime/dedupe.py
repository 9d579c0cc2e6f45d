"""Deduplication: the first record of a key passes as it is, those that follow it within a time are absorbed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from weft.lineage.ledger import Ledger
from weft.runtime.operator import Operator, absorbed_and_late
from weft.runtime.shape import row_ledger
from weft.runtime.spine import Written
from weft.schema.schema import Schema, quoted
from weft.weaving.weave import Weave
from weft.windows import dedupe
from weft.windows.attached import Attached

if TYPE_CHECKING:
    from weft.runtime.pipeline import Pinned


class Dedupe(Operator):
    """Rows keep their identity and their event time; duplicates are counted."""

    @property
    def schema(self) -> Schema:
        return self.input_schema()

    def attach(self) -> Attached:
        assert self._spec.dedupe is not None
        by = self._spec.dedupe["by"]
        spec = dedupe.DedupeSpec(
            by=tuple(by) or None, within_ms=round(self._spec.dedupe["within_seconds"] * 1000)
        )
        return dedupe.attach(
            self._run.spark,
            self.input_columns(),
            spec,
            buckets=self.buckets,
            pipeline=self._run.name,
            state=self.state,
        )

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        columns = {name: f"row.{quoted(name)}" for name in self.schema.names}
        return self.carried(frame, columns, weft="row._weft", row="row")

    def ledger(self, weave: Weave, written: Written) -> Ledger:
        passed = row_ledger(weave, written)
        absorbed, late = absorbed_and_late(written)
        return replace(
            passed, rows_in=passed.rows_in + absorbed + late, absorbed=absorbed, late=late
        )
