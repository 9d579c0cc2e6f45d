"""What a pipeline may say of its join and of its deduplication. Read by the loader; the operators are in `windows`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from weft.declared.key import Key
from weft.declared.limit import TEXT, Limit, Mistake, choice, names, number, whole

FOREVER_SECONDS = 9e15
"""As many as there are milliseconds in a number of 64 bits."""
_NAMES = names()


def _columns(value: Any) -> Mistake | None:
    if not isinstance(value, Mapping):
        return _NAMES.judge(value)
    is_right = all(TEXT.judge(one) is None for pair in value.items() for one in pair)
    return None if is_right else "wrong-type"


ON = Limit(
    "a column that both streams have, a list of them, or a mapping of left to right columns",
    _columns,
    {"anyOf": [_NAMES.schema, {"type": "object", "additionalProperties": {"type": "string"}}]},
)


TASKS = Key(
    whole(1, 1_000),
    "How many tasks keep it up. One is quickest for all that one core can keep up with.",
    4,
)
"""Of what stands on changing streams."""


@dataclass(frozen=True)
class Joining:
    """Rows of two streams with equal columns; `from` names both, the left one first.

    With a `window`, they are in the same one. Without it, both streams are changing ones, and so is the join. It has
    neither `by`, `aggregate` and `reducer` nor `dedupe`: those are pipelines of their own, behind it or before it.
    """

    on: Annotated[
        list[tuple[str, str]],
        Key(ON, "The columns that must be equal.", {"id": "order_id"}),
    ]
    type: Annotated[
        Literal["inner", "left", "right", "full", "semi", "anti"],
        Key(
            choice("inner", "left", "right", "full", "semi", "anti"),
            "Of which streams rows without a partner come too. Without a window also `semi`, the left rows that have "
            "a partner, and `anti`, those that have none.",
            "left",
        ),
    ] = "inner"
    parallelism: Annotated[int, TASKS] = 1


@dataclass(frozen=True)
class Deduplication:
    """The first record of a key passes; those that follow it within a time are dropped and counted."""

    by: Annotated[
        tuple[str, ...],
        Key(
            names(),
            "The columns by which records are equal.",
            ["id"],
            unsaid="the record's own id: its place in the source",
        ),
    ] = ()
    within_seconds: Annotated[
        float,
        Key(number(0.001, FOREVER_SECONDS), "For how long, in seconds of event time.", 600),
    ] = 3600.0
