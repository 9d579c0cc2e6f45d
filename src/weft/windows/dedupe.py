"""Deduplication: the first record of a key passes, those that follow it within a time are dropped.

Touches Spark only to attach the kernel's operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from weft.windows.panes import State, attach_kernel, key_expressions
from weft.windows.written import WindowError, refuse_unknown, whole

ID = "id"


@dataclass(frozen=True)
class DedupeSpec:
    """By which columns records are equal, or by their id, and for how long that counts."""

    by: tuple[str, ...] | None
    within_ms: int

    @staticmethod
    def from_dict(written: Mapping[str, Any]) -> DedupeSpec:
        """The deduplication that a project file declares, or the first thing wrong with it."""
        refuse_unknown(written, ("by", "within_ms"), where="`dedupe`")
        by = written.get("by", ID)
        if by != ID and (isinstance(by, str) or not isinstance(by, Sequence) or not by):
            raise WindowError(
                f"`by` is {by!r}: records are equal by a list of columns, or by their id.",
                code="dedupe.by",
                hint="Write by: [order_id], or by: id.",
                key="by",
            )
        within = whole(written, "within_ms", least=1)
        return DedupeSpec(by=None if by == ID else tuple(by), within_ms=within)

    def to_dict(self) -> dict[str, Any]:
        """This deduplication as its author writes it."""
        return {"by": ID if self.by is None else list(self.by), "within_ms": self.within_ms}


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
