"""What a changed definition means for what a product or a query has kept: rows of its tables, in a form that follows
from their columns. Pure; called where a project is deployed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weft.products.find import assembly_of
from weft.project.change import Change
from weft.project.definition import PipelineSpec, Project
from weft.queries.find import find_query


def compare_kept(name: str, old: Project, new: Project) -> Iterator[Change]:
    """Whether a pipeline can go on with the rows that it has kept, defined as it was over tables that are not."""
    before, after = old.pipeline(name), new.pipeline(name)
    if _definition(before) != _definition(after) or not (before.product or before.updating):
        return
    if _kept(name, old) != _kept(name, new):
        what = (
            "the columns that it takes from its tables change, and it has kept rows of the old ones"
        )
        yield Change(name, "recomputed", what)


def _definition(spec: PipelineSpec) -> tuple[Any, ...]:
    return spec.inputs, spec.product, spec.join, spec.group, spec.top, spec.window


def _kept(name: str, project: Project) -> Mapping[str, Any]:
    is_product = project.pipeline(name).product is not None
    return (assembly_of if is_product else find_query)(name, project).to_kernel()
