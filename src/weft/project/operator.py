"""What a pipeline may say of its join and of its deduplication. Read by the loader; the operators are in `windows`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from weft.declared.key import Key
from weft.declared.limit import TEXT, Limit, Mistake, choice, names, number

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


@dataclass(frozen=True)
class Joining:
    """Rows of two streams with equal keys that are in the same window; `from` names both, the left one first.

    A join needs a `window`, and has neither `by`, `aggregate` and `reducer` nor `dedupe`: those are pipelines of their
    own, behind it or before it.
    """

    on: Annotated[
        list[tuple[str, str]],
        Key(ON, "The columns that must be equal.", {"id": "order_id"}),
    ]
    type: Annotated[
        Literal["inner", "left", "right", "full"],
        Key(
            choice("inner", "left", "right", "full"),
            "Of which streams rows without a partner come too.",
            "left",
        ),
    ] = "inner"


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
