"""What a change to a stream's columns would break downstream, told from the definitions alone."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp, parse_one

from weft.errors import WeftError
from weft.project.definition import PipelineSpec, Project
from weft.weaving.infer import origins, reads
from weft.weaving.schema import Schema


class WouldBreakError(WeftError):
    """A change would take away something that a pipeline reads."""

    code = "rule.breaks-pipeline"
    domain = "conflict"


def needed_columns(project: Project, stream: str) -> dict[str, str]:
    """The columns of a stream that pipelines depend on, directly or through others, each with one that does."""
    needed: dict[str, str] = {}
    for spec in project.pipelines.values():
        if stream not in spec.inputs:
            continue
        schema = project.schema_of(stream)
        made = origins(spec.steps, schema, project.functions)
        for column in reads(spec.steps, schema, project.functions):
            needed.setdefault(column, spec.name)
        for column in _operator_columns(spec):
            for source in made.get(column, {column} & set(schema.names)):
                needed.setdefault(source, spec.name)
        if spec.window is None and spec.join is None:
            for column, reader in needed_columns(project, spec.to).items():
                for source in made.get(column, set()):
                    needed.setdefault(source, reader)
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


def _operator_columns(spec: PipelineSpec) -> Iterable[str]:
    """The columns that a window, join or dedupe names."""
    if spec.window is not None:
        yield from spec.by
        for text in spec.aggregate.values():
            yield from (
                column.name for column in parse_one(text, read="spark").find_all(exp.Column)
            )
    if spec.join is not None:
        on = spec.join["on"]
        yield from on if isinstance(on, list) else [*on.keys(), *on.values()]
    if spec.dedupe is not None:
        yield from spec.dedupe.get("by", ())
