"""A knot walked step by step: what each transformation made of some of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WalkedRow:
    """A row at one point of its way: its columns and their hash, or how it ended."""

    id: str
    row: Mapping[str, Any] | None
    hash: str | None
    ended: str | None = None
    """`filtered by rule:cheap`, `dead by step:1`."""
    reason: str | None = None


@dataclass(frozen=True)
class WalkedStep:
    """One transformation, and the rows that it met as they are after it."""

    by: str
    step: Any
    version: str | None
    rows: tuple[WalkedRow, ...]


@dataclass(frozen=True)
class WalkedKnot:
    """The way of rows through one knot: as they came in, then after each step."""

    stream: str
    knot: int
    pipeline: str
    version: str
    now: str
    where: str | None
    """The worker that ran it."""
    first: tuple[WalkedRow, ...]
    steps: tuple[WalkedStep, ...]

    def last(self, id: str) -> WalkedRow | None:
        """A row as it was when it left the last step that it met."""
        found = [row for step in self.steps for row in step.rows if row.id == id]
        found = found or [row for row in self.first if row.id == id]
        return found[-1] if found else None
