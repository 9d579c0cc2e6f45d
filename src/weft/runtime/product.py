"""A product: changes of several tables are absorbed, the documents that they change come out."""

from __future__ import annotations

from functools import cached_property

from weft import codec
from weft.products.attach import Assembled
from weft.products.find import assembly_of
from weft.products.tree import Product
from weft.runtime.changing import Changing


class Assemble(Changing):
    """Documents of a tree of tables."""

    @property
    def tasks(self) -> int:
        return codec.from_form(Product, self._spec.product).parallelism

    @cached_property
    def assembled(self) -> Assembled:
        return assembly_of(self._spec.name, self._run.project)
