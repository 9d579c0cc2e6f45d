"""What a record of each pipeline costs: what workers measured lately, at the steps and rules there are now.

Called by the weaver's scaling, which counts load in what it costs, and by those who ask what one more rule would cost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.scaling.cost import RECENT, Cost, MeasuredCost, cost_at
from weft.scaling.measured import ExecutorsNow
from weft.weaver.loads import Loads
from weft.weaving.rule import Rule

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

USABLE = 0.8
"""The share of an executor's time that work can fill: batches are planned and committed between."""


@dataclass(frozen=True)
class CostView:
    """What a record of a pipeline costs, in seconds of a core."""

    pipeline: str
    complexity: float
    """Steps and rules that it goes through."""
    core_s: float
    batch_core_s: float
    """What a batch takes besides, however few records it has."""
    core_s_with: float | None
    """With the rule that was asked about."""
    cores_each: float
    start_up_s: float | None
    usable: float = USABLE
    """The share of an executor's time that work can fill."""


class Costing:
    """The costs of all pipelines."""

    def __init__(self, weaver: Weaver, loads: Loads) -> None:
        self._weaver = weaver
        self._loads = loads
        self._costs: dict[str, deque[MeasuredCost]] = {}

    def note(self, name: str, cost: MeasuredCost) -> None:
        """Take in what records of a pipeline cost in the last seconds."""
        self._measured(name).append(cost)

    def find(self, name: str) -> Cost | None:
        """Seconds of a core for a record and a batch of a pipeline with the rules that its next one will have, if any
        was seen."""
        measured = self._measured(name)
        if not measured or self._weaver.catalog.find_pipeline(name) is None:
            return None
        return cost_at(self.complexity(name, self._coming(name)), measured)

    def view(self, name: str, executors: ExecutorsNow | None, *, rule: str | None) -> CostView:
        """What a record of a pipeline costs now, and with one more rule."""
        coming, measured = self._coming(name), self._measured(name)
        complexity = self.complexity(name, coming)
        more = None
        if rule is not None:
            asked = self._weaver.rules.get(rule)
            with_rule = [*(one for one in coming if one.id != asked.id), asked]
            more = cost_at(self.complexity(name, with_rule), measured).record_s
        cost = cost_at(complexity, measured)
        return CostView(
            pipeline=name,
            complexity=complexity,
            core_s=cost.record_s,
            batch_core_s=cost.batch_s,
            core_s_with=more,
            cores_each=executors.cores_each if executors else 1.0,
            start_up_s=executors.start_up_s if executors else None,
        )

    def complexity(self, name: str, rules: Iterable[Rule]) -> float:
        """How many steps a record of a pipeline goes through with these rules; its operator is one, and each rule."""
        spec = self._weaver.catalog.project().pipelines.get(name)
        own = len(spec.steps) + spec.stateful if spec else 0
        return 1.0 + own + sum(1 + len(rule.steps) for rule in rules)

    def _coming(self, name: str) -> list[Rule]:
        """The rules that the next batch of a pipeline will meet."""
        stream = self._weaver.catalog.pipeline(name).stream
        return self._weaver.rules.in_force(stream, self._weaver.knots.head(stream).last + 1)

    def _measured(self, name: str) -> deque[MeasuredCost]:
        """What records of a pipeline cost lately; after a start, what its history says."""
        if name not in self._costs:
            rows = self._loads.history(name).rows(60)
            found = (
                MeasuredCost(
                    row.mean["complexity"],
                    row.mean["batch_records"] / row.mean["per_core_s"],
                    row.mean["batch_records"],
                )
                for row in rows
                if row.mean.get("per_core_s") and row.mean.get("batch_records")
                if "complexity" in row.mean
            )
            self._costs[name] = deque(found, maxlen=RECENT)
        return self._costs[name]
