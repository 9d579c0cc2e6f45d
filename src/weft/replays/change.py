"""What is different in a replay from what was recorded. Nothing, when it is to prove itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.weaving.rule import Rule


@dataclass(frozen=True)
class ReplayChange:
    """Other rules, another version of the project, records more or less; each from the first replayed knot on."""

    rules: tuple[Rule, ...] = ()
    """Rules that are in force in addition, after those that were."""
    without: tuple[str, ...] = ()
    """Rules that are not in force, though they were."""
    project: str | None = None
    """The version of the project, by its hash, whose definitions take the place of those that ran."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Other values at paths of the project that ran."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """Other versions of functions than those that ran."""
    added: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    """Records that came too, by stream; they are in the first replayed knot."""

    def __bool__(self) -> bool:
        return bool(self.rules or self.without or self.added or self.redefines)

    @property
    def redefines(self) -> bool:
        """Whether pipelines are defined otherwise."""
        return bool(self.project or self.settings or self.functions)

    def rules_on(self, streams: tuple[str, ...]) -> tuple[Rule, ...]:
        """The rules in addition that act where a pipeline writes these streams."""
        return tuple(rule for rule in self.rules if rule.stream in streams)
