"""The keys of `group` and `top` in a pipeline. Read by the loader; the reference and the schema for editors are made of
them. Those of `join` are `weft.project.operator.Joining`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from weft.declared.key import Key
from weft.declared.limit import TEXT, Limit, Mistake, names, whole
from weft.products.limit import ORDER
from weft.project.operator import TASKS

MOST_FIRST = 10_000
"""All of them are looked at whenever one of the rows changes."""


def _texts(value: object) -> Mistake | None:
    if not isinstance(value, Mapping) or not value:
        return "wrong-type"
    is_right = all(TEXT.judge(one) is None for pair in value.items() for one in pair)
    return None if is_right else "wrong-type"


class Texts(Limit):
    """Names with texts, whose order counts."""

    def take(self, value: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """The pairs."""
        return tuple(value.items())


AGGREGATES = Texts(
    "a mapping of column to aggregate",
    _texts,
    {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
)


@dataclass(frozen=True)
class Grouping:
    """Groups of a changing stream: a row for each value of `by`, null too, which goes with its last row."""

    by: Annotated[
        tuple[str, ...], Key(names(), "The columns that rows of a group share.", ["city"])
    ]
    aggregate: Annotated[
        tuple[tuple[str, str], ...],
        Key(
            AGGREGATES,
            "Its other columns: `count`, `sum`, `avg`, `min`, `max`, `min_by`, `max_by` of [aggregates](#aggregates).",
            {"customers": "count(*)", "newest": "max_by(name, joined)"},
        ),
    ]
    parallelism: Annotated[int, TASKS] = 1


@dataclass(frozen=True)
class Ranking:
    """The first rows of a changing stream in an order, for each value of `by`."""

    order: Annotated[
        tuple[tuple[str, bool], ...],
        Key(
            ORDER,
            "Which rows are first. Nulls are first where it rises; the key decides between equals.",
            ["joined desc"],
        ),
    ]
    limit: Annotated[int, Key(whole(1, MOST_FIRST), "How many rows there are at most.", 3)]
    by: Annotated[
        tuple[str, ...],
        Key(
            names(),
            "The columns of which each value has its own.",
            ["city"],
            unsaid="all rows together",
        ),
    ] = ()
    parallelism: Annotated[int, TASKS] = 1


def write_group(stored: Mapping[str, Any]) -> dict[str, Any]:
    """A stored `group` as its author would write it."""
    return {**stored, "aggregate": dict(stored["aggregate"])}


def write_top(stored: Mapping[str, Any]) -> dict[str, Any]:
    """A stored `top` as its author would write it."""
    order = [f"{sql} desc" if falls else f"{sql} asc" for sql, falls in stored["order"]]
    return {**stored, "order": order}
