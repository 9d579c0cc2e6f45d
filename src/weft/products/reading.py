"""What is read of a changing stream: its columns, and SQL over them. Filled while a product or a query is put together
over it; the kernel keeps what was asked for here and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.errors import WeftError
from weft.gate.expression import Checked, check
from weft.schema.change import CHANGE
from weft.schema.schema import Field, Schema, Type, quoted, unknown_column


class ReadingError(WeftError):
    """SQL over a changing stream whose value would not follow from the row alone."""

    code = "changing.expression"
    domain = "user"


@dataclass(frozen=True)
class TableColumns:
    """A stream of changes: its columns, of which `_change` is none, and its key."""

    columns: Schema
    key: tuple[str, ...]
    topic: str | None = None
    """The topic that its changes come from, where they have one of their own."""

    @staticmethod
    def of(schema: Schema, key: Sequence[str], topic: str | None = None) -> TableColumns:
        """The table behind a changing stream."""
        columns = Schema(tuple(one for one in schema if one.name != CHANGE))
        return TableColumns(columns, tuple(key), topic)


@dataclass
class Reading:
    """What is needed of one table."""

    name: str
    table: TableColumns
    columns: dict[str, None] = field(default_factory=dict)
    may_fail: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.columns |= dict.fromkeys(self.table.key)

    def column(self, name: str) -> Field:
        """A column, which is needed from now on; refuses one that is not there."""
        found = self.table.columns.find(name)
        if found is None:
            raise unknown_column(name, self.table.columns.names)
        self.columns[found.name] = None
        return found

    def checked(self, text: str, *, boolean: bool = False, where: str | None = None) -> Checked:
        """SQL over the columns, which is tried for rows that pass `where`."""
        columns = self.table.columns
        found = check(text, columns, boolean=boolean)
        if found.pinned:
            message = f"It calls {found.pinned[0]}(), which is another one for each change."
            raise ReadingError(message, hint="Use a column of the table.")
        outside = [name for name in found.columns if columns.find(name) is None]
        if outside:
            message = f"It reads {outside[0]}, which is no column of {self.name}."
            raise ReadingError(message, hint="Use a column of the table.")
        self.columns |= dict.fromkeys(found.columns)
        if not found.total:
            there = None if where is None else check(where, columns, boolean=True).sql
            is_plain = there is None or found.sql == there
            sql = found.sql if is_plain else f"CASE WHEN {there} THEN {found.sql} END"
            self.may_fail[sql] = None
        return found

    def to_kernel(self) -> dict[str, Any]:
        """The form that `weft.kernel.change.Attach` reads."""
        # By name: rows are kept so, and a column that is not needed may come to stand anywhere in the table.
        read = sorted(one.name for one in self.table.columns if one.name in self.columns)
        return {
            "key": [quoted(name) for name in self.table.key],
            "columns": read,
            "may_fail": list(self.may_fail),
        }


def cast(column: Field, kind: Type) -> str:
    """SQL of a column as a type."""
    sql = quoted(column.name)
    return sql if column.type == kind else f"cast({sql} as {kind})"
