"""The ledger of a knot: every record that came in is accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True)
class Ledger:
    """in = out + filtered (by which step or rule) + late + dead + absorbed (joined or aggregated).

    What a stateful operator makes of absorbed records (panes) has a ledger of its own, `results`: there `in`
    is how many it made. `copied` counts rows that rules sent to side streams in addition.
    """

    rows_in: Annotated[int, Field(alias="in")] = 0
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
