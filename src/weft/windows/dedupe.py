"""Deduplication: the first record of a key passes, those that follow it within a time are dropped.

Touches Spark only to attach the kernel's operator.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from weft.windows.attached import Attached, State
from weft.windows.attached import attach as attach_kernel
from weft.windows.panes import key_expressions

ENTRY = "window.plan.Dedupe.attach"


@dataclass(frozen=True)
class DedupeSpec:
    """By which columns records are equal, or by their id, and for how long that counts."""

    by: tuple[str, ...] | None
    within_ms: int


def attach(
    spark: SparkSession,
    columns: StructType,
    spec: DedupeSpec,
    *,
    buckets: int,
    pipeline: str,
    state: State = "rocksdb",
) -> Attached:
    """What takes the duplicates out of a stream with these columns, `_weft` last.

    What it makes has the columns `row` (the stream's columns and `_weft`), `late` (records so old that their twin may
    be forgotten), `report`, which counts duplicates as absorbed, and `dead`, which is always null.
    """
    by = {"id": "_weft.id"} if spec.by is None else spec.by
    written = {"by": key_expressions(by), "within_ms": spec.within_ms, "buckets": buckets}
    return attach_kernel(spark, ENTRY, [columns], written, pipeline=pipeline, state=state)
