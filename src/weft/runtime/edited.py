"""Recorded rows of a stream with something changed in them: the shape of a leg that runs no pipeline again.

Rows have been through their pipeline, so rules that come in addition find them as they would have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from weft.lineage.ledger import Ledger
from weft.runtime.shape import row_ledger
from weft.runtime.spine import Written
from weft.schema.schema import Schema
from weft.schema.weft import WEFT
from weft.steps.step import Step
from weft.streams.rows import as_read
from weft.weaving.weave import Weave
from weft.windows.watermark import Watermarks

if TYPE_CHECKING:
    from weft.runtime.pipeline import Pinned
    from weft.runtime.replayed import ReplayedPipeline


class Edited:
    """A stream's own recorded rows, woven by what comes in addition; time stands where it stood."""

    operator = False
    is_steady = False

    def __init__(self, run: ReplayedPipeline) -> None:
        self._run = run

    @property
    def schema(self) -> Schema:
        """The columns that its table has, which rules may have added to."""
        live = self._run.live_table()
        form = live.schema()
        user = [field for field in form["fields"] if field["name"] != WEFT]
        return Schema.from_json({**form, "fields": user})

    @property
    def steps(self) -> tuple[Step, ...]:
        return ()

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        return as_read(frame, self.schema)

    def time(self, pinned: Pinned, written: Written) -> Watermarks:
        return self._run.recorded(pinned.knot.number).watermarks

    def latest_ms(self, pinned: Pinned) -> int | None:
        return None

    def ledger(self, weave: Weave, written: Written) -> Ledger:
        return row_ledger(weave, written)
