"""Guards: limits that a rule must keep, measured per knot against the knots before it. Pure decisions."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from weft.errors import WeftError
from weft.lineage.knot import Knot
from weft.schema.schema import nearest

_FORM = re.compile(r"\s*([a-z_]+)\s*(<=|>=|<|>)\s*([0-9]+(?:\.[0-9]+)?)\s*(x?)\s*")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class GuardError(WeftError):
    """A guard that cannot be read."""

    code = "rule.guard"
    domain = "user"


def _share(count: Callable[[Knot], int]) -> Callable[[Knot], float]:
    return lambda knot: count(knot) / knot.ledger.rows_in if knot.ledger.rows_in else 0.0


METRICS: Mapping[str, Callable[[Knot], float]] = {
    "dead_share": _share(lambda knot: knot.ledger.dead),
    "filtered_share": _share(lambda knot: sum(knot.ledger.filtered.values())),
    "late_share": _share(lambda knot: knot.ledger.late),
    "out_share": _share(lambda knot: knot.ledger.out),
    "rows_in": lambda knot: float(knot.ledger.rows_in),
    "rows_out": lambda knot: float(knot.ledger.out),
    "dead": lambda knot: float(knot.ledger.dead),
    "batch_ms": lambda knot: float(knot.duration_ms),
}
ANOMALIES = "anomalies"
"""The one metric that no knot holds: how many of its measures were unusual."""
WORDS = (*METRICS, ANOMALIES)


@dataclass(frozen=True)
class Guard:
    """A metric of a knot, a comparison that must hold, and a limit: a number, or a multiple of before."""

    text: str
    metric: str
    comparison: str
    limit: float
    relative: bool

    @staticmethod
    def parse(text: str) -> Guard:
        """Read `dead_share < 0.01` or `batch_ms < 2x`."""
        found = _FORM.fullmatch(text)
        if found is None:
            raise GuardError(
                f"The guard '{text}' cannot be read.",
                hint="Write a metric, a comparison and a limit: `dead_share < 0.01`, `batch_ms < 2x`.",
            )
        metric, comparison, limit, times = found.groups()
        if metric not in WORDS:
            near = nearest(metric, WORDS)
            raise GuardError(
                f"There is no metric '{metric}' for a guard. Metrics are {', '.join(WORDS)}.",
                hint=f"Did you mean '{near}'?" if near else "Use one of the metrics listed.",
            )
        if metric == ANOMALIES and times:
            raise GuardError(
                f"The guard '{text}' compares anomalies with those before, which are what was usual.",
                hint="Give a number, as in `anomalies < 1`.",
            )
        return Guard(text, metric, comparison, float(limit), bool(times))

    def broken_by(self, knot: Knot, before: Sequence[Knot], *, anomalies: int = 0) -> str | None:
        """Why this knot, with so many anomalies, breaks the guard, or None.

        A relative guard holds while there is no knot before.
        """
        if not knot.ledger.rows_in:
            return None
        limit, value = self.limit, float(anomalies)
        if self.metric != ANOMALIES:
            measure = METRICS[self.metric]
            value = measure(knot)
            if self.relative:
                if not before:
                    return None
                limit *= median(measure(earlier) for earlier in before)
        if _COMPARE[self.comparison](value, limit):
            return None
        return f"{self.metric} was {value:.4g} at knot {knot.number}, the guard is '{self.text}'"
