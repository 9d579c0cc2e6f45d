"""Tables of plain rows with small domains, so that links match often. Made by `world`, read by everything else here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

Row = dict[str, Any]
Key = tuple[Any, ...]

DOMAINS: Mapping[str, tuple[Any, ...]] = {
    "int": (0, 1, 2, 3, -1),
    "bigint": (0, 1, 2, 3, 5_000_000_000),
    "string": ("a", "b", "B", "", "é"),
    # Sums of these are exact, in whatever order they are made.
    "double": (0.0, 0.5, -1.25, 2.0, 1024.75),
    "decimal(10,2)": tuple(map(Decimal, ("0.00", "1.50", "2.50", "-0.01", "99999999.99"))),
    "boolean": (True, False),
    "timestamp": tuple(
        datetime(2024, 2, day, 12, 30, 0, micros, tzinfo=UTC)
        for day, micros in ((1, 0), (1, 1), (28, 999_999), (29, 0))
    ),
}
"""The values of each type, beside null."""
FAMILY = {"int": "whole", "bigint": "whole"}
"""Types whose values can be equal; others are equal to values of their own type."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "int": ("qty", "ref", "num"),
    "bigint": ("big", "far"),
    "string": ("name", "city", "tag"),
    "double": ("price",),
    "decimal(10,2)": ("amount",),
    "boolean": ("flag",),
    "timestamp": ("placed",),
}
KEY_TYPES = ("int", "int", "string", "bigint")
KEY_VALUES: Mapping[str, tuple[Any, ...]] = {
    "int": tuple(range(12)),
    "bigint": (*range(10), 5_000_000_000),
    "string": ("a", "b", "B", "", "é", "c", "d", "dd", "x", "zz"),
}


@dataclass
class Table:
    """Columns with their types as Spark writes them, which of them are the key, and the rows by key."""

    name: str
    key: tuple[str, ...]
    columns: dict[str, str]
    rows: dict[Key, Row] = field(default_factory=dict)
    full: bool = False
    """Whether the database tells whole rows of what is deleted, and not their key alone."""

    def copy(self) -> Table:
        """This table with rows of its own."""
        rows = {key: dict(row) for key, row in self.rows.items()}
        return Table(self.name, self.key, self.columns, rows, self.full)

    def key_of(self, row: Row) -> Key:
        """The key of a row."""
        return tuple(row[name] for name in self.key)

    def of_type(self, *types: str) -> list[str]:
        """The columns of these types."""
        return [name for name, kind in self.columns.items() if kind in types]

    @property
    def others(self) -> list[str]:
        """The columns that are not in the key."""
        return [name for name in self.columns if name not in self.key]


def family(kind: str) -> str:
    """What a type is compared as."""
    return FAMILY.get(kind, kind)


def make_table(rng: Random, name: str) -> Table:
    """An empty table of one or two key columns and two to five others."""
    columns = {"id": rng.choice(KEY_TYPES)}
    if rng.random() < 0.35:
        columns["code"] = rng.choice(KEY_TYPES)
    key = tuple(columns)
    free = [(kind, column) for kind, names in NAMES.items() for column in names]
    columns |= {column: kind for kind, column in rng.sample(free, rng.randint(2, 5))}
    if rng.random() < 0.5:
        shuffled = rng.sample(list(columns.items()), len(columns))
        columns = dict(shuffled)
    return Table(name, key, columns, full=rng.random() < 0.4)


def make_value(rng: Random, kind: str) -> Any:
    """A value of a column that is not in the key."""
    return None if rng.random() < 0.15 else rng.choice(DOMAINS[kind])


def make_row(rng: Random, table: Table, key: Key) -> Row:
    """A row under a key, with its columns in the order of the table."""
    keyed = dict(zip(table.key, key, strict=True))
    return {
        name: keyed[name] if name in keyed else make_value(rng, kind)
        for name, kind in table.columns.items()
    }


def make_key(rng: Random, table: Table) -> Key | None:
    """A key that no row has; None where none is found soon."""
    for _ in range(8):
        key = tuple(rng.choice(KEY_VALUES[table.columns[name]]) for name in table.key)
        if key not in table.rows:
            return key
    return None
