"""A window over one stream: records are absorbed, panes come out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from weft.runtime.operator import Operator
from weft.schema.schema import Schema, quoted
from weft.steps.function import FunctionVersion
from weft.steps.step import Step
from weft.windows import fold, panes
from weft.windows.aggregate import Aggregate, checked_aggregate
from weft.windows.attached import Attached
from weft.windows.reducer import Reducer, check_reducer
from weft.windows.window import WindowSpec

if TYPE_CHECKING:
    from weft.runtime.pipeline import Pinned


class Window(Operator):
    """Aggregates, or a Python reducer, over tumbling, sliding, session or global windows."""

    @property
    def schema(self) -> Schema:
        return self._run.stream.schema

    @property
    def steps(self) -> tuple[Step, ...]:
        return ()

    def attach(self) -> Attached:
        assert self._spec.window is not None
        columns = self.input_columns()
        rows = [] if self._spec.reducer is None else [fold.rows_of(columns)]
        return panes.attach(
            self._run.spark,
            [columns],
            window=WindowSpec.from_dict(self._spec.window),
            by=self._spec.by,
            aggregates=[*self._aggregates(), *rows],
            buckets=self.buckets,
            pipeline=self._run.name,
            state=self.state,
        )

    def _folded(self, frame: DataFrame, reducer: str) -> DataFrame:
        function = self._run.project.functions[reducer]
        assert function.returns is not None
        # Only the version travels: its class is one that the workers cannot import by its name.
        return fold.folded(frame, partial(_make, function), returns=function.returns)

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        columns = {name: f"pane.{quoted(name)}" for name in self.schema.names}
        keys = [f"pane.{quoted(name)}" for name in self._spec.by]
        weft, reducer = self.made(*keys), self._spec.reducer
        if reducer is None:
            return self.carried(frame, columns, weft=weft, row="pane")
        return self.carried(self._folded(frame, reducer), columns, weft=weft, row="pane", bad="bad")

    def _aggregates(self) -> list[Aggregate]:
        schema = self.input_schema()
        return [
            checked_aggregate(name, text, schema)[0] for name, text in self._spec.aggregate.items()
        ]


def _make(function: FunctionVersion) -> Reducer:
    return check_reducer(function.load(), function.ref)()
