"""Attaches the kernel's window operator to the columns of a stream, or of two that are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from weft.schema.schema import quoted
from weft.windows.aggregate import Aggregate
from weft.windows.attached import Attached, State
from weft.windows.attached import attach as attach_kernel
from weft.windows.window import WindowSpec

ENTRY = "window.plan.Panes.attach"


def attach(
    spark: SparkSession,
    inputs: Sequence[StructType],
    *,
    window: WindowSpec,
    by: Sequence[str] | Mapping[str, str],
    aggregates: Sequence[Aggregate],
    buckets: int,
    pipeline: str,
    event_time: str = "_weft.event_time",
    knot: str = "_weft.knot",
    sides: Sequence[Sequence[str]] = (),
    state: State = "rocksdb",
) -> Attached:
    """A window over streams with these columns, `_weft` last.

    `by` names key columns, or gives an expression for each name. What it makes has the columns `pane`, `late`,
    `report` (of buckets), `dead` (records whose aggregates fail). With `state` in memory, all of it is
    on the heap. Of two streams that are joined `sides` says which columns of each are the key: their rows then have
    the columns `_key_0` and so on, `left` or `right`, and `_input`, which is 0 or 1; `knot` says how their knots follow
    one another.
    """
    spec = {
        "window": window.to_dict(),
        "by": key_expressions(by),
        "aggregates": [aggregate.to_kernel() for aggregate in aggregates],
        "buckets": buckets,
        "event_time": event_time,
        "knot": knot,
        "sides": [list(side) for side in sides],
    }
    return attach_kernel(spark, ENTRY, inputs, spec, pipeline=pipeline, state=state)


def key_expressions(by: Sequence[str] | Mapping[str, str]) -> list[dict[str, str]]:
    """Keys with their expressions, as the kernel reads them; a plain name is that column."""
    keys = by if isinstance(by, Mapping) else {name: quoted(name) for name in by}
    return [{"name": name, "expr": expression} for name, expression in keys.items()]
