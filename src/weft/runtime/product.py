"""A product: changes of several tables are absorbed, the documents that they change come out."""

from __future__ import annotations

from functools import cached_property

from weft import codec
from weft.products.assembly import Assembly
from weft.products.find import assembly_of
from weft.products.tree import Product
from weft.runtime.changing import Changing
from weft.streams.read import CurrentRows

SORTED_FROM = 10_000
"""From so many changes of a table on, a new product has them sorted, to begin with the newest of each row."""


class Assemble(Changing):
    """Documents of a tree of tables."""

    @property
    def tasks(self) -> int:
        return codec.from_form(Product, self._spec.product).parallelism

    @cached_property
    def assembled(self) -> Assembly:
        return assembly_of(self._spec.name, self._run.project)

    def newest(self, position: int) -> CurrentRows | None:
        columns = self.assembled.columns_of_rows(position)
        key = self._run.project.stream(self._run.inputs[position]).key
        return None if columns is None else CurrentRows(key, columns, SORTED_FROM)
