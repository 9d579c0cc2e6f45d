"""A rule: a declared change to a stream from a knot on, optionally into another stream. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from weft import codec
from weft.canonical import digest
from weft.steps.step import Steps

Breach = Literal["retire", "rollback"]


class RuleStatus(StrEnum):
    """Whether a rule is in force."""

    ACTIVE = "active"
    RETIRED = "retired"


@dataclass(frozen=True)
class Deed:
    """One thing that was done to a rule: when, what, and from which knot on it counts."""

    at: str
    did: str
    knot: int


@dataclass(frozen=True)
class Rule:
    """What to do to the rows of a stream, for which share of its keys, and where the result goes.

    `percent` is the share of keys, stable by key hash: raising it keeps those that were in. With `output`
    the changed rows go to that stream in addition to the originals; without it they take their place.
    `version` is the content hash of what the rule does, whatever it is called and whoever attached it.
    """

    id: str
    stream: str
    steps: Steps
    output: str | None = None
    percent: float = 100.0
    since: int = 0
    filled_after: int | None = None
    """The past knot after which recorded rows were woven into its output, if it started there."""
    order: int = 0
    author: str | None = None
    note: str | None = None
    guards: tuple[str, ...] = ()
    on_breach: Breach = "retire"
    status: RuleStatus = RuleStatus.ACTIVE
    attached: str | None = None
    retired: str | None = None
    retired_because: str | None = None
    until: int | None = None
    to_undo: bool = False
    """Whether what it has woven is still to be rolled back, because a guard was broken."""
    history: tuple[Deed, ...] = ()
    version: str = ""

    def __post_init__(self) -> None:
        if not self.version:
            object.__setattr__(self, "version", content_hash(codec.to_form(self)))

    def in_force(self, number: int) -> bool:
        """Whether knot `number` of its stream is woven by this rule."""
        return self.status is RuleStatus.ACTIVE and number >= self.since

    def changed(self, **fields: Any) -> Rule:
        """This rule with some fields replaced, in the version that they make of it."""
        return replace(self, **fields, version="")

    def to_dict(self) -> dict[str, Any]:
        """The rule as it is stored."""
        return codec.pack(self)

    @staticmethod
    def from_dict(form: Mapping[str, Any]) -> Rule:
        """The rule behind a stored form."""
        return codec.unpack(Rule, form)


def content_hash(form: Mapping[str, Any]) -> str:
    """The version that a rule of this stored form must have."""
    return digest({name: form[name] for name in ("stream", "steps", "output")})
