"""Python reducers: a user's own class that folds the rows of a pane into one result. Knows no Spark.

The rows of a window are kept until it finishes and all of them go to Python with every pane: state
grows with the records instead of with the keys, and a record costs about as much as in a Python
function. An aggregate of the kernel's is the better choice wherever there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from weft.steps.module import FunctionError, refused_arguments

METHODS = ("create", "add", "result")


class Reducer(Protocol):
    """What a user's class has: an accumulator made, fed row by row, and read."""

    def create(self) -> Any:
        """The accumulator of no rows."""

    def add(self, accumulator: Any, row: Mapping[str, Any]) -> Any:
        """The accumulator with one more row."""

    def result(self, accumulator: Any) -> Mapping[str, Any]:
        """The columns of the pane."""


def reduce_rows(reducer: Reducer, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The result of a reducer over the rows of one pane, in their order."""
    accumulator = reducer.create()
    for row in rows:
        accumulator = reducer.add(accumulator, row)
    return reducer.result(accumulator)


def check_reducer(found: Any, reference: str) -> Callable[[], Reducer]:
    """The class of a reducer; refuses what cannot be made without arguments, or lacks a method."""
    lacking = [name for name in METHODS if not callable(getattr(found, name, None))]
    refused = refused_arguments(found, {}) if isinstance(found, type) else "it is no class"
    if lacking or refused:
        why = refused or f"it has no {', '.join(lacking)}"
        raise FunctionError(
            f"{reference!r} is no reducer: {why}.",
            code="function.signature",
            hint="Write a class with create(self), add(self, accumulator, row) and "
            "result(self, accumulator), which can be made without arguments.",
            function=reference,
        )
    made: Callable[[], Reducer] = found
    return made
