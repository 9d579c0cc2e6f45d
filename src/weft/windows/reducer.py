"""Python reducers: a user's own class that folds the rows of a pane into one result.

The rows of a window are kept until it finishes and all of them go to Python with every pane: state
grows with the records instead of with the keys, and a record costs about as much as in a Python
function. An aggregate of the kernel's is the better choice wherever there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import StructType

from weft.weaving.schema import quoted
from weft.windows.aggregate import Aggregate
from weft.windows.panes import State
from weft.windows.panes import attach as attach_panes
from weft.windows.window import WindowSpec

HIDDEN = "_rows"


class Reducer(Protocol):
    """What a user's class has: an accumulator made, fed row by row, and read."""

    def create(self) -> Any:
        """The accumulator of no rows."""

    def add(self, accumulator: Any, row: Mapping[str, Any]) -> Any:
        """The accumulator with one more row."""

    def result(self, accumulator: Any) -> Mapping[str, Any]:
        """The columns of the pane."""


def reduce_rows(reducer: Reducer, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The result of a reducer over the rows of one pane, in their order."""
    accumulator = reducer.create()
    for row in rows:
        accumulator = reducer.add(accumulator, row)
    return reducer.result(accumulator)


def attach(
    frame: DataFrame,
    reducer: Reducer,
    *,
    returns: StructType,
    window: WindowSpec,
    by: Sequence[str] | Mapping[str, str],
    aggregates: Sequence[Aggregate] = (),
    buckets: int,
    pipeline: str,
    state: State = "rocksdb",
) -> DataFrame:
    """As `panes.attach`, with the columns of the reducer's result after the aggregates."""
    columns = [quoted(name) for name in frame.columns if name not in ("_weft", "_control")]
    rows = Aggregate(HIDDEN, "collect_list", (f"struct({', '.join(columns)})",))
    panes = attach_panes(
        frame,
        window=window,
        by=by,
        aggregates=[*aggregates, rows],
        buckets=buckets,
        pipeline=pipeline,
        state=state,
    )

    def fold(listed: list[Any] | None) -> tuple[Any, ...] | None:
        if listed is None:
            return None
        found = reduce_rows(reducer, [row.asDict(recursive=True) for row in listed])
        return tuple(found.get(name) for name in returns.names)

    reduced = panes.withColumn("reduced", sql.udf(fold, returns, useArrow=False)(f"pane.{HIDDEN}"))
    kept = panes.schema["pane"].dataType.fieldNames()[:-1]  # type: ignore[attr-defined]
    whole = sql.struct(
        *(sql.col(f"pane.{quoted(name)}").alias(name) for name in kept),
        *(sql.col(f"reduced.{quoted(name)}").alias(name) for name in returns.names),
    )
    return reduced.select(
        sql.when(sql.col("pane").isNotNull(), whole).alias("pane"), "late", "control"
    )
