"""A column, or a part of a struct by its name with dots, `customer.id`: where keys and event times are."""

from __future__ import annotations

from dataclasses import dataclass

from weft.schema.schema import Schema
from weft.schema.type import Type, quoted


@dataclass(frozen=True)
class ColumnPath:
    """The names that lead to a value, the column's first, and the type of the value."""

    names: tuple[str, ...]
    type: Type

    @property
    def text(self) -> str:
        """As a project file names it."""
        return ".".join(self.names)

    @property
    def sql(self) -> str:
        """As SQL names it."""
        return ".".join(quoted(name) for name in self.names)


def find_path(name: str, schema: Schema) -> ColumnPath | None:
    """Where a name leads: to the column that is called so, or else to a part of a struct."""
    whole = schema.find(name)
    if whole is not None:
        return ColumnPath((whole.name,), whole.type)
    first, *parts = name.split(".")
    field = schema.find(first)
    if field is None:
        return None
    place = ColumnPath((field.name,), field.type)
    for part in parts:
        inside = Schema(place.type.fields).find(part) if place.type.name == "struct" else None
        if inside is None:
            return None
        place = ColumnPath((*place.names, inside.name), inside.type)
    return place
