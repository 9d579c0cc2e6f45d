"""The sinks of a pipeline, opened on the worker that runs it or rolls it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft import sinks

if TYPE_CHECKING:
    from weft.runtime.worker import Worker


def open_sinks(worker: Worker, pipeline: str) -> list[sinks.Sink]:
    """The sinks that a pipeline's stream goes to, each on its place outside and on this worker's executors."""
    project = worker.project
    assert project is not None
    spec = project.pipelines.get(pipeline)
    stream = worker.stream_of(pipeline)
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
            is_current=spec is not None and spec.is_current,
            spark=worker.spark,
            parallelism=project.processing.parallelism,
            code=project.functions,
        )
        for sink in (spec.sinks if spec else stream.sinks)
    ]
