"""Several input streams of a pipeline as one: their columns together. Called by `check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from weft.gate.coercion import common
from weft.loading.document import Path
from weft.loading.pane import WINDOW
from weft.loading.problem import Problems
from weft.project.definition import StreamSpec
from weft.queries.joined import added
from weft.schema.path import find_path
from weft.schema.schema import Schema, unknown_column


def united(inputs: list[StreamSpec], path: Path, report: Problems) -> Schema | None:
    """Several inputs one after the other: they need the same columns."""
    first = inputs[0]
    for stream in inputs[1:]:
        if {one.name: one.type for one in stream.schema} != {
            one.name: one.type for one in first.schema
        }:
            report.add(
                "project.schema-differs",
                (*path, "from"),
                f"Streams {first.name!r} and {stream.name!r} have different columns.",
                "Bring them to the same columns with `select` first, or use a `join`.",
            )
            return None
    return first.schema


def joined(
    join: Mapping[str, Any], inputs: list[StreamSpec], path: Path, report: Problems
) -> Schema | None:
    """Two inputs side by side: the left one's columns, what the right one adds, and their window."""
    path = (*path, "join")
    if len(inputs) != 2:
        report.add(
            "project.join", path, "A join needs two streams in `from`.", "Write `from: [a, b]`."
        )
        return None
    left, right = inputs
    pairs = join["on"]
    for one, other in pairs:
        a, b = left.schema.find(one), right.schema.find(other)
        if a and b and common(a.type, b.type) is None:
            report.add(
                "project.join",
                (*path, "on"),
                f"{one!r} is {a.type}, and {other!r} of {right.name!r} is {b.type}.",
                "Join on columns of the same type.",
            )
    extra = added(right.schema, pairs)
    twice = [one.name for one in extra if left.schema.find(one.name)]
    named = [one.name for one in (*left.schema, *extra) if one.name.lower() == WINDOW.name]
    if named:
        report.add(
            "project.join",
            path,
            f"A join adds the column {WINDOW.name!r}, and one of its streams has {named[0]!r}.",
            "Rename it in a pipeline before the join.",
        )
        return None
    if twice:
        report.add(
            "project.join",
            path,
            f"Both streams of the join have {', '.join(twice)}.",
            "Rename or drop them in a pipeline before the join.",
        )
        return None
    keys = [one for one, _ in pairs]
    for name in sorted({one for one in keys if keys.count(one) > 1}):
        report.add(
            "project.join",
            (*path, "on"),
            f"{name!r} is to equal two columns of {right.name!r}.",
            "Name it once here, and filter by the other column in a pipeline before the join.",
        )
    return side_by_side(left.schema, right.schema, join)


def spelled(
    join: Mapping[str, Any], inputs: list[StreamSpec], path: Path, report: Problems
) -> Mapping[str, Any]:
    """A join with its columns as the two streams spell them; notes each that is not there."""
    if len(inputs) != 2:
        return join
    sides = [
        check_names([pair[side] for pair in join["on"]], stream.schema, (*path, "on"), report)
        for side, stream in enumerate(inputs)
    ]
    if any(len(side) != len(join["on"]) for side in sides):
        return join
    return {**join, "on": [list(pair) for pair in zip(*sides, strict=True)]}


def side_by_side(left: Schema, right: Schema, join: Mapping[str, Any]) -> Schema:
    """The columns of a join: the left stream's, what the right one adds, and their window.

    Where rows of the right stream come by themselves, the columns that must be equal hold its values too.
    """
    others = dict(join["on"]) if join.get("type") in ("right", "full") else {}
    fields = []
    for one in left:
        other = right.find(others.get(one.name, ""))
        kind = common(one.type, other.type) if other is not None else None
        fields.append(replace(one, type=kind or one.type))
    return Schema((*fields, *added(right, join["on"]), WINDOW))


def check_names(
    names: Sequence[str], schema: Schema, path: Path, report: Problems
) -> tuple[str, ...]:
    """These columns as the schema spells them; notes each that is not there."""
    for name in names:
        place = find_path(name, schema)
        if place is not None and len(place.names) > 1:
            report.add(
                "schema.unknown-column",
                path,
                f"{place.text!r} is a part of column {place.names[0]!r} and no column.",
                f"Make it one first: `set: {{{place.names[-1]}: {place.text}}}`.",
            )
        elif place is None:
            report.add_error(unknown_column(name, schema.names), path)
    found = [schema.find(name) for name in names]
    return tuple(field.name for field in found if field is not None)


def check_paths(
    names: Sequence[str], schema: Schema, path: Path, report: Problems
) -> tuple[str, ...]:
    """These columns and parts of structs as the schema spells them; notes each that is not there."""
    found = [find_path(name, schema) for name in names]
    for name, place in zip(names, found, strict=True):
        if place is None:
            report.add_error(unknown_column(name, _reachable(name, schema)), path)
    return tuple(place.text for place in found if place is not None)


def _reachable(name: str, schema: Schema) -> list[str]:
    """What could have been meant: the columns, and the parts of the struct that the name begins with."""
    column = schema.find(name.partition(".")[0])
    inside = column.type.fields if column is not None else ()
    return [*schema.names, *(f"{column.name}.{one.name}" for one in inside if column is not None)]
