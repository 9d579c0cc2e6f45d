"""A knot: the immutable, hash-chained record of one batch. Made by the weaver, filled by the worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from weft import canonical, codec
from weft.lineage.facts import Columns, Facts, Output, Recording, StepRecord
from weft.lineage.ledger import Ledger
from weft.lineage.offsets import Offsets
from weft.windows.watermark import Watermarks


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
TIED = (
    "steps",
    "schema",
    "outputs",
    "ledger",
    "watermarks",
    "watermark",
    "state",
    "completed",
    "duration_ms",
    "provenance",
    "columns",
)
"""What a knot takes over from the facts of its batch."""
UNSEALED = ("status", "hash", "reason")
"""What the hash does not cover: the hash itself, and what may change after the knot was tied."""


@dataclass(frozen=True)
class Parent:
    """Knots that another one came from: those of `stream` from `first` to `last`, both included."""

    stream: str
    first: int
    last: int


@dataclass(frozen=True)
class RuleRef:
    """A rule as it was in force for a knot: which, in which version, for which share of the keys."""

    id: str
    version: str
    percent: float


@dataclass(frozen=True)
class Knot:
    """One batch of one stream: what came in, which code was in force, what went out.

    `number` rises per stream and is never reused. `hash` is that of the form in which the knot was sealed, which is
    kept with it: a field that later versions add changes no hash. It does not cover `status`, which the shape of the
    chain itself proves: a knot that the newest one does not descend from is rolled back.
    """

    id: str
    stream: str
    pipeline: str
    number: int
    epoch: int
    batch: int
    parents: tuple[Parent, ...]
    offsets: Offsets
    rules: tuple[RuleRef, ...]
    now: str
    seed: int
    previous: int | None
    previous_hash: str | None
    replaces: int | None = None
    """The knot that was given up for this one, with the same records and other rules."""
    status: Status = Status.IN_PROGRESS
    reason: str | None = None
    """Why its batch failed or was given up."""
    steps: tuple[StepRecord, ...] = ()
    schema: str | None = None
    outputs: Mapping[str, Output] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    watermarks: Watermarks = field(default_factory=Watermarks)
    watermark: int | None = None
    state: int | None = None
    completed: str | None = None
    duration_ms: int = 0
    hash: str | None = None
    provenance: Recording | None = None
    """For which records it was written down what was done to them; None for none of them."""
    columns: Columns = field(default_factory=dict)
    """What the watched columns of its stream looked like."""
    flagged: Annotated[bool, Field(exclude_if=lambda value: not value)] = False
    """Whether a knot shortly before it was unusual; what is written down of samples is written of all its records."""
    sealed_form: Annotated[Mapping[str, Any] | None, Field(exclude=True)] = field(
        default=None, repr=False, compare=False
    )

    @property
    def is_open(self) -> bool:
        """Whether its batch is still to be finished."""
        return self.status in (Status.IN_PROGRESS, Status.FAILED)

    def becoming(self, status: Status, *, reason: str | None = None, **tied: Any) -> Knot:
        """This knot with another status, if there is a way from the one it has, and with what was tied into it."""
        if status not in TRANSITIONS[self.status]:
            raise ValueError(f"a knot that is {self.status} cannot become {status}")
        return replace(self, status=status, reason=reason, **tied)

    def tied(self, facts: Facts) -> Knot:
        """This knot with what its batch wrote, complete and sealed with its hash."""
        return self.sealed(**{name: getattr(facts, name) for name in TIED})

    @staticmethod
    def told(pinned: Mapping[str, Any], facts: Mapping[str, Any], *, own: int) -> Knot:
        """The knot that was sealed with facts whose own stream has version `own`, from the forms both were stored in.

        They may be of an older version, and what is sealed are the forms: only so its hash is the one it had.
        """
        stream = str(pinned["stream"])
        outputs = {**facts["outputs"], stream: {**facts["outputs"][stream], "version": own}}
        tied = {name: facts[name] for name in TIED if name in facts} | {"outputs": outputs}
        form = _covered({**pinned, **tied})
        first = replace(Knot.from_dict(pinned), status=Status.IN_PROGRESS, reason=None)
        done = first.tied(codec.from_form(Facts, {**facts, "outputs": outputs}))
        return replace(done, hash=canonical.digest(form), sealed_form=form)

    def sealed(self, **tied: Any) -> Knot:
        """This knot with its hash, complete, and with what was tied into it."""
        complete = self.becoming(Status.COMPLETE, **tied)
        form = _covered(codec.pack(complete))
        return replace(complete, hash=canonical.digest(form), sealed_form=form)

    def is_intact(self) -> bool:
        """Whether the hash still is that of the form which was sealed."""
        return self.sealed_form is not None and self.hash == canonical.digest(self.sealed_form)

    def to_dict(self) -> dict[str, Any]:
        """The knot as it is stored: what was sealed as it was, and what may change beside it."""
        if self.sealed_form is None:
            return codec.pack(self)
        changing = {"status": str(self.status), "hash": self.hash, "reason": self.reason}
        return {**self.sealed_form, **changing}

    @cached_property
    def stored(self) -> bytes:
        """The bytes in which it is stored and told."""
        return canonical.encode(self.to_dict())

    @staticmethod
    def from_dict(form: Mapping[str, Any]) -> Knot:
        """The knot behind a stored form, by whichever version it was written."""
        knot = codec.unpack(Knot, form)
        return knot if knot.hash is None else replace(knot, sealed_form=_covered(form))


def _covered(form: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in form.items() if name not in UNSEALED}
