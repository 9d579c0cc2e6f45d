"""What a changed definition means for what a product has kept: rows of its tables and nodes, in a form that follows
from its tree and from the columns of its tables. Pure; called where a project is deployed."""

from __future__ import annotations

from collections.abc import Iterator

from weft import codec
from weft.products.assembly import Assembly, TableColumns, assemble
from weft.products.tree import Product
from weft.project.change import Change
from weft.project.definition import Project


def assembly_of(name: str, project: Project) -> Assembly:
    """A product of a project over its tables."""
    spec = project.pipeline(name)
    streams = {table: project.stream(table) for table in spec.inputs}
    tables = {table: TableColumns.of(one.schema, one.key) for table, one in streams.items()}
    return assemble(codec.from_form(Product, spec.product), tables)


def compare_product(name: str, old: Project, new: Project) -> Iterator[Change]:
    """Whether a product can go on with what it has kept, where its definition is the same and its tables are not."""
    before, after = old.pipeline(name), new.pipeline(name)
    if before.product is None or before.product != after.product or before.inputs != after.inputs:
        return
    if assembly_of(name, old).to_kernel() != assembly_of(name, new).to_kernel():
        what = (
            "the columns that it takes from its tables change, and it has kept rows of the old ones"
        )
        yield Change(name, "recomputed", what)
