"""The ledger of a knot: every record that came in is accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Ledger:
    """in = out + filtered (by which step or rule) + late + dead + absorbed (joined or aggregated).

    What a stateful operator makes of absorbed records (panes) has a ledger of its own, `results`: there `in`
    is how many it made. `copied` counts rows that rules sent to side streams in addition.
    """

    rows_in: int = 0
    out: int = 0
    filtered: Mapping[str, int] = field(default_factory=dict)
    late: int = 0
    dead: int = 0
    absorbed: int = 0
    copied: Mapping[str, int] = field(default_factory=dict)
    results: Ledger | None = None

    def missing(self) -> int:
        """How many records are unaccounted for; zero when the ledger balances."""
        known = self.out + sum(self.filtered.values()) + self.late + self.dead + self.absorbed
        below = self.results.missing() if self.results else 0
        return self.rows_in - known or below

    def to_dict(self) -> dict[str, Any]:
        return {
            "in": self.rows_in,
            "out": self.out,
            "filtered": dict(self.filtered),
            "late": self.late,
            "dead": self.dead,
            "absorbed": self.absorbed,
            "copied": dict(self.copied),
            "results": self.results.to_dict() if self.results else None,
        }

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Ledger:
        return Ledger(
            rows_in=fields["in"],
            out=fields["out"],
            filtered=fields["filtered"],
            late=fields["late"],
            dead=fields["dead"],
            absorbed=fields["absorbed"],
            copied=fields["copied"],
            results=Ledger.from_dict(fields["results"]) if fields["results"] else None,
        )
