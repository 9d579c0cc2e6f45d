"""What products and updating queries have in common: changes of streams are absorbed, the results that they change come
out."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from weft.lineage.ledger import Ledger
from weft.products.assembly import document_id
from weft.products.attach import Assembled, attach
from weft.runtime.layout import BUCKETS_PER_PARTITION, FORM, Layout, layout_of
from weft.runtime.operator import Operator, reports
from weft.runtime.spine import Written
from weft.schema.change import CHANGE, with_change
from weft.schema.schema import Schema, literal, quoted
from weft.weaving.weave import Weave
from weft.windows.attached import Attached

if TYPE_CHECKING:
    from weft.runtime.pipeline import Pinned

AT_ONCE = 100_000
"""So many changes of an input are in memory at once."""


class Changing(Operator):
    """What is made of changing streams and is one itself: each result is out once in a batch that has changed it."""

    counts_state = False

    @property
    @abstractmethod
    def tasks(self) -> int:
        """How many tasks keep it up."""

    @property
    @abstractmethod
    def assembled(self) -> Assembled:
        """What the kernel is told of it."""

    def layout(self) -> Layout:
        buckets = 1 if self.tasks == 1 else self.tasks * BUCKETS_PER_PARTITION
        return layout_of(self._run.checkpoint, Layout(self.tasks, buckets, FORM))

    @property
    def schema(self) -> Schema:
        return with_change(self.assembled.columns)

    def attach(self) -> Attached:
        inputs = [self.input_columns(position) for position in range(len(self._spec.inputs))]
        return attach(
            self._run.spark,
            inputs,
            self.assembled,
            buckets=self.buckets,
            pipeline=self._run.name,
            state=self.state,
            at_once=AT_ONCE * len(inputs),
        )

    def ledger(self, weave: Weave, written: Written) -> Ledger:
        self._run.waits = next((one.waits for one in reports(written) if one.waits), "")
        return super().ledger(weave, written)

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        columns = {name: f"row.document.{quoted(name)}" for name in self.assembled.columns.names}
        columns[CHANGE] = (
            "named_struct('op', row.op, 'position', CAST(NULL AS STRING), 'at', CAST(NULL AS TIMESTAMP), "
            "'transaction', CAST(NULL AS STRING), 'snapshot', CAST(NULL AS STRING), "
            "'kept', CAST(NULL AS ARRAY<STRING>))"
        )
        name = self._run.stream.name
        weft = (
            f"named_struct('id', {document_id(name, self.assembled.key)}, 'knot', CAST(0 AS BIGINT), "
            f"'at', CAST(NULL AS TIMESTAMP), 'source', {literal(name)}, 'partition', 0, "
            "'event_time', CAST(NULL AS TIMESTAMP), 'watermark', CAST(NULL AS TIMESTAMP))"
        )
        return self.carried(frame, columns, weft=weft, row="row")
