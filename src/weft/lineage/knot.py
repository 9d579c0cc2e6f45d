"""A knot: the immutable, hash-chained record of one batch. Made by the weaver, filled by the worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from weft import canonical
from weft.lineage.ledger import Ledger


class Status(StrEnum):
    """Where a knot stands; see TRANSITIONS for the ways between."""

    IN_PROGRESS = "IN_PROGRESS"
    COMPLETE = "COMPLETE"
    FAILED = "FAILED"
    ROLLED_BACK = "ROLLED_BACK"


TRANSITIONS: Mapping[Status, frozenset[Status]] = {
    Status.IN_PROGRESS: frozenset({Status.COMPLETE, Status.FAILED, Status.ROLLED_BACK}),
    Status.COMPLETE: frozenset({Status.ROLLED_BACK}),
    Status.FAILED: frozenset({Status.IN_PROGRESS, Status.ROLLED_BACK}),
    Status.ROLLED_BACK: frozenset({Status.COMPLETE}),  # a rollback that is itself rolled back
}


@dataclass(frozen=True)
class Parent:
    """Knots that another one came from: those of `stream` from `first` to `last`, both included."""

    stream: str
    first: int
    last: int


@dataclass(frozen=True)
class Output:
    """What a knot wrote to one stream's table."""

    rows: int
    bytes: int
    hash: str
    version: int
    files: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class StepRecord:
    """Which code ran: one provenance record, from an input hash to an output hash."""

    function: str
    version: str
    parameters: Mapping[str, Any]
    input_hash: str | None
    output_hash: str | None
    rows_in: int
    rows_out: int
    started: str
    ended: str
    where: str


@dataclass(frozen=True)
class RuleRef:
    """A rule as it was in force for a knot: which, in which version, for which share of the keys."""

    id: str
    version: str
    percent: float


@dataclass(frozen=True)
class Knot:
    """One batch of one stream: what came in, which code was in force, what went out.

    `number` rises per stream and is never reused. `hash` covers everything but `status`, which the
    shape of the chain itself proves: a knot that the newest one does not descend from is rolled back.
    """

    id: str
    stream: str
    pipeline: str
    number: int
    epoch: int
    batch: int
    parents: tuple[Parent, ...]
    offsets: Mapping[str, Any]
    rules: tuple[RuleRef, ...]
    now: str
    seed: int
    previous: int | None
    previous_hash: str | None
    status: Status = Status.IN_PROGRESS
    steps: tuple[StepRecord, ...] = ()
    schema: str | None = None
    outputs: Mapping[str, Output] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    watermarks: Mapping[str, Any] = field(default_factory=dict)
    watermark: int | None = None
    state: int | None = None
    completed: str | None = None
    duration_ms: int = 0
    hash: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether its batch is still to be finished."""
        return self.status in (Status.IN_PROGRESS, Status.FAILED)

    def content(self) -> dict[str, Any]:
        """What the hash is taken over."""
        fields = self.to_dict()
        del fields["hash"], fields["status"]
        return fields

    def becoming(self, status: Status) -> Knot:
        """This knot with another status, if there is a way from the one it has."""
        if status not in TRANSITIONS[self.status]:
            raise ValueError(f"a knot that is {self.status} cannot become {status}")
        return replace(self, status=status)

    def sealed(self) -> Knot:
        """This knot with its hash, complete."""
        return replace(self.becoming(Status.COMPLETE), hash=canonical.digest(self.content()))

    def is_intact(self) -> bool:
        """Whether the hash still is that of the content."""
        return self.hash == canonical.digest(self.content())

    def to_dict(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "status": str(self.status),
            "parents": [dict(vars(parent)) for parent in self.parents],
            "rules": [dict(vars(rule)) for rule in self.rules],
            "steps": [dict(vars(step)) for step in self.steps],
            "outputs": {
                stream: {**vars(output), "files": list(output.files)}
                for stream, output in self.outputs.items()
            },
            "ledger": self.ledger.to_dict(),
        }

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Knot:
        return Knot(
            **{name: fields[name] for name in _PLAIN},
            status=Status(fields["status"]),
            parents=tuple(Parent(**parent) for parent in fields["parents"]),
            rules=tuple(RuleRef(**rule) for rule in fields["rules"]),
            steps=tuple(StepRecord(**step) for step in fields["steps"]),
            outputs={
                stream: Output(**{**output, "files": tuple(output["files"])})
                for stream, output in fields["outputs"].items()
            },
            ledger=Ledger.from_dict(fields["ledger"]),
        )


_PLAIN = (
    "id",
    "stream",
    "pipeline",
    "number",
    "epoch",
    "batch",
    "offsets",
    "now",
    "seed",
    "previous",
    "previous_hash",
    "schema",
    "watermarks",
    "watermark",
    "state",
    "completed",
    "duration_ms",
    "hash",
)
