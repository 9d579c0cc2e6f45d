"""Where the event time of a pipeline's output comes from: which column has it after the steps, and by whose clock.

Time follows its column. Steps that give the column other values give their rows other event times, and the watermark of
the input says nothing of those: the stream that is written has a clock of its own then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from weft.steps.function import FunctionVersion
from weft.steps.step import Drop, Function, Rename, Select, Set, Step

ClockKind = Literal["inputs", "column", "own"]
"""By what the time of a stream goes: `inputs`, as it comes in; `column`, event times are read from the column again,
and the watermark is the inputs'; `own`, the watermark follows those times too."""

EVENT_TIME = "_weft.event_time"
"""The event time of a stream that has no column of its own for it; every row carries it."""


@dataclass(frozen=True)
class Timing:
    """The column that is a stream's event time, and its clock."""

    column: str | None
    clock: ClockKind = "inputs"


def after_steps(
    steps: Iterable[Step], column: str | None, functions: Mapping[str, FunctionVersion]
) -> Timing:
    """What steps make of an event time that was in this column; where the column goes, rows keep the time they had."""
    timing = Timing(column)
    for step in steps:
        if timing.column is None or timing.column == EVENT_TIME:
            return timing
        timing = _after(step, timing, timing.column, functions)
    return timing


def _after(
    step: Step, timing: Timing, column: str, functions: Mapping[str, FunctionVersion]
) -> Timing:
    if _holds(step, column):
        return Timing(EVENT_TIME)
    match step:
        case Rename(names):
            renamed = {old.lower(): new for old, new in names.items()}
            return Timing(renamed.get(column.lower(), column), timing.clock)
        case Drop(names) if _named(column, names):
            return Timing(EVENT_TIME)
        case Set(expressions) if _is_changed(column, expressions):
            return Timing(column, "own")
        case Select(columns=names, expressions=expressions):
            if not _named(column, names or expressions):
                return Timing(EVENT_TIME)
            return Timing(column, "own") if _is_changed(column, expressions) else timing
        case Function(ref):
            function = functions.get(ref)
            return timing if function is None else _after_function(function, timing, column)
    return timing


def _after_function(function: FunctionVersion, timing: Timing, column: str) -> Timing:
    """A function may give any column another value; one that declares it means to."""
    declared = function.returns or function.adds
    if declared is not None and declared.find(column) is not None:
        return Timing(column, "own")
    if declared is not None and declared.find(column.partition(".")[0]) is not None:
        return Timing(EVENT_TIME)
    if function.returns is not None:
        return Timing(EVENT_TIME)
    return timing if timing.clock == "own" else Timing(column, "column")


def _holds(step: Step, column: str) -> bool:
    """Whether a step names the struct that a time is a part of: rows keep the time that they had."""
    root, dot, _ = column.partition(".")
    match step:
        case Rename(names) | Drop(names):
            named: Iterable[str] = names
        case Set(expressions):
            named = expressions
        case Select(columns=names, expressions=expressions):
            named = (*names, *expressions)
        case _:
            return False
    return bool(dot) and _named(root, named) and not _named(column, named)


def _is_changed(column: str, expressions: Mapping[str, str]) -> bool:
    given = {name.lower(): text for name, text in expressions.items()}.get(column.lower())
    return given is not None and given.strip("` ").lower() != column.lower()


def _named(column: str, names: Iterable[str]) -> bool:
    return column.lower() in (name.lower() for name in names)
