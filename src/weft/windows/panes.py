"""Attaches the kernel's window operator to a frame of a stream.

Joins and duplicates go the same way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession

from weft import kernel
from weft.schema.schema import quoted
from weft.windows.aggregate import Aggregate, AggregateError
from weft.windows.window import WindowSpec

State = Literal["rocksdb", "memory"]


def attach(
    frame: DataFrame,
    *,
    window: WindowSpec,
    by: Sequence[str] | Mapping[str, str],
    aggregates: Sequence[Aggregate],
    buckets: int,
    pipeline: str,
    event_time: str = "_weft.event_time",
    state: State = "rocksdb",
    inputs: Mapping[str, Any] | None = None,
) -> DataFrame:
    """The panes, late rows and reports of a window over a stream.

    `frame` has the stream's columns, `_weft`, and `_control` with one control row per bucket and
    batch. `by` names key columns, or gives an expression for each name. The answer has the columns
    `pane`, `late`, `control` and `dead` (records whose aggregates cannot be computed), of which one is
    set in each row. With `state` in memory, each
    bucket's state is one value that any state store of Spark's takes, written whole in every batch.
    `inputs` is for operators over several streams.
    """
    spec = {
        "pipeline": pipeline,
        "window": window.to_dict(),
        "by": key_expressions(by),
        "aggregates": [aggregate.to_kernel() for aggregate in aggregates],
        "buckets": buckets,
        "event_time": event_time,
        "state": state,
        **(inputs or {}),
    }
    return attach_kernel("Panes", frame, spec)


def attach_kernel(operator: str, frame: DataFrame, spec: Mapping[str, Any]) -> DataFrame:
    """Attach an operator of the kernel's; what does not fit the stream is refused with its reason."""
    session = SparkSession.active()
    try:
        attached = kernel.call(session, f"window.plan.{operator}.attach", frame, json.dumps(spec))
        return kernel.to_frame(session, attached)
    except (AnalysisException, IllegalArgumentException, Py4JJavaError) as error:
        pipeline = spec["pipeline"]
        raise AggregateError(
            f"The operator of pipeline {pipeline!r} cannot be attached: "
            f"{str(error).splitlines()[0]}",
            code="window.attach",
            hint="Check the key and aggregate expressions against the stream's columns.",
            pipeline=pipeline,
        ) from error


def key_expressions(by: Sequence[str] | Mapping[str, str]) -> list[dict[str, str]]:
    """Keys with their expressions, as the kernel reads them; a plain name is that column."""
    keys = by if isinstance(by, Mapping) else {name: quoted(name) for name in by}
    return [{"name": name, "expr": expression} for name, expression in keys.items()]
