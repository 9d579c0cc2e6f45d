"""Windows of a project: their form, what they aggregate, and the columns of their panes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.declared.read import faults
from weft.errors import WeftError
from weft.loading.document import Path
from weft.loading.problem import Problems
from weft.project.definition import PipelineSpec
from weft.schema.schema import Field, Schema, parse_type
from weft.steps.compile import new_name
from weft.steps.function import FunctionVersion
from weft.windows.aggregate import checked_aggregate
from weft.windows.window import WindowSpec
from weft.windows.written import refused

MOST_AGGREGATES = 64
"""The kernel keeps a bit for each."""

WINDOW = Field(
    "window",
    parse_type(
        "struct<start:timestamp,end:timestamp,timestamp:timestamp,kind:string,revision:int,"
        "final:boolean,records:bigint>"
    ),
)
"""The first column of every pane, as the kernel writes it."""


def check_window(spec: PipelineSpec, path: Path, report: Problems) -> None:
    """Note what is wrong with the window of a pipeline, or with what needs one."""
    if spec.window is None:
        wants = {"aggregate": spec.aggregate, "by": spec.by, "reducer": spec.reducer}
        for key, given in wants.items():
            if given:
                report.add(
                    "project.window-missing",
                    (*path, key),
                    f"Pipeline {spec.name!r} has `{key}` and no window.",
                    "Add `window: {type: tumbling, size_ms: 60000}`, or, for rows that replace one another, `group`.",
                    on_key=True,
                )
        return
    _check_form(spec.window, (*path, "window") if path[0] == "pipelines" else path, report)
    if spec.join is not None:
        _check_join(spec, path, report)
    elif not spec.aggregate and not spec.reducer:
        report.add(
            "project.missing-key",
            path,
            f"Pipeline {spec.name!r} has a window and does not say what to aggregate.",
            "Add `aggregate: {count: count(*)}`.",
            on_key=True,
        )


def _check_form(window: Mapping[str, Any], path: Path, report: Problems) -> None:
    """Note every key of a window that is wrong by itself, or else the first thing that keys mean together."""
    found = list(faults(WindowSpec, window))
    for fault in found:
        report.add_error(refused(fault, window), (*path, *fault.path))
    if found:
        return
    try:
        WindowSpec.from_dict(window)
    except WeftError as error:
        key = str(error.ids.get("key"))
        report.add_error(error, (*path, key) if key in window else path)


def _check_join(spec: PipelineSpec, path: Path, report: Problems) -> None:
    """A join makes rows of pairs; what would group or drop records is work of another pipeline."""
    said = spec.join or {}
    for key in ("type", "parallelism"):
        if said.get(key) in ("semi", "anti") or (key == "parallelism" and key in said):
            report.add(
                "project.join",
                (*path, "join", key),
                f"The join of pipeline {spec.name!r} has a window, and `{key}: {said[key]}` is for joins without.",
                f"Leave `{key}` out; without `window`, both streams must be changing ones.",
            )
    others = {
        "by": spec.by,
        "aggregate": spec.aggregate,
        "reducer": spec.reducer,
        "dedupe": spec.dedupe,
    }
    for key, given in others.items():
        if given:
            behind = "before" if key == "dedupe" else "behind"
            report.add(
                "project.join",
                (*path, key),
                f"Pipeline {spec.name!r} has a join and `{key}`.",
                f"Move `{key}` to a pipeline {behind} it.",
                on_key=True,
            )


def pane_schema(
    spec: PipelineSpec,
    schema: Schema,
    path: Path,
    report: Problems,
    functions: Mapping[str, FunctionVersion],
) -> Schema | None:
    """The columns of a pane: its window, what it is grouped by, and what is aggregated."""
    fields = [WINDOW, *(schema.get(name) for name in spec.by)]
    before = len(report.problems)
    most = MOST_AGGREGATES - (1 if spec.reducer else 0)  # a reducer's rows are one more
    if len(spec.aggregate) > most:
        report.add(
            "project.out-of-range",
            (*path, "aggregate"),
            f"Pipeline {spec.name!r} has {len(spec.aggregate)} aggregates; {most} are the most.",
            "Split it into two pipelines.",
        )
    for name, text in spec.aggregate.items():
        try:
            fields.append(Field(new_name(name), checked_aggregate(name, text, schema)[1]))
        except WeftError as error:
            report.add_error(error, (*path, "aggregate", name))
    reducer = functions.get(spec.reducer or "")
    if reducer is not None and reducer.returns is not None:
        fields += reducer.returns.fields
    if len(report.problems) > before:
        return None
    try:
        return Schema(tuple(fields))
    except WeftError as error:
        report.add_error(error, (*path, "aggregate"))
        return None
