"""The columns of a stream: names and types in order, a fingerprint, and the form that Spark
reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from weft.canonical import digest
from weft.schema.type import (
    Field,
    SchemaError,
    Type,
    literal,
    nearest,
    parse_type,
    quote,
    quoted,
    refuse_twice,
)

__all__ = [
    "Field",
    "Schema",
    "SchemaError",
    "StoredSchema",
    "Type",
    "literal",
    "nearest",
    "parse_type",
    "quote",
    "quoted",
    "unknown_column",
]


@dataclass(frozen=True)
class Schema:
    """The user's columns of a stream, in order. Names differ by more than their case."""

    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        refuse_twice(self.fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __str__(self) -> str:
        return ", ".join(f"{quote(field.name)} {field.type}" for field in self.fields)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(field.name for field in self.fields)

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        return {field.name.lower(): field for field in self.fields}

    def find(self, name: str) -> Field | None:
        """The column of this name, whatever its case."""
        return self._by_name.get(name.lower())

    def get(self, name: str) -> Field:
        """The column of this name; refuses an unknown one and says which was meant."""
        field = self.find(name)
        if field is None:
            raise unknown_column(name, self.names)
        return field

    def to_json(self) -> dict[str, Any]:
        """The form of Spark's `StructType`."""
        return {"type": "struct", "fields": [field.to_json() for field in self.fields]}

    @staticmethod
    def from_json(form: Mapping[str, Any]) -> Schema:
        """The schema that `to_json` or Spark wrote."""
        return Schema(tuple(Field.from_json(field) for field in form["fields"]))

    def to_dict(self) -> dict[str, str]:
        """Column name to type, as a project file writes it."""
        return {field.name: str(field.type) for field in self.fields}

    @staticmethod
    def of(columns: Mapping[str, str]) -> Schema:
        """The schema of a mapping of column name to type, as a project file writes it."""
        return Schema(tuple(Field(str(n), parse_type(str(t))) for n, t in columns.items()))

    @property
    def fingerprint(self) -> str:
        """SHA-256 over names, types and order."""
        return digest(self.to_json())


def _restored(form: Any) -> Schema:
    return form if isinstance(form, Schema) else Schema.from_json(form)


StoredSchema = Annotated[
    Schema,
    PlainValidator(_restored),
    PlainSerializer(Schema.to_json),
    WithJsonSchema({"type": "object", "title": "Schema"}),
]
"""A schema that is stored in the form of Spark's `StructType`."""


def unknown_column(name: str, names: Iterable[str]) -> SchemaError:
    """The error for a column that is not there."""
    known = tuple(names)
    near = nearest(name, known)
    return SchemaError(
        f"There is no column {name!r}. The columns are {', '.join(known) or 'none'}.",
        code="schema.unknown-column",
        hint=f"Did you mean {near!r}?" if near else "Use one of the columns listed.",
        column=name,
        columns=list(known),
    )
