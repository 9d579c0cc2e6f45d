"""What a change to a stream's columns would break downstream, told from the definitions alone."""

from __future__ import annotations

from collections.abc import Iterable

from weft.errors import WeftError
from weft.gate.expression import check
from weft.loading.merge import side_by_side
from weft.project.definition import PipelineSpec, Project
from weft.queries.find import find_query
from weft.schema.schema import Schema
from weft.sinks.options import read_options
from weft.steps.compile import origins, reads
from weft.windows.aggregate import parse_aggregate


class WouldBreakError(WeftError):
    """A change would take away something that a pipeline reads."""

    code = "rule.breaks-pipeline"
    domain = "conflict"


def needed_columns(project: Project, stream: str) -> dict[str, str]:
    """The columns of a stream that pipelines depend on, directly or through others, each with one that does."""
    needed: dict[str, str] = {}
    for column in _sink_columns(project, stream):
        needed.setdefault(column, project.stream(stream).pipeline)
    for spec in project.pipelines.values():
        for position, name in enumerate(spec.inputs):
            if name == stream:
                for column, reader in _read_from(project, spec, position).items():
                    needed.setdefault(column, reader)
    return needed


def check_in_place(project: Project, stream: str, before: Schema, after: Schema) -> None:
    """Refuse a rule in place that drops a column which a pipeline reads, or changes the type of any."""
    needed = needed_columns(project, stream)
    for field in before:
        now = after.find(field.name)
        if now is None and field.name in needed:
            raise WouldBreakError(
                f"The rule would drop column '{field.name}' of stream '{stream}', which pipeline "
                f"'{needed[field.name]}' reads.",
                hint="Send its rows to a side stream with `output`, or keep the column.",
                stream=stream,
                pipeline=needed[field.name],
                column=field.name,
            )
        if now is not None and now.type != field.type and now.type.name != "unknown":
            reader = needed.get(field.name)
            raise WouldBreakError(
                f"The rule would change column '{field.name}' of stream '{stream}' from {field.type} "
                f"to {now.type}" + (f", and pipeline '{reader}' reads it." if reader else "."),
                code="rule.changes-type",
                hint="Cast it back, write it under another name, or send its rows to a side stream.",
                stream=stream,
                pipeline=reader,
                column=field.name,
            )


def _read_from(project: Project, spec: PipelineSpec, position: int) -> dict[str, str]:
    """The columns of one of its inputs that a pipeline and those behind it depend on."""
    needed: dict[str, str] = {}
    entering = _entering(project, spec, position)
    schema = _schema_before_steps(project, spec)
    made = origins(spec.steps, schema, project.functions)
    for column in reads(spec.steps, schema, project.functions):
        for source in entering.get(column, ()):
            needed.setdefault(source, spec.name)
    for column in _operator_columns(project, spec, position):
        needed.setdefault(column, spec.name)
    if (spec.window is None or spec.join is not None) and spec.group is None:
        for column, reader in needed_columns(project, spec.to).items():
            for before in made.get(column, ()):
                for source in entering.get(before, ()):
                    needed.setdefault(source, reader)
    return needed


def _schema_before_steps(project: Project, spec: PipelineSpec) -> Schema:
    first = project.schema_of(spec.inputs[0])
    if spec.updating:
        return find_query(spec.name, project).columns
    if spec.join is None:
        return first
    return side_by_side(first, project.schema_of(spec.inputs[1]), spec.join)


def _entering(project: Project, spec: PipelineSpec, position: int) -> dict[str, set[str]]:
    """Which column of this input each column before the steps is; a join's keys are both sides'."""
    own = project.schema_of(spec.inputs[position])
    if spec.join is None:
        return {name: {name} for name in own.names}
    if spec.join["type"] in ("semi", "anti") and position == 1:
        return {}
    pairs = spec.join["on"]
    keys = {right: left for left, right in pairs} if position == 1 else {}
    return {keys.get(name, name): {name} for name in own.names}


def _operator_columns(project: Project, spec: PipelineSpec, position: int) -> Iterable[str]:
    """The columns of one of its inputs that a window, join or dedupe names, as the input spells them."""
    schema = project.schema_of(spec.inputs[position])
    if spec.updating:
        yield from find_query(spec.name, project).deciding[position]
    elif spec.join is not None:
        yield from (pair[position] for pair in spec.join["on"])
    elif spec.window is not None:
        yield from spec.by
        for name, text in spec.aggregate.items():
            for argument in parse_aggregate(name, text).arguments:
                yield from check(argument, schema).columns
        if spec.reducer is not None:
            yield from schema.names
    if spec.dedupe is not None:
        yield from spec.dedupe["by"]


def _sink_columns(project: Project, stream: str) -> Iterable[str]:
    """The columns of a stream that its sinks name."""
    declared = project.streams.get(stream)
    if declared is None:
        return  # a side stream of a rule, which the project does not know
    writer = project.pipelines.get(declared.pipeline)
    for sink in writer.sinks if writer is not None else declared.sinks:
        for name in read_options(sink.kind, sink.options).columns():
            yield declared.schema.get(name).name
