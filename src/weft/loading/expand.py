"""A pipeline that does several things becomes several, each with at most one operator. Called by `load`.

Steps or a `dedupe` before a window, a `group` or a `top` are work of their own: they get a pipeline and a stream
`<pipeline>-input`, so that what they filter and what they cannot process is recorded like everywhere else. Several
inputs of an operator without a join are made one in `<pipeline>-union`.
"""

from __future__ import annotations

from dataclasses import replace

from weft.project.definition import PipelineSpec, Project, StreamSpec
from weft.project.timing import after_steps
from weft.schema.path import find_path
from weft.steps.compile import apply_schema


def expand(project: Project) -> Project:
    """The same project with every pipeline in a form that runs as one query."""
    pipelines: dict[str, PipelineSpec] = {}
    for spec in project.pipelines.values():
        for part in parts_of(spec):
            if part.to not in project.streams:
                streams = {**project.streams, part.to: _stream(project, part, spec.to)}
                project = replace(project, streams=streams)
            pipelines[part.name] = part
    return replace(project, pipelines=pipelines)


def parts_of(spec: PipelineSpec) -> list[PipelineSpec]:
    """A pipeline as the ones that run: inputs made one, then what comes before a window, then the rest."""
    parts: list[PipelineSpec] = []
    has_many = spec.join is not None or spec.product is not None
    if not has_many and spec.stateful and len(spec.inputs) > 1:
        name = f"{spec.name}-union"
        parts.append(PipelineSpec(name, spec.inputs, to=name))
        spec = replace(spec, inputs=(name,))
    comes_last = (spec.join is None and spec.window is not None) or spec.group or spec.top
    if comes_last and (spec.steps or spec.dedupe):
        name = f"{spec.name}-input"
        parts.append(PipelineSpec(name, spec.inputs, to=name, steps=spec.steps, dedupe=spec.dedupe))
        spec = replace(spec, inputs=(name,), steps=(), dedupe=None)
    return [*parts, spec]


def _stream(project: Project, first: PipelineSpec, last: str) -> StreamSpec:
    """The stream of a first part; what is to be written down of the last one's records is of its own too."""
    source = project.stream(first.inputs[0])
    schema = apply_schema(first.steps, source.schema, project.functions)
    timing = after_steps(first.steps, source.event_time, project.functions)
    return StreamSpec(
        name=first.to,
        schema=schema,
        key=tuple(name for name in source.key if find_path(name, schema)),
        event_time=timing.column,
        watermarks=replace(source.watermarks, ahead="hold"),
        writer=first.name,
        clock=timing.clock,
        changing=source.changing,
        provenance=project.stream(last).provenance,
        history=replace(source.history, raw=None),
    )
