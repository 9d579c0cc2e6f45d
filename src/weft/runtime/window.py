"""A window over one stream: records are absorbed, panes come out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from weft.runtime.operator import NO_REASON, Operator
from weft.schema.schema import Schema, quoted
from weft.steps.function import FunctionVersion
from weft.steps.step import Step
from weft.windows import fold, panes
from weft.windows.aggregate import Aggregate, checked_aggregate
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

    def open(self) -> DataFrame:
        assert self._spec.window is not None
        if self._spec.reducer is None:
            return panes.attach(
                self.input(),
                window=WindowSpec.from_dict(self._spec.window),
                by=self._spec.by,
                aggregates=self._aggregates(),
                buckets=self.buckets,
                pipeline=self._run.name,
                state=self._run.project.processing.state,
            )
        function = self._run.project.functions[self._spec.reducer]
        assert function.returns is not None
        # Only the version travels: its class is one that the workers cannot import by its name.
        return fold.attach(
            self.input(),
            partial(_make, function),
            returns=function.returns,
            window=WindowSpec.from_dict(self._spec.window),
            by=self._spec.by,
            aggregates=self._aggregates(),
            buckets=self.buckets,
            pipeline=self._run.name,
            state=self._run.project.processing.state,
        )

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        columns = {name: f"pane.{quoted(name)}" for name in self.schema.names}
        keys = [f"pane.{quoted(name)}" for name in self._spec.by]
        bad = "bad" if self._spec.reducer is not None else NO_REASON
        return self.carried(frame, columns, weft=self.made(*keys), row="pane", bad=bad)

    def _aggregates(self) -> list[Aggregate]:
        schema = self.input_schema()
        return [
            checked_aggregate(name, text, schema)[0] for name, text in self._spec.aggregate.items()
        ]


def _make(function: FunctionVersion) -> Reducer:
    return check_reducer(function.load(), function.ref)()
