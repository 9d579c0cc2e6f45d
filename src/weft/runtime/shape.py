"""The three shapes of a pipeline: ingest (source to stream), relay (stream to stream), operator (with state).

The spine is the same for all; a shape says how the frame of a batch is prepared, and what the batch did to
watermarks and ledger. A replay has a fourth, whose batches are recorded rows.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import DataFrame

from weft.lineage.ledger import Ledger
from weft.runtime.spine import Written
from weft.schema.schema import Schema
from weft.steps.step import Step
from weft.streams.intake import Intake
from weft.weaving.weave import Weave
from weft.windows.watermark import Watermarks

if TYPE_CHECKING:
    from weft.runtime.pipeline import Pinned


class Shape(Protocol):
    """What the spine needs to know of a pipeline's kind."""

    operator: bool
    """Whether the frame carries late records and operator reports beside the rows."""

    @property
    def schema(self) -> Schema:
        """The user's columns before the steps."""
        ...

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that are woven in the batch."""
        ...

    @property
    def is_steady(self) -> bool:
        """Whether it prepares the frames of all batches alike, so that what was planned for one fits the next."""
        ...

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        """The frame of a batch as the weave wants it: columns, `_weft`, `_weft_bad`, `_weft_raw`."""
        ...

    def time(self, pinned: Pinned, written: Written) -> Watermarks:
        """Where event time stands after the batch, from what the writer saw."""
        ...

    def latest_ms(self, pinned: Pinned) -> int | None:
        """The latest event time that may move the watermark; None where watermarks come from the inputs."""
        ...

    def ledger(self, weave: Weave, written: Written) -> Ledger:
        """The ledger of the batch, from what the writer counted."""
        ...


class StreamedShape(Shape, Protocol):
    """A shape whose batches are cut from what comes in, as all of live pipelines are."""

    counts_state: bool
    """Whether the entries of its state are counted, for which each one is read before it is written."""

    @property
    def partitions(self) -> int:
        """How many partitions a shuffle of its batches has."""
        ...

    def open(self) -> Intake:
        """What comes in."""
        ...

    def taken(self, batch: int) -> DataFrame:
        """What a planned batch takes in: the frame that is prepared, woven and written."""
        ...

    def state_size(self) -> dict[str, int | None] | None:
        """Entries, if they are counted, and bytes of its state after the last batch, or None when it keeps none."""
        ...

    def is_due(self, now: datetime) -> bool:
        """Whether a batch without data would change something by now."""
        ...


def row_ledger(weave: Weave, written: Written) -> Ledger:
    """The ledger of rows that were woven one by one."""
    out, filtered, dead = weave.ledger_counts(written.verdicts)
    copied = {
        target.stream: written.outputs[target.column].rows
        for target in weave.targets
        if target.column.startswith("_weft_side") and written.outputs[target.column].rows
    }
    return Ledger(
        rows_in=out + sum(filtered.values()) + dead,
        out=out,
        filtered=filtered,
        dead=dead,
        copied=copied,
    )
