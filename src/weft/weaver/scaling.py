"""How many executors each worker should have: decided every so often from its load, recorded, and judged afterwards.

What a worker measures comes in with its syncs; what it should have goes out with the answers. Load is counted in
executor-seconds of work: records that came, times what one costs at the steps and rules there are now. So a rule that
was just attached makes the whole load dearer before the first record is late. Where executors cannot be changed, the
number is advice.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from weft.clock import iso
from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.logs import get_logger
from weft.project.definition import ScalingSpec
from weft.scaling.arrivals import Series
from weft.scaling.cost import RECENT, MeasuredCost, cost_at
from weft.scaling.measured import ExecutorsNow, PipelineWork, WorkerLoad
from weft.scaling.policy import DAY_S, MOST_EXECUTORS, Decision, Load, ScalingTerms
from weft.weaver.loads import Loads, point_of
from weft.weaver.outlooks import Outlooks
from weft.weaver.store.records import put, remove
from weft.weaving.rule import Rule

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

log = get_logger(__name__)

ALL = "*"
"""The name under which the load of all pipelines of the project together is kept; no pipeline can have it."""
USABLE = 0.8
"""The share of an executor's time that work can fill: batches are planned and committed between."""
STEP_S = 5
LATELY = 0.2
"""How much the last five seconds count for how busy a pipeline is."""
KEPT = 5_000
"""So many decisions are kept."""
START_UP_S = 60.0
"""What executors are taken to need to start, until that was seen."""
LOOKED_AT = 50
"""So many knots of an input are looked at to tell how many rows wait."""
FULL = 0.95
"""A batch of so much of `queue_size` leaves records behind, how many only some sources tell."""

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
class CostView:
    """What a record of a pipeline costs, in seconds of a core."""

    pipeline: str
    complexity: float
    """Steps and rules that it goes through."""
    core_s: float
    core_s_with: float | None
    """With the rule that was asked about."""
    cores_each: float
    start_up_s: float | None
    usable: float = USABLE
    """The share of an executor's time that work can fill."""


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
    since: dict[int, list[tuple[float, float]]] = field(default_factory=dict)


class Scaling:
    """Decides for all workers of a weaver."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self.loads = Loads(weaver.records, weaver.clock)
        self._outlooks = Outlooks()
        self._watched: dict[str, _Watched] = {}
        self._costs: dict[str, deque[MeasuredCost]] = {}
        self._busy: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None
        newest = weaver.records.scan(ScalingDecision, "decisions", limit=1, reverse=True)
        self._last = next((one.number for one in newest), 0)

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
        found = self._weaver.catalog.pipeline(pipeline)
        watched = next((w for w in self._watched.values() if found.name in w.pipelines), None)
        coming = self._coming(found.name)
        measured = self._measured(found.name)
        complexity = self._complexity(found.name, coming)
        more = None
        if rule is not None:
            asked = self._weaver.rules.get(rule)
            with_rule = [*(one for one in coming if one.id != asked.id), asked]
            more = cost_at(self._complexity(found.name, with_rule), measured)
        return CostView(
            pipeline=found.name,
            complexity=complexity,
            core_s=cost_at(complexity, measured),
            core_s_with=more,
            cores_each=watched.executors.cores_each if watched else 1.0,
            start_up_s=watched.executors.start_up_s if watched else None,
        )

    async def decide(self) -> None:
        """Decide for every worker that is connected."""
        connected = self._weaver.workers.connected()
        self._watched = {name: one for name, one in self._watched.items() if name in connected}
        for worker, watched in list(self._watched.items()):
            try:
                await self._decide(worker, watched, self._spec())
            except WeftError as error:
                log.warning("nothing is decided for %s now: %s", worker, error.message)

    def decisions(self, *, worker: str | None = None, limit: int = 100) -> list[ScalingDecision]:
        """What was decided, newest first."""
        found = self._weaver.records.scan(ScalingDecision, "decisions", reverse=True)
        wanted = (one for one in found if worker in (None, one.worker))
        return [one for one, _ in zip(wanted, range(limit), strict=False)]

    def _note(self, watched: _Watched, name: str, work: PipelineWork, at_s: float) -> None:
        pipeline = self._weaver.catalog.find_pipeline(name)
        if pipeline is None:
            return
        knot = self._weaver.knots.newest(pipeline.stream)
        came = work.rows_in if work.arrived is None else work.arrived
        before = self._busy.get(name, 0.0)
        self._busy[name] = before + LATELY * (work.run_s / max(work.seconds, 1.0) - before)
        backlog = self._backlog(name, work, knot)
        watched.arrived[name] = watched.arrived.get(name, 0.0) + came
        if backlog is not None:
            watched.backlog[name] = backlog
        point = point_of(
            *(at_s, work, watched.executors),
            complexity=self._complexity(name, map(self._weaver.rules.find_version, knot.rules))
            if knot
            else math.nan,
            backlog=backlog,
            watermark_ms=knot.watermark if knot else None,
        )
        self.loads.add(name, point)
        if math.isfinite(point.per_core_s) and math.isfinite(point.complexity):
            measured = MeasuredCost(point.complexity, 1 / point.per_core_s)
            self._measured(name).append(measured)

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

    def _measured(self, name: str) -> deque[MeasuredCost]:
        """What records of a pipeline cost lately; after a start, what its history says."""
        if name not in self._costs:
            rows = self.loads.history(name).rows(60)
            found = (
                MeasuredCost(row.mean["complexity"], 1 / row.mean["per_core_s"])
                for row in rows
                if row.mean.get("per_core_s") and "complexity" in row.mean
            )
            self._costs[name] = deque(found, maxlen=RECENT)
        return self._costs[name]

    def _backlog(self, name: str, work: PipelineWork, knot: Knot | None) -> float | None:
        """How many records wait for a pipeline, as far as it can be told."""
        if work.backlog is not None:
            return float(work.backlog)
        project = self._weaver.catalog.project()
        spec = project.pipelines.get(name)
        if spec is None:
            most = project.processing.queue_size
            is_full = work.batches and work.rows_in >= FULL * most * work.batches
            return float(most) if is_full else 0.0
        if knot is None:
            return None
        taken = {parent.stream: parent.last for parent in knot.parents}
        return sum(self._rows_after(name, taken[name]) for name in spec.inputs if name in taken)

    def _rows_after(self, stream: str, number: int) -> float:
        """The rows of a stream behind a knot; of very many knots, as if all had what the newest have."""
        origin = self._weaver.catalog.stream(stream).origin
        newest = self._weaver.knots.head(origin).number or 0
        looked = [
            knot
            for knot in self._weaver.knots.log(origin, limit=LOOKED_AT)
            if knot.number > number and knot.status is Status.COMPLETE
        ]
        if not looked:
            return 0.0
        rows = sum(knot.outputs[stream].rows for knot in looked if stream in knot.outputs)
        return rows * max(1.0, (newest - number) / LOOKED_AT)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_interval_s(self._spec()))
            await self.decide()

    def _spec(self) -> ScalingSpec:
        found = self._weaver.catalog.find_project()
        return found.processing.scaling if found else ScalingSpec()

    async def _decide(self, worker: str, watched: _Watched, spec: ScalingSpec) -> None:
        costs = {name: cost for name in watched.pipelines if (cost := self._cost(name, watched))}
        if not costs:
            return
        terms = _terms(spec, watched.executors)
        came = sum(watched.arrived.get(name, 0.0) * cost for name, cost in costs.items())
        arrived = came * terms.interval_s / max(watched.seconds, 1.0)
        backlog = sum(watched.backlog.get(name, 0.0) * cost for name, cost in costs.items())
        watched.arrived, watched.seconds = {}, 0.0
        self._judge(watched, terms, arrived, backlog)
        past = self._past(costs, terms)
        outlook = await self._outlooks.look(worker, past, terms)
        now = watched.executors
        at_s = self._weaver.clock.now().timestamp()
        load = Load(
            at_s=at_s,
            arrived=arrived,
            backlog=backlog,
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
        self._last += 1
        acted = decision.is_action and watched.executors.elastic
        watched.quiet = 0 if acted else watched.quiet + 1
        if acted:
            watched.wanted = decision.wanted
        serving = max(1, watched.executors.running)
        recorded = ScalingDecision(
            number=self._last,
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
        writes = [put("decisions", recorded.number, value=recorded)]
        if recorded.number > KEPT:
            writes.append(remove("decisions", recorded.number - KEPT))
        if acted:
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
        self, watched: _Watched, terms: ScalingTerms, arrived: float, backlog: float
    ) -> None:
        """Say of earlier decisions what came of them, once their executors have been there for an interval."""
        serving = max(1, watched.executors.running)
        seen = (arrived * terms.cost_s / terms.interval_s, backlog * terms.cost_s / serving)
        still = []
        for one in watched.open:
            known = watched.since.setdefault(one.number, [])
            known.append(seen)
            if len(known) < terms.delay + 1:
                still.append(one)
                continue
            lag_s = max(lag for _, lag in known)
            verdict: Verdict = "kept" if lag_s <= terms.objective_s else "broken"
            judged = Judged(verdict, round(max(came for came, _ in known), 3), round(lag_s, 3))
            del watched.since[one.number]
            kept = replace(one, judged=judged)
            self._weaver.store.apply([put("decisions", one.number, value=kept)], durable=False)
        watched.open = still

    def _cost(self, name: str, watched: _Watched) -> float | None:
        """Executor-seconds that a record of a pipeline costs with the rules that its next batch will have."""
        measured = self._measured(name)
        if not measured or self._weaver.catalog.find_pipeline(name) is None:
            return None
        complexity = self._complexity(name, self._coming(name))
        return cost_at(complexity, measured) / watched.executors.cores_each

    def _coming(self, name: str) -> list[Rule]:
        """The rules that the next batch of a pipeline will meet."""
        stream = self._weaver.catalog.pipeline(name).stream
        return self._weaver.rules.in_force(stream, self._weaver.knots.head(stream).last + 1)

    def _complexity(self, name: str, rules: Iterable[Rule]) -> float:
        """How many steps a record of a pipeline goes through with these rules; its operator is one, and each rule."""
        spec = self._weaver.catalog.project().pipelines.get(name)
        own = len(spec.steps) + spec.stateful if spec else 0
        return 1.0 + own + sum(1 + len(rule.steps) for rule in rules)

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
