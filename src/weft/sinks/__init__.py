"""Results go out: a sink gets the rows of every knot of a stream, beside the stream's own table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weft.schema.schema import Schema
from weft.sinks.options import KINDS, read_options
from weft.sinks.rows import ParquetRows, Rows, TableRows
from weft.sinks.sink import EventSink, Promise, Sink, SinkError, SinkFencedError, Target
from weft.steps.function import FunctionVersion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "KINDS",
    "EventSink",
    "ParquetRows",
    "Promise",
    "Rows",
    "Sink",
    "SinkError",
    "SinkFencedError",
    "TableRows",
    "Target",
    "open",
    "read_options",
]


def open(  # noqa: A001
    kind: str,
    options: Mapping[str, Any] | str | None,
    *,
    app: str,
    pipeline: str,
    stream: str,
    schema: Schema,
    key: Sequence[str] = (),
    history: str = "",
    is_current: bool = False,
    spark: SparkSession | None = None,
    parallelism: int = 1,
    code: Mapping[str, FunctionVersion] | None = None,
    standing: Callable[[int], Rows] | None = None,
) -> Sink:
    """Open a sink for the rows of a stream; wrong options raise before anything is touched."""
    checked = read_options(kind, options)
    target = Target(
        app=app,
        pipeline=pipeline,
        stream=stream,
        columns=tuple(schema.names),
        key=tuple(key),
        history=history,
        is_current=is_current,
        spark=spark,
        parallelism=parallelism,
        code=code or {},
        standing=standing,
    )
    return checked.open(target)
