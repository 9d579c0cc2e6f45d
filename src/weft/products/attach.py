"""Attaches what the kernel keeps of changing streams to these streams. The only part of the room that touches Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession

from weft import kernel
from weft.schema.schema import Schema


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
    tables: Sequence[DataFrame],
    assembly: Assembled,
    *,
    buckets: int,
    pipeline: str,
    state: str,
    at_once: int,
) -> DataFrame:
    """The documents, or the results of a query, that changes of the tables change.

    Each frame has the columns of a changing stream, `_weft`, and `_control` with one control row per bucket and batch.
    The answer has the columns `row` (`op`, `batch`, which names the batch, and the `document`), `late`, which is always
    null, `control`, whose reports count changes as absorbed, and `dead`. Of a batch with more changes than `at_once` a
    product takes them in several goes.
    """
    spec = {
        **assembly.to_kernel(),
        "step": assembly.step,
        "pipeline": pipeline,
        "buckets": buckets,
        "state": state,
        "at_once": at_once,
    }
    session = SparkSession.active()
    frames = kernel.list_of(session, tables)
    attached = kernel.call(session, assembly.entry, frames, json.dumps(spec))
    return kernel.to_frame(session, attached)
