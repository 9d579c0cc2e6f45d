"""Rows of a replay beside those that are recorded: which are the same, changed, missing or extra."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ComparedRow:
    """A row that differs: its id, and the columns that do on each side; a side that lacks the row has none."""

    id: str
    recorded: Mapping[str, Any] | None
    replayed: Mapping[str, Any] | None


@dataclass(frozen=True)
class RowComparison:
    """What differs between the recorded rows of a stream and the replayed ones."""

    stream: str
    after: int
    upto: int
    same: int = 0
    changed: int = 0
    missing: int = 0
    """Rows that are recorded and were not made again."""
    extra: int = 0
    """Rows that were made and are not recorded."""
    by_column: Mapping[str, int] = field(default_factory=dict)
    """In how many of the changed rows a column differs."""
    totals: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """The sums of the numeric columns on each side, where they differ."""
    examples: tuple[ComparedRow, ...] = ()
    file: str | None = None
    """The Parquet files with every row that differs."""
