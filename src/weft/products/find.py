"""The product of a pipeline, over the streams of its project. Called by whoever runs or compares it."""

from __future__ import annotations

from weft import codec
from weft.products.assembly import Assembly, assemble
from weft.products.boundary import topic_of
from weft.products.reading import TableColumns
from weft.products.tree import Product
from weft.project.definition import Project


def assembly_of(name: str, project: Project) -> Assembly:
    """A product of a project over its tables."""
    spec = project.pipeline(name)
    streams = {table: project.stream(table) for table in spec.inputs}
    tables = {
        table: TableColumns.of(one.schema, one.key, topic_of(one.source))
        for table, one in streams.items()
    }
    return assemble(codec.from_form(Product, spec.product), tables)
