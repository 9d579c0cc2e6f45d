"""Queries over changing streams: what they stand on, what cannot stand beside them, and their columns. Called by
`check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.loading.document import Path
from weft.loading.problem import Problems
from weft.products.reading import TableColumns
from weft.project.definition import PipelineSpec, StreamSpec
from weft.queries.find import query_of
from weft.queries.query import QueryError, UpdatingQuery


def check_updating(
    spec: PipelineSpec, inputs: Sequence[StreamSpec], path: Path, report: Problems
) -> bool:
    """Whether a query can read its inputs; notes why not."""
    before = len(report.problems)
    key = _key(spec)
    _check_alone(spec, key, path, report)
    wanted = 2 if key == "join" else 1
    if len(inputs) != wanted:
        report.add(
            "project.join" if key == "join" else "project.changing",
            (*path, "from"),
            f"Pipeline {spec.name!r} has `{key}` and reads {len(inputs)} streams; it needs {wanted}.",
            "Write `from: [a, b]`."
            if wanted == 2
            else "Read one stream; join others to it before.",
        )
    for stream in inputs:
        if not stream.changing:
            _not_changing(spec, key, stream, inputs, path, report)
            break
    return len(report.problems) == before


def find_columns(
    spec: PipelineSpec, tables: Sequence[TableColumns], path: Path, report: Problems
) -> UpdatingQuery | None:
    """The query over the columns that it reads; None where something is wrong."""
    try:
        return query_of(spec, tables)
    except QueryError as error:
        where = error.ids.pop("path", ())
        report.add_error(error, (*path, _key(spec), *where))
        return None


def as_spelled(spec: PipelineSpec, tables: Sequence[TableColumns]) -> PipelineSpec:
    """The pipeline of a query that fits its streams, with their columns as these spell them."""
    columns = [one.columns for one in tables]
    if spec.join is not None:
        on = [[columns[side].get(pair[side]).name for side in range(2)] for pair in spec.join["on"]]
        return replace(spec, join={**spec.join, "on": on})
    said = spec.group or spec.top or {}
    said = {**said, "by": [columns[0].get(name).name for name in said["by"]]}
    return replace(spec, group=said) if spec.group is not None else replace(spec, top=said)


def _key(spec: PipelineSpec) -> str:
    return "group" if spec.group is not None else "top" if spec.top is not None else "join"


def _check_alone(spec: PipelineSpec, key: str, path: Path, report: Problems) -> None:
    others = {
        "join": spec.join,
        "window": spec.window,
        "by": spec.by,
        "aggregate": spec.aggregate,
        "reducer": spec.reducer,
        "dedupe": spec.dedupe,
        "top": spec.top,
    }
    for other, given in others.items():
        if given and other != key:
            where = "before" if other == "join" else "behind"
            report.add(
                "project.operators",
                (*path, other),
                f"Pipeline {spec.name!r} has `{key}` and `{other}`.",
                f"Move `{other}` to a pipeline {where} it, or leave it out.",
                on_key=True,
            )


def _not_changing(
    spec: PipelineSpec,
    key: str,
    stream: StreamSpec,
    inputs: Sequence[StreamSpec],
    path: Path,
    report: Problems,
) -> None:
    """Records that do not replace one another are joined and grouped in windows: they would be kept for ever."""
    is_windowed = key == "join" and not any(one.changing for one in inputs)
    hints = {
        "join": "Add `window: {type: tumbling, size_ms: 60000}`; without, both are tables, products or queries.",
        "group": "Use `window` with `by` and `aggregate`; `group` is for tables, products and queries.",
        "top": "`top` is for tables, products and queries.",
    }
    report.add(
        "project.window-missing" if is_windowed else "project.not-changing",
        (*path, key),
        f"Pipeline {spec.name!r} has `{key}` and no window, and the records of stream {stream.name!r} do not replace "
        "one another.",
        hints[key],
        on_key=True,
    )
