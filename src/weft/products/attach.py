"""Attaches what the kernel keeps of changing streams to these streams. The only part of the room that touches Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from weft.schema.schema import Schema
from weft.windows.attached import Attached, State
from weft.windows.attached import attach as attach_kernel


class Assembled(Protocol):
    """What the kernel can keep up with changes of tables: a product, or an updating query."""

    @property
    def columns(self) -> Schema: ...
    @property
    def key(self) -> tuple[str, ...]: ...
    @property
    def entry(self) -> str:
        """The method of the kernel that attaches it."""
        ...

    @property
    def step(self) -> str:
        """What dead letters of it name as the step that they failed in."""
        ...

    def to_kernel(self) -> Mapping[str, Any]:
        """The form in which the kernel gets it."""
        ...


def attach(
    spark: SparkSession,
    tables: Sequence[StructType],
    assembly: Assembled,
    *,
    buckets: int,
    pipeline: str,
    state: State,
    at_once: int,
) -> Attached:
    """What keeps up the documents, or the results of a query, that changes of the tables change.

    The tables are given by the columns of their changing streams, `_weft` last. What it makes has the columns `row`
    (`op`, `batch`, which names the batch, and the `document`), `late`, which is always null, `control`, whose reports
    count changes as absorbed, and `dead`. Of a batch with more changes than `at_once` a product takes them in several
    goes.
    """
    spec = {
        **assembly.to_kernel(),
        "step": assembly.step,
        "buckets": buckets,
        "at_once": at_once,
    }
    return attach_kernel(spark, assembly.entry, tables, spec, pipeline=pipeline, state=state)
