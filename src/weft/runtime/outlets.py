"""The sinks of a pipeline, opened on the worker that runs it or rolls it back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from weft import sinks
from weft.project.definition import StreamSpec
from weft.sinks.rows import Rows
from weft.streams.pieces import rows_of
from weft.streams.standing import StandingRows
from weft.streams.tables import Tables

if TYPE_CHECKING:
    from weft.runtime.worker import Worker


def open_sinks(worker: Worker, pipeline: str) -> list[sinks.Sink]:
    """The sinks that a pipeline's stream goes to, each on its place outside and on this worker's executors."""
    project = worker.project
    assert project is not None
    spec = project.pipelines.get(pipeline)
    stream = worker.stream_of(pipeline)
    is_current = spec is not None and spec.is_current
    return [
        sinks.open(
            sink.kind,
            sink.options,
            app=project.slug,
            pipeline=pipeline,
            stream=stream.name,
            schema=stream.schema,
            key=stream.key,
            history=worker.identity.life,
            is_current=is_current,
            spark=worker.spark,
            parallelism=project.processing.parallelism,
            code=project.functions,
            standing=partial(_standing, worker, stream) if is_current else None,
        )
        for sink in (spec.sinks if spec else stream.sinks)
    ]


def _standing(worker: Worker, stream: StreamSpec, knot: int) -> Rows:
    """The rows that are in a stream after a knot."""
    table = Tables(worker.spark, worker.storage).open(stream.name)
    rows = rows_of(table.path, table.knots(0, knot), stream.schema.names)
    return StandingRows(rows, stream.key)
