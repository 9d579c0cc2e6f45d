"""A product as its author would write it in a project file, which `read` reads, and as a project keeps it. Called where
projects are loaded, and where a deployed one is checked again as its file was."""

from __future__ import annotations

from typing import Any

from weft import codec
from weft.products.tree import Part, Product


def write_product(product: Product) -> dict[str, Any]:
    """The form of a product, with its root's table under `root`."""
    parallelism = product.parallelism if product.parallelism > 1 else None
    return _said(
        {
            "root": product.root.table,
            **_shown(product.root),
            "parallelism": parallelism,
            "transactions": product.transactions,
        }
    )


def stored_product(product: Product) -> dict[str, Any]:
    """The form in which a project keeps it: without what was not said, as it was before that could be."""
    form = codec.to_form(product)
    if product.transactions is None:
        del form["transactions"]
    return form


def _part(part: Part) -> dict[str, Any]:
    return _said(
        {
            "many" if part.many else "one": part.table,
            "on": dict(part.on),
            "required": part.required or None,
            "order": [f"{sql} desc" if falling else sql for sql, falling in part.order] or None,
            "limit": part.limit,
            "inline": part.inline or None,
            "aggregate": dict(part.aggregate) or None,
            **_shown(part),
        }
    )


def _shown(part: Part) -> dict[str, Any]:
    return {
        "fields": None if part.fields is None else dict(part.fields),
        "filter": part.filter,
        "parts": {below.name: _part(below) for below in part.parts} or None,
    }


def _said(written: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in written.items() if value is not None}
