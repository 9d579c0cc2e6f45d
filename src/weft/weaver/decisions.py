"""What was decided about executors: each decision with its reason, and afterwards what came of it.

Written by the weaver's scaling, read by the routes. The newest are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from weft.weaver.store import Write
from weft.weaver.store.records import Records, put, remove

KEPT = 5_000
"""So many decisions are kept."""

Verdict = Literal["kept", "broken"]


@dataclass(frozen=True)
class Judged:
    """What came after a decision: until the executors that it asked for had been there for an interval."""

    verdict: Verdict
    came: float
    """Executors that the work at its highest would have kept busy."""
    lag_s: float
    """The longest that what waited would have taken."""


@dataclass(frozen=True)
class ScalingDecision:
    """A decision for one worker: what it had and should have, why, and what came of it."""

    number: int
    worker: str
    at: str
    had: int
    wanted: int
    reason: str
    by: str
    acted: bool
    """Whether executors were changed by it; else it is advice, or changes nothing."""
    backlog_s: float
    expected: float | None = None
    """Executors that the forecast would keep busy at its highest until new ones could be there."""
    model: str | None = None
    judged: Judged | None = None


@dataclass(frozen=True)
class Aftermath:
    """One interval after a decision: how many executors its work kept busy, and how long what waited would take."""

    came: float
    lag_s: float


class Decisions:
    """Those of all workers, by number."""

    def __init__(self, records: Records) -> None:
        self._records = records
        newest = records.scan(ScalingDecision, "decisions", limit=1, reverse=True)
        self._last = next((one.number for one in newest), 0)

    def next_number(self) -> int:
        """The number of a decision that is taken now."""
        self._last += 1
        return self._last

    def write(self, decision: ScalingDecision) -> list[Write]:
        """The writes that keep a decision, and let the oldest go."""
        writes = [put("decisions", decision.number, value=decision)]
        if decision.number > KEPT:
            writes.append(remove("decisions", decision.number - KEPT))
        return writes

    def judge(
        self, decision: ScalingDecision, since: Sequence[Aftermath], objective_s: float
    ) -> None:
        """Say of a decision what came of it."""
        lag_s = max(one.lag_s for one in since)
        verdict: Verdict = "kept" if lag_s <= objective_s else "broken"
        came = max(one.came for one in since)
        kept = replace(decision, judged=Judged(verdict, round(came, 3), round(lag_s, 3)))
        self._records.store.apply([put("decisions", kept.number, value=kept)], durable=False)

    def newest(self, *, worker: str | None = None, limit: int = 100) -> list[ScalingDecision]:
        """What was decided, newest first."""
        found = self._records.scan(ScalingDecision, "decisions", reverse=True)
        wanted = (one for one in found if worker in (None, one.worker))
        return [one for one, _ in zip(wanted, range(limit), strict=False)]
