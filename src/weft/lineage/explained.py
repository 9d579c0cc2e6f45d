"""A record explained: how it came to be, step by step and back to its source, and why one is not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal


@dataclass(frozen=True)
class RecordPlace:
    """A stream that holds a record, the knot that wrote it, and the row."""

    stream: str
    knot: int
    row: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True)
class ExplainedStep:
    """What one step or rule made of a record; `after` is None where it ended there."""

    by: str
    step: Any
    version: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    hash_before: str | None
    hash_after: str | None
    ended: str | None = None
    reason: str | None = None
    attached: str | None = None
    """Who attached the rule, and when."""

    def changed(self) -> set[str]:
        """The columns to which it gave another value."""
        before, after = self.before or {}, self.after or {}
        lost = before.keys() - after.keys() if self.after is not None else set()
        return lost | {n for n in after if n not in before or before[n] != after[n]}


@dataclass(frozen=True)
class ExplainedRecord:
    """A record in one stream: the knot that made it, what was done to it there, and what it was made of."""

    stream: str
    knot: int
    id: str
    row: Mapping[str, Any]
    pipeline: str
    version: str | None
    created: str
    where: str | None = None
    """The worker that ran its knot; the executor itself, where provenance was written down."""
    written_down: bool | None = None
    """Whether provenance that was written down says the same as the steps; None where none was."""
    source: str | None = None
    """Where it came in: the source, its partition, and the position there."""
    raw: str | None = None
    """What the source gave, where raw records are kept; as base64 where it is no text."""
    steps: tuple[ExplainedStep, ...] = ()
    parents: tuple[ExplainedRecord, ...] = ()
    taken_from: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Columns that have the values of a column of a parent as they are: that column, by the parent's stream."""
    count: int = 0
    """How many records it was made of; not all of them may be among `parents`."""
    note: str | None = None
    """What is not known of it, and why."""


AbsenceCause = Literal[
    "there",
    "filtered",
    "dead",
    "late",
    "unread",
    "pending",
    "absorbed",
    "rolled-back",
    "overwritten",
    "expired",
    "unknown",
]


@dataclass(frozen=True)
class Absence:
    """Why a record is not in a stream: what became of it, where, and by what."""

    id: str
    stream: str
    cause: AbsenceCause
    text: str
    knot: int | None = None
    by: str | None = None
    row: Mapping[str, Any] | None = None
    """The record as it was when it ended."""


@dataclass(frozen=True)
class Blame:
    """What gave a column of a record its value: a step, a rule, a function, a window, or the source."""

    column: str
    value: Any
    by: str
    stream: str
    knot: int
    version: str | None = None
    attached: str | None = None


def blame(record: ExplainedRecord) -> Iterator[Blame]:
    """For each column of a record, what gave it its value."""
    for name, value in record.row.items():
        if not name.startswith("_"):
            yield _blame(record, name, value)


def _blame(record: ExplainedRecord, column: str, value: Any) -> Blame:
    for step in reversed(record.steps):
        if column in step.changed():
            return Blame(
                column, value, step.by, record.stream, record.knot, step.version, step.attached
            )
    for parent in record.parents:
        named = column if parent.id == record.id else _taken(record, column, parent)
        if named is not None and named in parent.row:
            return replace(_blame(parent, named, value), column=column)
    if record.source is not None:
        return Blame(column, value, f"source {record.source}", record.stream, record.knot)
    made = f"pipeline {record.pipeline}"
    return Blame(column, value, made, record.stream, record.knot, record.version)


def _taken(record: ExplainedRecord, column: str, parent: ExplainedRecord) -> str | None:
    """The column of a parent whose value one has, if it has it from there."""
    return record.taken_from.get(column, {}).get(parent.stream)
