"""A rule: a declared change to a stream from a knot on, optionally into another stream. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from weft.canonical import digest
from weft.weaving.step import Step, from_dict, to_dict


class RuleStatus(StrEnum):
    """Whether a rule is in force."""

    ACTIVE = "active"
    RETIRED = "retired"


@dataclass(frozen=True)
class Rule:
    """What to do to the rows of a stream, for which share of its keys, and where the result goes.

    `percent` is the share of keys, stable by key hash: raising it keeps those that were in. With `output`
    the changed rows go to that stream in addition to the originals; without it they take their place.
    """

    id: str
    stream: str
    steps: tuple[Step, ...]
    output: str | None = None
    percent: float = 100.0
    since: int = 0
    filled_after: int | None = None
    """The past knot after which recorded rows were woven into its output, if it started there."""
    order: int = 0
    author: str | None = None
    note: str | None = None
    guards: tuple[str, ...] = ()
    on_breach: str = "retire"
    status: RuleStatus = RuleStatus.ACTIVE
    attached: str | None = None
    retired: str | None = None
    retired_because: str | None = None
    until: int | None = None
    history: tuple[Mapping[str, Any], ...] = field(default_factory=tuple)

    @property
    def version(self) -> str:
        """Content hash of what the rule does, whatever it is called and whoever attached it."""
        return digest(
            {
                "stream": self.stream,
                "steps": [to_dict(step) for step in self.steps],
                "output": self.output,
            }
        )

    def in_force(self, number: int) -> bool:
        """Whether knot `number` of its stream is woven by this rule."""
        return self.status is RuleStatus.ACTIVE and number >= self.since

    def changed(self, **fields: Any) -> Rule:
        """This rule with some fields replaced."""
        return replace(self, **fields)

    def to_dict(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "status": str(self.status),
            "steps": [to_dict(step) for step in self.steps],
            "guards": list(self.guards),
            "history": [dict(entry) for entry in self.history],
            "version": self.version,
        }

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Rule:
        return Rule(
            **{name: fields[name] for name in _PLAIN},
            status=RuleStatus(fields["status"]),
            steps=tuple(from_dict(step) for step in fields["steps"]),
            guards=tuple(fields["guards"]),
            history=tuple(fields["history"]),
        )


_PLAIN = (
    "id",
    "stream",
    "output",
    "percent",
    "since",
    "filled_after",
    "order",
    "author",
    "note",
    "on_breach",
    "attached",
    "retired",
    "retired_because",
    "until",
)
