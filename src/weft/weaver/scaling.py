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
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from weft.clock import iso, parse_iso
from weft.errors import WeftError
from weft.logs import get_logger
from weft.project.settings import ScalingSpec
from weft.scaling.arrivals import Series
from weft.scaling.cost import MeasuredCost
from weft.scaling.history import add_up
from weft.scaling.measured import Carried, ExecutorsNow, PipelineWork, WorkerLoad
from weft.scaling.pilot import Past
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
LOOKED_BACK = 50
"""Decisions that a weaver that starts looks back at."""
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
    carried: dict[str, Carried] = field(default_factory=dict)
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
        watched = self._watched.get(worker)
        if watched is None:
            watched = self._watched[worker] = self._resumed(worker, load.executors)
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
        connected = frozenset(self._weaver.workers.connected())
        self._outlooks.keep(connected)
        self._watched = {name: one for name, one in self._watched.items() if name in connected}
        for worker, watched in list(self._watched.items()):
            try:
                await self._decide(worker, watched, self._spec())
            except WeftError as error:
                log.warning("nothing is decided for %s now: %s", worker, error.message)

    def _resumed(self, worker: str, executors: ExecutorsNow) -> _Watched:
        """A worker that is heard for the first time since the weaver started, with what was decided for it just before.

        A decision that it has not heard of is told to it now, and those that nobody judged yet will be.
        """
        terms = _terms(self._spec(), executors)
        past = self.decisions.newest(worker=worker, limit=LOOKED_BACK)
        quiet = next((place for place, one in enumerate(past) if one.acted), MOST_EXECUTORS)
        now, near = (
            self._weaver.clock.now(),
            timedelta(seconds=terms.interval_s * (terms.delay + 2)),
        )
        recent = [one for one in past if abs(now - parse_iso(one.at)) <= near]
        resumed = _Watched(executors, quiet=quiet)
        resumed.open = [one for one in reversed(recent) if one.judged is None]
        if quiet < len(recent) and executors.asked == past[quiet].had:
            resumed.wanted = past[quiet].wanted
        return resumed

    def _note(self, watched: _Watched, name: str, work: PipelineWork, at_s: float) -> None:
        pipeline = self._weaver.catalog.find_pipeline(name)
        if pipeline is None:
            return
        knot = self._weaver.knots.newest(pipeline.stream)
        before = self._busy.get(name, 0.0)
        self._busy[name] = before + LATELY * (work.run_s / max(work.seconds, 1.0) - before)
        waiting = backlog(self._weaver, name, work, knot)
        reads_streams = name in self._weaver.catalog.project().pipelines
        carried = watched.carried.setdefault(name, Carried())
        work = carried.settle(work, waiting if reads_streams else None)
        watched.arrived[name] = watched.arrived.get(name, 0.0) + work.came
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
        if work.rows_in and work.run_s and math.isfinite(complexity):
            cost = MeasuredCost(complexity, work.run_s, work.rows_in, max(1, work.batches))
            self._costing.note(name, cost)

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
        known = {name: cost for name in watched.pipelines if (cost := self._costing.find(name))}
        if not known:
            return
        each = watched.executors.cores_each
        costs = {name: cost.record_s / each for name, cost in known.items()}
        terms = _terms(spec, watched.executors)
        fixed = sum(cost.batch_s for cost in known.values()) / each * _batches(terms)
        came = sum(watched.arrived.get(name, 0.0) * cost for name, cost in costs.items())
        arrived = came * terms.interval_s / max(watched.seconds, 1.0) + fixed
        waiting = sum(watched.backlog.get(name, 0.0) * cost for name, cost in costs.items())
        watched.arrived, watched.seconds = {}, 0.0
        self._judge(watched, terms, arrived, waiting)
        past = self._past(costs, fixed, terms, spec.calendar)
        outlook = await self._outlooks.look(worker, past, terms)
        now = watched.executors
        # What the worker was not told yet, since it has not asked again, counts as done.
        asked = now.asked if watched.wanted is None else watched.wanted
        at_s = self._weaver.clock.now().timestamp()
        load = Load(
            at_s=at_s,
            arrived=arrived,
            backlog=waiting,
            executors=min(now.running, asked),
            starting=max(0, asked - now.running),
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

    def _past(
        self,
        costs: Mapping[str, float],
        fixed: float,
        terms: ScalingTerms,
        calendar: Mapping[str, tuple[str, ...]],
    ) -> Past:
        """The work of each interval so far, at what records and batches cost now, those `fixed`; the last interval is
        the newest full one."""
        step = 60 if terms.interval_s % 60 == 0 else STEP_S
        parts = [
            (begin, history.series("rate_in", step) * step * costs[name])
            for name in costs
            if (begin := (history := self.loads.history(name)).begins_s(step)) is not None
        ]
        if not parts:
            return Past(np.zeros(0))
        first, total = add_up(parts, step)
        per = round(terms.interval_s / step)
        cut = len(total) % per
        work: Series = total[cut:].reshape(-1, per).sum(axis=1) + fixed
        return Past(work, float(first + cut * step), calendar)

    def _spent_hours(self, at_s: float) -> float:
        """The executor-hours of this day so far."""
        today = at_s - at_s % DAY_S
        rows = self.loads.history(ALL).rows(60, since_s=today)
        return sum(row.mean.get("executors", 0.0) * row.step_s for row in rows) / 3600


def _interval_s(spec: ScalingSpec) -> float:
    return float(math.ceil(spec.interval_seconds / STEP_S) * STEP_S)


def _batches(terms: ScalingTerms) -> float:
    """The batches of an interval that must be: two in the time that a record may wait. More of them are made of what
    time is left."""
    return 2 * terms.interval_s / terms.objective_s


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
