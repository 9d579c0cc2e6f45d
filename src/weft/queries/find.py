"""The query of a pipeline, over the streams of its project. Called by whoever checks, runs or compares it."""

from __future__ import annotations

from collections.abc import Sequence

from weft import codec
from weft.products.reading import TableColumns
from weft.project.definition import PipelineSpec, Project
from weft.project.operator import Joining
from weft.queries.form import Grouping, Ranking
from weft.queries.grouped import grouped
from weft.queries.joined import joined
from weft.queries.query import UpdatingQuery
from weft.queries.ranked import ranked


def query_of(spec: PipelineSpec, tables: Sequence[TableColumns]) -> UpdatingQuery:
    """The query of a pipeline over the columns of its inputs; refuses what does not fit them."""
    if spec.group is not None:
        return grouped(codec.from_form(Grouping, spec.group), spec.inputs[0], tables[0])
    if spec.top is not None:
        return ranked(codec.from_form(Ranking, spec.top), spec.inputs[0], tables[0])
    return joined(codec.from_form(Joining, spec.join), spec.inputs, tables)


def find_query(name: str, project: Project) -> UpdatingQuery:
    """The query of a pipeline of a project."""
    spec = project.pipeline(name)
    streams = [project.stream(one) for one in spec.inputs]
    return query_of(spec, [TableColumns.of(one.schema, one.key) for one in streams])


def tasks_of(spec: PipelineSpec) -> int:
    """How many tasks keep a query up."""
    said = spec.group or spec.top or spec.join or {}
    return int(said.get("parallelism", 1))
