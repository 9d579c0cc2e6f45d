"""What came of trying a rule on recorded rows, and of comparing two streams: made by workers, read by people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field


@dataclass(frozen=True)
class TriedKnots:
    """The knots on whose rows a rule was tried."""

    first: int
    last: int


@dataclass(frozen=True)
class TriedLedger:
    """What would become of the rows: those that come in are out, filtered by someone, or dead."""

    rows_in: Annotated[int, Field(alias="in")]
    out: int
    filtered: Mapping[str, int]
    dead: int


@dataclass(frozen=True)
class ChangedRow:
    """A row before and after, of which only the columns that differ are shown."""

    id: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True)
class DeadRow:
    """Why a row would be a dead letter."""

    step: str
    reason: str | None


@dataclass(frozen=True)
class TrialExamples:
    """A few rows of each kind."""

    removed: tuple[Mapping[str, Any], ...] = ()
    changed: tuple[ChangedRow, ...] = ()
    dead: tuple[DeadRow, ...] = ()


@dataclass(frozen=True)
class Trial:
    """What a rule would do to `rows` of the `recorded` rows in the knots that were asked for."""

    rows: int = 0
    recorded: int = 0
    knots: TriedKnots | None = None
    removed: int = 0
    changed: int = 0
    unchanged: int = 0
    changed_by_column: Mapping[str, int] = field(default_factory=dict)
    examples: TrialExamples = TrialExamples()
    ledger: TriedLedger | None = None
    cost_us_per_row: float | None = None


@dataclass(frozen=True)
class Sides:
    """How many rows each of two streams has."""

    left: int
    right: int


@dataclass(frozen=True)
class DifferentRow:
    """A row that is in one stream and not in the other, or another there; each side as JSON."""

    id: str
    old: str | None = None
    new: str | None = None


@dataclass(frozen=True)
class DiffExamples:
    """A few rows of each kind."""

    added: tuple[DifferentRow, ...] = ()
    removed: tuple[DifferentRow, ...] = ()
    changed: tuple[DifferentRow, ...] = ()


@dataclass(frozen=True)
class Difference:
    """What differs between two streams in the knots after `after`, up to `upto`."""

    left: str
    right: str
    after: int
    upto: int
    key: tuple[str, ...]
    rows: Sides
    added: int
    removed: int
    changed: int
    examples: DiffExamples
