"""An updating query over the columns of its streams. Made by `joined`, `grouped` and `ranked`; the loader wants its
columns and its key, the worker what the kernel is told. Knows no Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from weft.errors import WeftError
from weft.gate.coercion import NESTED
from weft.products.reading import Reading, TableColumns
from weft.schema.schema import Field, Schema, Type, quoted

Path = tuple[str | int, ...]


class QueryError(WeftError):
    """A query does not fit the columns of its streams; `path` in its ids says which of its keys is wrong."""

    code = "query.invalid"
    domain = "user"


@dataclass(frozen=True)
class UpdatingQuery:
    """A query that can run: its columns, its key, what is needed of each stream, and the rest of the kernel's form."""

    columns: Schema
    key: tuple[str, ...]
    step: str
    needs: tuple[Mapping[str, Any], ...]
    deciding: tuple[tuple[str, ...], ...]
    """The columns of each stream by which results come about: its key, and what is joined, grouped or ordered by."""
    form: Mapping[str, Any]
    entry: ClassVar = "query.Query.attach"

    def to_kernel(self) -> dict[str, Any]:
        """The form that `weft.kernel.query.Query` reads."""
        return {"tables": list(self.needs), "query": dict(self.form)}


def view(
    *,
    link: Sequence[str],
    order: Sequence[tuple[str, bool]] = (),
    aggregates: Sequence[Mapping[str, Any]] = (),
    fields: Sequence[str] = (),
    takes_nulls: bool = True,
    side: int = 0,
) -> dict[str, Any]:
    """What the kernel computes of a row: the place it goes to, and the values that are needed there."""
    return {
        "link": list(link),
        "order": [{"expr": sql, "falling": falls} for sql, falls in order],
        "aggregates": list(aggregates),
        "fields": list(fields),
        "takes_nulls": takes_nulls,
        "tells_before": True,
        "side": side,
    }


def by_key(table: TableColumns) -> list[tuple[str, bool]]:
    """The order by the key of a stream, in which no two rows are equal."""
    return [(quoted(name), False) for name in table.key]


def grouping_columns(names: Sequence[str], reading: Reading, *path: str) -> list[Field]:
    """The columns that rows of one place share."""
    with at(*path):
        found = [reading.column(name) for name in names]
    for one in found:
        if one.type.name in NESTED:
            raise QueryError(
                f"{one.name!r} is {one.type}, and rows go together by plain values.",
                code="query.type",
                hint="Make a plain column of it in a step before.",
                path=path,
            )
    return found


def check_order(kind: Type, what: str, *path: str) -> None:
    """Refuse to order by what has no order."""
    held = [kind]
    while held:
        one = held.pop()
        if one.name == "map":
            raise QueryError(
                f"{what} goes by {kind}, which has no order.",
                code="query.type",
                hint="Order by a plain column.",
                path=path,
            )
        held += [*one.items, *(field.type for field in one.fields)]


@contextmanager
def at(*path: str) -> Iterator[None]:
    """Say of what goes wrong inside where in the query it stands."""
    try:
        yield
    except QueryError:
        raise
    except WeftError as error:
        raise QueryError(error.message, code=error.code, hint=error.hint, path=path) from error


def places(names: Sequence[str], columns: Schema) -> list[int]:
    """Where these columns stand."""
    known = {name: place for place, name in enumerate(columns.names)}
    return [known[name] for name in names]
