"""A windowed join of two streams: rows with equal keys in the same window, revised when late ones come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from weft.loading.merge import side_by_side
from weft.loading.pane import WINDOW
from weft.runtime.operator import Operator
from weft.schema.schema import Schema, quoted
from weft.windows import join
from weft.windows.attached import Attached
from weft.windows.window import WindowSpec

if TYPE_CHECKING:
    from weft.runtime.pipeline import Pinned


class Join(Operator):
    """The columns of the left stream, what the right one adds, and the window they met in."""

    @property
    def schema(self) -> Schema:
        assert self._spec.join is not None
        return side_by_side(self.input_schema(0), self.input_schema(1), self._spec.join)

    def attach(self) -> Attached:
        assert self._spec.window is not None
        return join.attach(
            self._run.spark,
            self.input_columns(0),
            self.input_columns(1),
            window=WindowSpec.from_dict(self._spec.window),
            on=self._on(),
            buckets=self.buckets,
            pipeline=self._run.name,
            state=self.state,
        )

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        assert self._spec.join is not None
        on = self._on()
        kind = self._spec.join.get("type", "inner")
        joined = join.paired(frame, on=on, kind=kind)
        left = set(self.input_schema(0).names)
        # The key of the pane may be of a wider type than the left row's own column.
        shared = on if kind in ("right", "full") else {}
        columns: dict[str, str] = {}
        for name in self.schema.names:
            if name == WINDOW.name:
                columns[name] = "pane.window"
            elif name in shared:
                columns[name] = f"pane.{quoted(name)}"
            else:
                columns[name] = f"pane.{'left' if name in left else 'right'}.{quoted(name)}"
        identity = ["pane.left", "pane.right", *(f"pane.{quoted(name)}" for name in on)]
        return self.carried(joined, columns, weft=self.made(*identity), row="pane")

    def _on(self) -> dict[str, str]:
        """The columns that must be equal, left to right."""
        assert self._spec.join is not None
        return dict(self._spec.join["on"])
