"""Windows of a project: their form, what they aggregate, and the columns of the panes that come out. Called by `check`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from weft.errors import WeftError
from weft.project.definition import PipelineSpec
from weft.project.document import Path
from weft.project.problem import Report
from weft.weaving.call import count
from weft.weaving.coercion import BIGINT, DOUBLE, INTEGRALS, NUMERICS, decimal
from weft.weaving.function import FunctionVersion
from weft.weaving.grammar import ExpressionError, parse
from weft.weaving.infer import new_name
from weft.weaving.inference import Inference
from weft.weaving.schema import Field, Schema, Type, nearest, parse_type, unknown_column
from weft.weaving.term import mismatch

PANE = Field(
    "pane",
    parse_type("struct<start:timestamp,end:timestamp,revision:int,timing:string,records:bigint>"),
)


# Each aggregate with the fewest and the most arguments that it takes.
AGGREGATES: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("count", "sum", "avg", "min", "max", "first", "last", "stddev"), (1, 1)),
    **dict.fromkeys(("collect_list", "collect_set"), (1, 1)),
    "approx_count_distinct": (1, 2),
    "approx_percentile": (2, 3),
    **dict.fromkeys(("max_by", "min_by"), (2, 2)),
}


def check_window(spec: PipelineSpec, path: Path, report: Report) -> None:
    """Note what is wrong with the window of a pipeline, or with what needs one."""
    from weft.windows.window import WindowSpec

    if spec.window is None:
        for key, given in (("aggregate", spec.aggregate), ("by", spec.by), ("join", spec.join)):
            if given:
                report.add(
                    "project.window-missing",
                    (*path, key),
                    f"Pipeline {spec.name!r} has `{key}` and no window.",
                    "Add `window: {type: tumbling, size_ms: 60000}`.",
                    on_key=True,
                )
        return
    try:
        WindowSpec.from_dict(spec.window)
    except WeftError as error:
        report.add_error(error, (*path, "window") if path[0] == "pipelines" else path)
    if not spec.aggregate and not spec.reducer and spec.join is None:
        report.add(
            "project.missing-key",
            path,
            f"Pipeline {spec.name!r} has a window and does not say what to aggregate.",
            "Add `aggregate: {count: count(*)}`.",
            on_key=True,
        )


def pane_schema(
    spec: PipelineSpec,
    schema: Schema,
    path: Path,
    report: Report,
    functions: Mapping[str, FunctionVersion],
) -> Schema | None:
    """The columns of a pane: what it is grouped by, what is aggregated, and the pane itself."""
    fields: list[Field] = []
    complete = True
    for name in spec.by:
        found = schema.find(name)
        if found is None:
            report.add_error(unknown_column(name, schema.names), (*path, "by"))
            complete = False
        else:
            fields.append(found)
    for name, text in spec.aggregate.items():
        try:
            fields.append(Field(new_name(name), aggregate_type(text, schema)))
        except WeftError as error:
            report.add_error(error, (*path, "aggregate", name))
            complete = False
    reducer = functions.get(spec.reducer or "")
    if reducer is not None and reducer.returns is not None:
        fields += reducer.returns.fields
    if not complete:
        return None
    try:
        return Schema((*fields, PANE))
    except WeftError as error:
        report.add_error(error, (*path, "aggregate"))
        return None


def aggregate_type(text: str, schema: Schema) -> Type:
    """The type of an aggregate over these columns; refuses what is not one."""
    call = parse(text)
    name = call.name.lower() if isinstance(call, exp.Anonymous) else ""
    if name not in AGGREGATES:
        near = nearest(name or text, AGGREGATES)
        raise ExpressionError(
            f"{text!r} is not an aggregate. Aggregates are {', '.join(AGGREGATES)}.",
            code="aggregate.unknown",
            hint=f"Did you mean {near}()?" if near else "Write it as sum(total), for example.",
        )
    arguments = call.expressions
    if name == "count" and len(arguments) == 1 and isinstance(arguments[0], exp.Star):
        return BIGINT
    inference = Inference(schema)
    terms = [inference.term(argument) for argument in arguments]
    count(name, terms, *AGGREGATES[name])
    kind = terms[0].type
    if name in ("sum", "avg", "stddev", "approx_percentile") and kind.name not in (
        *NUMERICS,
        "unknown",
    ):
        raise mismatch(f"{name}() needs a number, and {text!r} gives {kind}.", "Cast it first.")
    return _RESULTS.get(name, _same)(kind)


def _same(kind: Type) -> Type:
    return kind


def _sum(kind: Type) -> Type:
    if kind.name == "decimal":
        return Type("decimal", precision=min(kind.precision + 10, 38), scale=kind.scale)
    return BIGINT if kind.name in INTEGRALS else DOUBLE


def _average(kind: Type) -> Type:
    return decimal(kind.precision + 4, kind.scale + 4) if kind.name == "decimal" else DOUBLE


_RESULTS: Mapping[str, Callable[[Type], Type]] = {
    "count": lambda kind: BIGINT,
    "approx_count_distinct": lambda kind: BIGINT,
    "sum": _sum,
    "avg": _average,
    "stddev": lambda kind: DOUBLE,
    "collect_list": lambda kind: Type("array", items=(kind,)),
    "collect_set": lambda kind: Type("array", items=(kind,)),
}
