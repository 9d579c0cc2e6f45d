"""Deduplication: the first record of a key passes, those that follow it within a time are dropped.

Touches Spark only to attach the kernel's operator.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from weft.windows.panes import State, attach_kernel, key_expressions


@dataclass(frozen=True)
class DedupeSpec:
    """By which columns records are equal, or by their id, and for how long that counts."""

    by: tuple[str, ...] | None
    within_ms: int


def attach(
    frame: DataFrame, spec: DedupeSpec, *, buckets: int, pipeline: str, state: State = "rocksdb"
) -> DataFrame:
    """The rows of a stream without duplicates.

    `frame` is that of `panes.attach`. The answer has the columns `row` (the stream's columns and
    `_weft`), `late` (records so old that their twin may be forgotten), `control`, whose reports count
    duplicates as absorbed, and `dead`, which is always null.
    """
    by = {"id": "_weft.id"} if spec.by is None else spec.by
    written = {
        "pipeline": pipeline,
        "by": key_expressions(by),
        "within_ms": spec.within_ms,
        "buckets": buckets,
        "state": state,
    }
    return attach_kernel("Dedupe", frame, written)
