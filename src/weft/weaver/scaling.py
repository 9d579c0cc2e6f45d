"""How many executors each worker should have: decided every so often from its load, recorded, and judged afterwards.

What a worker measures comes in with its syncs; what it should have goes out with the answers. Load is counted in
executor-seconds of work: records that came, times what one costs at the steps and rules there are now. So a rule that
was just attached makes the whole load dearer before the first record is late. Where executors cannot be changed, the
number is advice.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from weft.clock import iso
from weft.errors import WeftError
from weft.logs import get_logger
from weft.project.settings import ScalingSpec
from weft.scaling.arrivals import Series
from weft.scaling.cost import MeasuredCost
from weft.scaling.measured import ExecutorsNow, PipelineWork, WorkerLoad
from weft.scaling.policy import DAY_S, MOST_EXECUTORS, Decision, Load, ScalingTerms
from weft.weaver.backlog import backlog
from weft.weaver.costing import USABLE, Costing, CostView
from weft.weaver.decisions import Aftermath, Decisions, ScalingDecision
from weft.weaver.loads import Loads, point_of
from weft.weaver.outlooks import Outlooks

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

log = get_logger(__name__)

ALL = "*"
"""The name under which the load of all pipelines of the project together is kept; no pipeline can have it."""
STEP_S = 5
LATELY = 0.2
"""How much the last five seconds count for how busy a pipeline is."""
START_UP_S = 60.0
"""What executors are taken to need to start, until that was seen."""


@dataclass
class _Watched:
    """What is known of one worker's load."""

    executors: ExecutorsNow
    pipelines: tuple[str, ...] = ()
    arrived: dict[str, float] = field(default_factory=dict)
    """Records by pipeline since the last decision, which was so many `seconds` ago."""
    seconds: float = 0.0
    backlog: dict[str, float] = field(default_factory=dict)
    wanted: int | None = None
    quiet: int = MOST_EXECUTORS
    open: list[ScalingDecision] = field(default_factory=list)
    """Decisions that are not judged yet, with the loads since each in `since`."""
    since: dict[int, list[Aftermath]] = field(default_factory=dict)


class Scaling:
    """Decides for all workers of a weaver."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self.loads = Loads(weaver.records, weaver.clock)
        self._outlooks = Outlooks()
        self._watched: dict[str, _Watched] = {}
        self._costing = Costing(weaver, self.loads)
        self.decisions = Decisions(weaver.records)
        self._busy: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None

    def resume(self) -> None:
        """Begin to decide every so often."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def stop(self) -> None:
        """Leave executors as they are; their workers say how many there are when they are heard again."""
        if self._task is not None:
            self._task.cancel()
        self._outlooks.stop()

    def heard(self, worker: str, load: WorkerLoad) -> None:
        """Take in what a worker measured."""
        watched = self._watched.setdefault(worker, _Watched(load.executors))
        watched.executors = load.executors
        watched.pipelines = tuple(load.pipelines)
        if watched.wanted == load.executors.asked:
            watched.wanted = None
        watched.seconds += max((work.seconds for work in load.pipelines.values()), default=0.0)
        at_s = self._weaver.clock.now().timestamp()
        for name, work in load.pipelines.items():
            self._note(watched, name, work, at_s)
        self._note_all(load, at_s)

    def wanted(self, worker: str) -> int | None:
        """How many executors a worker should have, if it should have another number than it asked for."""
        watched = self._watched.get(worker)
        return watched.wanted if watched else None

    def busy(self, pipeline: str) -> float:
        """How many cores a pipeline has kept busy lately."""
        return self._busy.get(pipeline, 0.0)

    def executors(self, worker: str) -> int | None:
        """How many executors a worker has, if it has said so."""
        watched = self._watched.get(worker)
        return watched.executors.running if watched else None

    def cost(self, pipeline: str, *, rule: str | None = None) -> CostView:
        """What a record of a pipeline costs now, and with one more rule."""
        name = self._weaver.catalog.pipeline(pipeline).name
        watched = next((one for one in self._watched.values() if name in one.pipelines), None)
        return self._costing.view(name, watched.executors if watched else None, rule=rule)

    async def decide(self) -> None:
        """Decide for every worker that is connected."""
        connected = self._weaver.workers.connected()
        self._watched = {name: one for name, one in self._watched.items() if name in connected}
        for worker, watched in list(self._watched.items()):
            try:
                await self._decide(worker, watched, self._spec())
            except WeftError as error:
                log.warning("nothing is decided for %s now: %s", worker, error.message)

    def _note(self, watched: _Watched, name: str, work: PipelineWork, at_s: float) -> None:
        pipeline = self._weaver.catalog.find_pipeline(name)
        if pipeline is None:
            return
        knot = self._weaver.knots.newest(pipeline.stream)
        came = work.rows_in if work.arrived is None else work.arrived
        before = self._busy.get(name, 0.0)
        self._busy[name] = before + LATELY * (work.run_s / max(work.seconds, 1.0) - before)
        waiting = backlog(self._weaver, name, work, knot)
        watched.arrived[name] = watched.arrived.get(name, 0.0) + came
        if waiting is not None:
            watched.backlog[name] = waiting
        complexity = math.nan
        if knot is not None:
            rules = map(self._weaver.rules.find_version, knot.rules)
            complexity = self._costing.complexity(name, rules)
        point = point_of(
            *(at_s, work, watched.executors),
            complexity=complexity,
            backlog=waiting,
            watermark_ms=knot.watermark if knot else None,
        )
        self.loads.add(name, point)
        if math.isfinite(point.per_core_s) and math.isfinite(point.complexity):
            self._costing.note(name, MeasuredCost(complexity, 1 / point.per_core_s))

    def _note_all(self, load: WorkerLoad, at_s: float) -> None:
        works = load.pipelines.values()
        together = PipelineWork(
            seconds=max((work.seconds for work in works), default=0.0),
            rows_in=sum(work.rows_in for work in works),
            rows_out=sum(work.rows_out for work in works),
            run_s=sum(work.run_s for work in works),
            cpu_s=sum(work.cpu_s for work in works),
        )
        self.loads.add(ALL, point_of(at_s, together, load.executors))

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_interval_s(self._spec()))
            await self.decide()

    def _spec(self) -> ScalingSpec:
        found = self._weaver.catalog.find_project()
        return found.processing.scaling if found else ScalingSpec()

    async def _decide(self, worker: str, watched: _Watched, spec: ScalingSpec) -> None:
        costs = {
            name: core_s / watched.executors.cores_each
            for name in watched.pipelines
            if (core_s := self._costing.core_s(name))
        }
        if not costs:
            return
        terms = _terms(spec, watched.executors)
        came = sum(watched.arrived.get(name, 0.0) * cost for name, cost in costs.items())
        arrived = came * terms.interval_s / max(watched.seconds, 1.0)
        waiting = sum(watched.backlog.get(name, 0.0) * cost for name, cost in costs.items())
        watched.arrived, watched.seconds = {}, 0.0
        self._judge(watched, terms, arrived, waiting)
        past = self._past(costs, terms)
        outlook = await self._outlooks.look(worker, past, terms)
        now = watched.executors
        at_s = self._weaver.clock.now().timestamp()
        load = Load(
            at_s=at_s,
            arrived=arrived,
            backlog=waiting,
            executors=min(now.running, now.asked),
            starting=max(0, now.asked - now.running),
            quiet=watched.quiet,
            spent_hours=self._spent_hours(at_s),
        )
        decision = outlook.policy.decide(load, outlook.forecast, terms)
        self._record(worker, watched, decision, terms)

    def _record(
        self, worker: str, watched: _Watched, decision: Decision, terms: ScalingTerms
    ) -> None:
        acted = decision.is_action and watched.executors.elastic
        watched.quiet = 0 if acted else watched.quiet + 1
        serving = max(1, watched.executors.running)
        recorded = ScalingDecision(
            number=self.decisions.next_number(),
            worker=worker,
            at=iso(self._weaver.clock.now()),
            had=decision.had,
            wanted=decision.wanted,
            reason=decision.reason,
            by=decision.by,
            acted=acted,
            backlog_s=decision.backlog * terms.cost_s / serving,
            expected=None if decision.expected is None else decision.expected * terms.cost_s,
            model=decision.model,
        )
        watched.open.append(recorded)
        writes = self.decisions.write(recorded)
        if acted:
            watched.wanted = decision.wanted
            writes += self._weaver.events.write(
                "executors.changed",
                worker=worker,
                had=recorded.had,
                wanted=recorded.wanted,
                reason=recorded.reason,
            )
        self._weaver.store.apply(writes, durable=False)
        if acted:
            self._weaver.changed()

    def _judge(
        self, watched: _Watched, terms: ScalingTerms, arrived: float, waiting: float
    ) -> None:
        """Say of earlier decisions what came of them, once their executors have been there for an interval."""
        serving = max(1, watched.executors.running)
        seen = Aftermath(
            arrived * terms.cost_s / terms.interval_s, waiting * terms.cost_s / serving
        )
        for one in watched.open:
            watched.since.setdefault(one.number, []).append(seen)
        ripe = [one for one in watched.open if len(watched.since[one.number]) > terms.delay]
        for one in ripe:
            self.decisions.judge(one, watched.since.pop(one.number), terms.objective_s)
        watched.open = [one for one in watched.open if one not in ripe]

    def _past(self, costs: Mapping[str, float], terms: ScalingTerms) -> Series:
        """The work of each interval so far, at what records cost now; the last interval is the newest full one."""
        step = 60 if terms.interval_s % 60 == 0 else STEP_S
        histories = {name: self.loads.history(name) for name in costs}
        begins = {name: at for name, one in histories.items() if (at := one.begins_s(step))}
        if not begins:
            return np.zeros(0)
        first = min(begins.values())
        series = {name: histories[name].series("rate_in", step) for name in begins}
        ends = [(begins[name] - first) // step + len(rates) for name, rates in series.items()]
        total = np.zeros(max(ends))
        for name, rates in series.items():
            place = (begins[name] - first) // step
            total[place : place + len(rates)] += rates * step * costs[name]
        per = round(terms.interval_s / step)
        past: Series = total[len(total) % per :].reshape(-1, per).sum(axis=1)
        return past

    def _spent_hours(self, at_s: float) -> float:
        """The executor-hours of this day so far."""
        today = at_s - at_s % DAY_S
        rows = self.loads.history(ALL).rows(60, since_s=today)
        return sum(row.mean.get("executors", 0.0) * row.step_s for row in rows) / 3600


def _interval_s(spec: ScalingSpec) -> float:
    return float(math.ceil(spec.interval_seconds / STEP_S) * STEP_S)


def _terms(spec: ScalingSpec, executors: ExecutorsNow) -> ScalingTerms:
    """What is asked, in executor-seconds of work."""
    known = executors.start_up_s
    return ScalingTerms(
        cost_s=1 / USABLE,
        start_up_s=START_UP_S if known is None else known,
        objective_s=spec.objective_seconds,
        interval_s=_interval_s(spec),
        minimum=max(1, executors.minimum) if executors.elastic else 1,
        maximum=max(1, executors.maximum) if executors.elastic else MOST_EXECUTORS,
        hours_a_day=spec.hours_a_day,
        actions_a_day=spec.actions_a_day,
    )
