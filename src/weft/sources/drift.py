"""Whether a table still is as the project declares it: what its newest events say of its columns against those that are
declared. Knows no Spark."""

from __future__ import annotations

from weft.errors import WeftError
from weft.schema.change import CHANGE
from weft.schema.schema import Schema, Type

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp", "timestamp_ntz")


class TableChangedError(WeftError):
    """A table has lost a column that is declared, or the column has another type."""

    code = "source.table-changed"
    domain = "user"

    def __init__(self, stream: str, column: str, why: str) -> None:
        super().__init__(
            f"Table {stream!r} is not as it is declared: {why}.",
            hint="Take the column out of `columns`, and of what shows it, and `weft apply`, which goes on from "
            "here; for another type, declare the table under another name.",
            stream=stream,
            column=column,
        )


def missing(declared: Schema, told: Schema) -> list[str]:
    """The declared columns that the events do not tell."""
    names = (one.name for one in declared if one.name != CHANGE)
    return [name for name in names if told.find(name) is None]


def check_types(stream: str, declared: Schema, told: Schema) -> None:
    """Refuse a column whose values cannot become the declared ones."""
    for one in declared:
        found = told.find(one.name)
        if found is not None and not fits(found.type, one.type):
            why = f"column {one.name!r} is {found.type} and is declared as {one.type}"
            raise TableChangedError(stream, one.name, why)


def fits(told: Type, declared: Type) -> bool:
    """Whether values of a type may become the declared one; of texts and bytes each is tried by itself."""
    if declared.name == "string" or told.name in ("string", "binary"):
        return True
    if told.name in _NUMBERS:  # a number may count time
        return declared.name in (*_NUMBERS, *_TIMES)
    if told.name in _TIMES:
        return declared.name in _TIMES
    return told.name == declared.name
