"""Arrow rows as records for the Python code of a project, and what it made of them as Arrow again.
Rows that Python cannot hold, and values that their columns cannot, get a reason each; the others go
on. Knows no Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from weft.reason import ToldError, one_line, reason_of, shown
from weft.schema.schema import Schema, Type
from weft.schema.value import MisfitError, fit, is_exact

NESTED = ("array", "map", "struct")

Reasons = dict[int, str]
"""Why rows cannot go on, by their number."""


def to_records(batch: pa.RecordBatch) -> tuple[list[dict[str, Any] | None], Reasons]:
    """The rows of a batch as dictionaries, maps as dictionaries too; None where Python has no such value."""
    try:
        return list(batch.to_pylist(maps_as_pydicts="strict")), {}
    except (OverflowError, ValueError, KeyError):
        pass
    records: list[dict[str, Any] | None] = []
    reasons: Reasons = {}
    for number in range(batch.num_rows):
        row = batch.slice(number, 1)
        try:
            records += row.to_pylist(maps_as_pydicts="strict")
        except (OverflowError, ValueError, KeyError):
            records.append(None)
            reasons[number] = _unreadable(row)
    return records, reasons


def _unreadable(row: pa.RecordBatch) -> str:
    """Which column of a row Python cannot hold, and why."""
    for name, column in zip(row.schema.names, row.columns, strict=True):
        try:
            column.to_pylist(maps_as_pydicts="strict")
        except OverflowError:
            value = (
                f"{_text(column)} is" if pa.types.is_temporal(column.type) else "it holds a time"
            )
            return one_line(f"column '{name}': {value} outside the years 1 to 9999 of Python")
        except (ValueError, KeyError) as error:
            return one_line(f"column '{name}': {reason_of(error)}")
    return "the row cannot be read by Python"


def _text(column: pa.Array) -> str:
    try:
        return str(column.cast(pa.string())[0])
    except pa.ArrowException:
        return "a time"


class ResultError(ToldError):
    """Something that the Python code of a project may not return."""


class Columns:
    """Gathers what Python returned, row by row, and makes columns of it."""

    def __init__(self, schema: Schema, types: Sequence[pa.DataType]) -> None:
        self._schema = schema
        self._types = types
        self._values: list[list[Any]] = [[] for _ in schema]

    def add(self, result: Any) -> None:
        """Take the columns of a row from a mapping; what is missing is null, what is no column is left out.

        Raises ResultError for anything else, and MisfitError for a nested value that does not fit. Such a
        value is copied at once: the code that returned it may go on changing it.
        """
        if not isinstance(result, Mapping):
            kind = type(result).__name__
            raise ResultError(f"it returned {shown(result)} ({kind}), and should return a dict")
        row = [
            _fitted(result.get(field.name), field.name, field.type)
            if field.type.name in NESTED
            else result.get(field.name)
            for field in self._schema
        ]
        for values, value in zip(self._values, row, strict=True):
            values.append(value)

    def finish(self) -> tuple[list[pa.Array], Reasons]:
        """The columns of the rows that fit, and why the others, by their place among all, do not."""
        reasons: Reasons = {}
        arrays = [
            self._array(place, field.name, field.type, reasons)
            for place, field in enumerate(self._schema)
        ]
        if not reasons:
            return [array for array in arrays if array is not None], {}
        kept = [number for number in range(len(self._values[0])) if number not in reasons]
        for place, values in enumerate(self._values):
            self._values[place] = [values[number] for number in kept]
        return [
            pa.array(values, kind) for values, kind in zip(self._values, self._types, strict=True)
        ], reasons

    def _array(self, place: int, name: str, kind: Type, reasons: Reasons) -> pa.Array | None:
        """One column; None where a value does not fit, whose row is then in `reasons`."""
        values = self._values[place]
        if kind.name in NESTED or is_exact(values, kind):
            try:
                return pa.array(values, self._types[place])
            except (pa.ArrowException, OverflowError, UnicodeError):
                pass
        fitted: list[Any] = []
        for number, value in enumerate(values):
            try:
                fitted.append(_fitted(value, name, kind))
            except MisfitError as misfit:
                fitted.append(None)
                reasons.setdefault(number, reason_of(misfit))
        self._values[place] = fitted
        return None if reasons else pa.array(fitted, self._types[place])


def _fitted(value: Any, name: str, kind: Type) -> Any:
    try:
        return fit(value, kind)
    except MisfitError as misfit:
        raise misfit.inside(name) from None
