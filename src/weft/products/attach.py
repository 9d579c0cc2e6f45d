"""Attaches the kernel's product operator to the streams of its tables. The only part of the room that touches Spark."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from weft import kernel
from weft.products.assembly import Assembly


def attach(
    tables: Sequence[DataFrame], assembly: Assembly, *, buckets: int, pipeline: str, state: str
) -> DataFrame:
    """The documents that changes of the tables change.

    Each frame has the columns of a changing stream, `_weft`, and `_control` with one control row per bucket and batch.
    The answer has the columns `row` (`op`, `batch`, which names the batch, and the `document`), `late`, which is always
    null, `control`, whose reports count changes as absorbed, and `dead`.
    """
    spec = {
        **assembly.to_kernel(),
        "pipeline": pipeline,
        "buckets": buckets,
        "state": state,
    }
    session = SparkSession.active()
    frames = kernel.list_of(session, tables)
    attached = kernel.call(session, "product.Assemble.attach", frames, json.dumps(spec))
    return kernel.to_frame(session, attached)
