"""What a project file says of a product to its tree; the first thing wrong in it is raised. Called by the loader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.declared.read import faults, made, message
from weft.products.form import PartKeys, ProductKeys
from weft.products.tree import Part, Product, ProductError


def read_product(name: str, form: Mapping[str, Any]) -> Product:
    """The product that a form says, or the first thing wrong with it, with its path in the form."""
    for fault in faults(ProductKeys, form):
        told, hint = message(fault, form, f"product {name!r}")
        raise ProductError(
            told, code=f"product.{fault.mistake}", hint=hint, product=name, path=fault.path
        )
    said = made(ProductKeys, form)
    root = Part(said.root, fields=said.fields, filter=said.filter, parts=_parts(said.parts))
    return Product(name, root, said.parallelism, said.transactions)


def _parts(said: Mapping[str, PartKeys]) -> tuple[Part, ...]:
    return tuple(_part(name, keys) for name, keys in said.items())


def _part(name: str, said: PartKeys) -> Part:
    return Part(
        table=said.many or said.one or "",
        name=name,
        many=said.many is not None,
        on=said.on,
        fields=said.fields,
        filter=said.filter,
        required=said.required,
        order=said.order,
        limit=said.limit,
        inline=said.inline,
        aggregate=said.aggregate,
        parts=_parts(said.parts),
    )
