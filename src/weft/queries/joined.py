"""A join of two changing streams without a window, and the names of a join's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from weft.gate.coercion import INTEGRALS, NESTED, common
from weft.products.reading import Reading, TableColumns, cast
from weft.project.operator import Joining
from weft.queries.query import QueryError, UpdatingQuery, at, places, view
from weft.schema.schema import Field, Schema, Type, parse_type, quoted

SIDE = Field("side", parse_type("string"))
"""The last column of a full join, which tells rows without a partner apart: `left`, `right`, or `both`."""


def added(right: Schema, pairs: Sequence[Sequence[str]]) -> tuple[Field, ...]:
    """The columns that the right stream adds to those of the left one."""
    taken = {other.lower() for _, other in pairs}
    return tuple(one for one in right if one.name.lower() not in taken)


def joined(said: Joining, streams: Sequence[str], tables: Sequence[TableColumns]) -> UpdatingQuery:
    """The join of two streams."""
    left, right = (Reading(name, one) for name, one in zip(streams, tables, strict=True))
    pairs = [_pair(left, right, pair) for pair in said.on]
    halves = [[cast(pair[side], kind) for *pair, kind in pairs] for side in range(2)]
    deciding = (tuple(left.columns), tuple(right.columns))
    if said.type in ("semi", "anti"):
        found = _narrowed(said, left, right, halves)
    else:
        found = _widened(said, left, right, pairs, halves)
    return replace(found, deciding=deciding)


def _narrowed(
    said: Joining, left: Reading, right: Reading, halves: list[list[str]]
) -> UpdatingQuery:
    """The rows of the left stream that have a partner, or have none."""
    columns = left.table.columns
    views = [
        view(
            link=halves[0],
            fields=[quoted(left.column(name).name) for name in columns.names],
            takes_nulls=said.type == "anti",
        ),
        view(link=halves[1], takes_nulls=False, side=1),
    ]
    made = [{"name": name, "left": place} for place, name in enumerate(columns.names)]
    return _query(said, (left, right), columns, left.table.key, views, made)


def _widened(
    said: Joining,
    left: Reading,
    right: Reading,
    pairs: list[tuple[Field, Field, Type]],
    halves: list[list[str]],
) -> UpdatingQuery:
    """Rows of both streams side by side; a row without a partner has null for the other's columns."""
    # Where there is no left row, the columns that must be equal have the values of the right one.
    shared = {one.name: (kind, place) for place, (one, _, kind) in reversed([*enumerate(pairs)])}
    takes_right = said.type in ("right", "full")
    fields, first, made = [], [], []
    for place, one in enumerate(left.table.columns):
        kind, other = shared.get(one.name, (one.type, -1))
        kind = kind if takes_right else one.type
        fields.append(Field(one.name, kind))
        first.append(cast(left.column(one.name), kind))
        made.append({"name": one.name, "left": place, "right": other if takes_right else -1})
    second = list(halves[1]) if takes_right else []
    for one in added(right.table.columns, said.on):
        made.append({"name": one.name, "left": -1, "right": len(second)})
        fields.append(one)
        second.append(quoted(right.column(one.name).name))
    if said.type == "full":
        fields.append(SIDE)
        made.append({"name": SIDE.name})
    views = [
        view(link=halves[0], fields=first, takes_nulls=said.type in ("left", "full")),
        view(link=halves[1], fields=second, takes_nulls=takes_right, side=1),
    ]
    columns = _columns(fields)
    key = _key(said, left.table, right.table, pairs)
    return _query(said, (left, right), columns, key, views, made)


def _query(
    said: Joining,
    readings: Sequence[Reading],
    columns: Schema,
    key: tuple[str, ...],
    views: list[dict[str, Any]],
    made: list[dict[str, Any]],
) -> UpdatingQuery:
    form = {
        "type": "join",
        "kind": said.type,
        "views": views,
        "columns": made,
        "key": places(key, columns),
    }
    needs = tuple(one.to_kernel() for one in readings)
    return UpdatingQuery(columns, key, "join", needs, (), form)


def _key(
    said: Joining,
    left: TableColumns,
    right: TableColumns,
    pairs: list[tuple[Field, Field, Type]],
) -> tuple[str, ...]:
    """The keys of both; a column that is equal to a left one stands under that name."""
    shared = {other.name: one.name for one, other, _ in reversed(pairs)}
    named = [*left.key, *(shared.get(name, name) for name in right.key)]
    sides = [SIDE.name] if said.type == "full" else []
    return tuple(dict.fromkeys([*named, *sides]))


def _columns(fields: Sequence[Field]) -> Schema:
    names = [one.name.lower() for one in fields]
    twice = [one.name for place, one in enumerate(fields) if names[place] in names[:place]]
    if not twice:
        return Schema(tuple(fields))
    said = (
        f"A full join adds the column {SIDE.name!r}, and one of its streams has it."
        if twice == [SIDE.name]
        else f"Both streams of the join have {', '.join(twice)}."
    )
    raise QueryError(
        said,
        code="project.join",
        hint="Rename or drop it in a pipeline before the join.",
        path=(),
    )


def _pair(left: Reading, right: Reading, pair: Sequence[str]) -> tuple[Field, Field, Type]:
    """Two columns that must be equal, and the type in which they are compared."""
    with at("on"):
        one, other = left.column(pair[0]), right.column(pair[1])
    is_whole = one.type.name in INTEGRALS and other.type.name in INTEGRALS
    kind = common(one.type, other.type) if is_whole or one.type == other.type else None
    if kind is None or kind.name in NESTED:
        # What is made equal by a cast may be several keys of one stream.
        raise QueryError(
            f"{one.name!r} is {one.type}, and {other.name!r} of {right.name!r} is {other.type}.",
            code="project.join",
            hint="Join on plain columns of the same type: cast one of them in a pipeline before.",
            path=("on",),
        )
    return one, other, kind
