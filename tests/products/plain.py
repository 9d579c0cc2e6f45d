"""The documents of a product in plain Python, row by row as its tree is told. Knows nothing of DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.products.scalar import aggregated, value_of
from tests.products.table import Key, Row, Table
from weft.products.tree import Part, Product

Document = dict[str, Any]


def documents(product: Product, tables: Mapping[str, Table]) -> dict[Key, Document]:
    """Each document of a product under the key of its root."""
    return Assembly(tables).documents(product)


class Assembly:
    """Assembles documents from tables as they are."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = tables

    def documents(self, product: Product) -> dict[Key, Document]:
        """Each document under the key of its root, with the key's columns first."""
        root, table = product.root, self.tables[product.root.table]
        return {
            key: {**dict(zip(table.key, key, strict=True)), **self._document(root, row)}
            for key, row in table.rows.items()
            if self._is_there(root, row)
        }

    def _is_there(self, part: Part, row: Row) -> bool:
        """Whether a row passes the filter of its part and has all that is required below it."""
        if part.filter is not None and value_of(part.filter, row) is not True:
            return False
        return all(self._rows(below, row) for below in part.parts if below.required)

    def _rows(self, part: Part, parent: Row) -> list[Row]:
        """The rows of a part that belong to a row of its parent, in their order."""
        table = self.tables[part.table]
        found = [
            row
            for row in table.rows.values()
            if all(row[own] is not None and row[own] == parent[other] for own, other in part.on)
            and self._is_there(part, row)
        ]
        found.sort(key=table.key_of)
        for text, falling in reversed(part.order):
            # Both directions keep the order of what is equal, so that the sort before it decides.
            found.sort(key=lambda row, text=text: _place(value_of(text, row)), reverse=falling)
        return found

    def _document(self, part: Part, row: Row) -> Document:
        if part.fields is None:
            found = dict(row)
        else:
            found = {name: value_of(text, row) for name, text in part.fields}
        for below in part.parts:
            found |= self._shown(below, self._rows(below, row))
        return found

    def _shown(self, part: Part, rows: list[Row]) -> Document:
        """What a part brings into the document of its parent."""
        if part.aggregate:
            value: Any = {name: aggregated(text, rows) for name, text in part.aggregate}
        elif part.many:
            value = [self._document(part, row) for row in rows[: part.limit]]
        else:
            value = self._document(part, rows[0]) if rows else None
        if not part.inline:
            return {part.name: value}
        return self._missing(part) if value is None else value

    def _missing(self, part: Part) -> Document:
        """The names that an inline part without a row brings, all null."""
        fields = part.fields
        names = (
            list(self.tables[part.table].columns) if fields is None else [one for one, _ in fields]
        )
        found = dict.fromkeys(names)
        for below in part.parts:
            if not below.inline:
                found[below.name] = None
            elif below.aggregate:
                found |= dict.fromkeys(name for name, _ in below.aggregate)
            else:
                found |= self._missing(below)
        return found


def _place(value: Any) -> tuple[bool, Any]:
    """Null is less than everything: first where an order rises, last where it falls."""
    return (value is not None, 0 if value is None else value)
