"""The weaver: everything it knows and does for every batch, without HTTP. Routes call it, tests may too."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weft.clock import Clock, SystemClock, iso
from weft.errors import WeftError
from weft.lineage.facts import Facts
from weft.lineage.identity import Identity
from weft.lineage.knot import Knot, RuleRef, Status
from weft.lineage.pin import Pinned
from weft.operations.operation import PATIENCE_S, Hold, Operation
from weft.scaling.measured import WorkerLoad
from weft.streams.storage import Storage
from weft.weaver.alerts import Alerts
from weft.weaver.amend import drop_unbegun
from weft.weaver.branches import Branches
from weft.weaver.catalog import (
    Catalog,
    Desired,
    Stream,
    store_pipeline,
    store_schema,
    store_stream,
)
from weft.weaver.events import Events
from weft.weaver.functions import Functions
from weft.weaver.guards import Guards
from weft.weaver.identity import open_generation
from weft.weaver.knots import Knots, PinRequest
from weft.weaver.leases import Leases
from weft.weaver.metrics import Metrics
from weft.weaver.operations import Operations
from weft.weaver.replays import Replays
from weft.weaver.retention import Retention
from weft.weaver.rules import Rules
from weft.weaver.scaling import Scaling
from weft.weaver.store import Store, Write
from weft.weaver.store.flush import Flush
from weft.weaver.store.records import Records
from weft.weaver.tasks import TAKEN_WITHIN_S, Tasks
from weft.weaver.watching import Watching
from weft.weaver.workers import Orders, WorkerReport, Workers
from weft.weaving.rule import Rule
from weft.windows.watermark import Watermarks

PAUSE_S = 20.0
"""For so long a batch waits at its pin for an operation that holds the next batch back."""


class PipelineHeldError(WeftError):
    """A batch cannot run now: an operation has the pipeline."""

    code = "pipeline.held"
    domain = "conflict"
    retryable = True

    def __init__(self, pipeline: str, operation: str) -> None:
        super().__init__(
            f"Pipeline '{pipeline}' is held by {operation}.",
            hint="It goes on by itself when that is finished.",
            pipeline=pipeline,
            operation=operation,
        )


@dataclass(frozen=True)
class StatePlace:
    """Where the state of a pipeline at a knot is found."""

    pipeline: str
    epoch: int
    batch: int
    knot: int


class Weaver:
    """Rules, knots, leases, operations and definitions over one store."""

    def __init__(
        self, store: Store, *, clock: Clock | None = None, storage: Storage | None = None
    ) -> None:
        self.store = store
        self.storage = storage
        self.clock: Clock = clock or SystemClock()
        self.started = iso(self.clock.now())
        self.flush = Flush(store)
        self.records = Records(store)
        self.opened = open_generation(self.records, self.clock)
        self.events = Events(self.records, self.clock)
        self.metrics = Metrics(self.clock)
        self.knots = Knots(self.records, self.clock)
        self.leases = Leases(self.records, self.clock)
        self.catalog = Catalog(self.records)
        self.rules = Rules(self.records, self.clock, self.knots, self.events)
        self.functions = Functions(self.records, self.clock, self.catalog, self.rules, self.knots)
        self.operations = Operations(self)
        self.replays = Replays(self)
        self.scaling = Scaling(self)
        self.workers = Workers(
            self.clock, self.catalog, self.leases, self.operations.is_stopped, self.scaling
        )
        self.tasks = Tasks(self.workers.connected)
        self.branches = Branches(self)
        self.guards = Guards(self)
        self.watching = Watching(self.records, self.clock, self.knots, self.events)
        self.retention = Retention(self)
        self.alerts = Alerts(self)
        self._changed = asyncio.Event()
        self._revision = 0

    @property
    def identity(self) -> Identity:
        """The history that this weaver keeps, in its present generation."""
        return self.opened.identity

    async def resume(self) -> None:
        """Go on with what was under way when the last weaver of this store stopped."""
        await self.operations.runner.resume()
        await drop_unbegun(self)
        self.guards.resume()
        self.retention.resume()
        self.scaling.resume()
        self.alerts.resume()

    def stop(self) -> None:
        """Leave everything as it is; it goes on with the next weaver."""
        self.guards.stop()
        self.retention.stop()
        self.scaling.stop()
        self.alerts.stop()
        self.operations.runner.stop()

    def want(self, pipeline: str, desired: Desired) -> None:
        """Say whether a pipeline should run."""
        kind = "pipeline.started" if desired == "running" else "pipeline.stopped"
        self.store.apply(
            [self.catalog.want(pipeline, desired), *self.events.write(kind, pipeline=pipeline)]
        )
        self.changed()

    async def pin(self, request: PinRequest, *, worker: str, token: int) -> Pinned:
        """Fix the rule set of a batch before it runs; a repeated batch gets the one it got first."""
        hold = await self._pass(request)
        self.leases.check(request.pipeline, worker, token)
        self.catalog.pipeline(request.pipeline)
        if hold is not None and hold.grip != "claimed" and not self._is_in_hand(request):
            raise PipelineHeldError(request.pipeline, hold.operation)
        knot, previous = self.knots.pin(
            request,
            lambda number: self._rules_in_force(request.stream, number),
            is_flagged=self.watching.is_flagged,
        )
        return self._pinned(knot, previous)

    def pinned(self, stream: str, *, after: int, upto: int, limit: int) -> list[Pinned]:
        """The knots in (after, upto] of a stream's line as they were pinned, newest first."""
        found: list[Pinned] = []
        knot = self.knots.get(stream, upto)
        while knot.number > after and len(found) < limit:
            previous = self.knots.find(stream, knot.previous) if knot.previous else None
            found.append(self._pinned(knot, previous))
            if previous is None:
                break
            knot = previous
        return found

    def _pinned(self, knot: Knot, previous: Knot | None) -> Pinned:
        return Pinned(
            knot=knot,
            rules=tuple(self.rules.find_version(ref) for ref in knot.rules),
            identity=self.identity,
            watermark_ms=previous.watermark if previous else None,
            watermarks=previous.watermarks if previous else Watermarks(),
        )

    async def _pass(self, request: PinRequest) -> Hold | None:
        """Wait while an operation holds the next batch of a pipeline back; the one in hand passes.

        Returns what holds the pipeline now.
        """
        deadline = asyncio.get_running_loop().time() + PAUSE_S
        while True:
            hold = self.operations.hold(request.pipeline)
            if hold is None or hold.grip != "paused" or self._is_in_hand(request):
                return hold
            if asyncio.get_running_loop().time() > deadline:
                return hold
            await asyncio.sleep(0.005)

    def _is_in_hand(self, request: PinRequest) -> bool:
        """Whether a batch was pinned before an operation took hold, and is to be finished."""
        hold = self.operations.hold(request.pipeline)
        stopped = hold is not None and hold.grip == "stopped"
        return not stopped and self.knots.find_pinned(request) is not None

    def confirm(self, stream: str, number: int, *, worker: str, token: int) -> Knot:
        """The knot of a batch whose rows are about to leave through sinks, if it still is this worker's to finish."""
        knot = self.knots.get(stream, number)
        self.leases.check(knot.pipeline, worker, token)
        return self.knots.check_open(knot)

    def fail(self, stream: str, reason: str, *, worker: str, token: int) -> Knot | None:
        """Note that the batch in hand of a stream failed, and why; it will run again with the same rules."""
        self.leases.check(self.catalog.stream(stream).pipeline, worker, token)
        knot = self.knots.fail(stream, reason)
        if knot is not None:
            self.events.record("knot.failed", stream=stream, knot=knot.number, reason=reason)
        return knot

    def complete(
        self,
        stream: str,
        number: int,
        facts: Facts,
        *,
        worker: str,
        token: int,
        series: Mapping[str, float] | None = None,
    ) -> Knot:
        """Tie a knot: record what its batch wrote and make it the head of its stream."""
        knot = self.knots.get(stream, number)
        self.leases.check(knot.pipeline, worker, token)
        tied = self.knots.complete(
            knot,
            facts,
            lambda done: [
                *self._note_streams(done, facts),
                *self._delivered(done),
                *self._tied_event(done),
            ],
        )
        self.events.wake()
        if knot.status is Status.IN_PROGRESS:
            self.metrics.tied(tied)
            for found in self.watching.tied(tied, series or {}):
                self.metrics.unusual(tied.pipeline, found.measure)
            self.guards.check(tied)
        return tied

    async def roll_back(
        self,
        stream: str,
        to: int,
        *,
        attach: Rule | None = None,
        patience_s: float = PATIENCE_S,
        by: str | None = None,
        because: str | None = None,
        queue: bool = False,
        begun: Callable[[], None] = lambda: None,
    ) -> Operation:
        """Roll a stream back, with everything downstream, and let it all go on."""
        request = {
            "stream": stream,
            "to": to,
            "attach": attach.to_dict() if attach else None,
            "patience_s": patience_s,
        }
        return await self.operations.run(
            "rollback", request, by=by, because=because, queue=queue, begun=begun
        )

    async def sync(
        self,
        report: WorkerReport,
        *,
        revision: int,
        wait: float,
        load: WorkerLoad | None = None,
    ) -> Orders:
        """What a worker should do now; answers at once when something changed, else after `wait` seconds."""
        is_new = report.worker not in self.workers.connected()
        self.workers.note(report)
        if is_new:
            self.operations.runner.nudge()  # there is a worker now that can go on with what waits
        if load is not None:
            self.scaling.heard(report.worker, load)
        for name, running in report.pipelines.items():
            if running.state_size is not None:
                self.metrics.state(name, running.state_size)
        if revision == self._revision and not self.tasks.waiting_for(report.worker):
            self.workers.waiting.add(report.worker)
            end = self.leases.soonest_end(but=report.worker)
            patience = wait if end is None else min(wait, end.total_seconds())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), patience)
            self.workers.waiting.discard(report.worker)
            self.workers.note(report)
        project = self.catalog.find_project()
        return Orders(
            revision=self._revision,
            identity=self.identity,
            lease_s=self.leases.duration.total_seconds(),
            project=project.hash if project else None,
            pipelines=self.workers.assign(report),
            patience=self.operations.patience(report.pipelines),
            tasks=tuple(self.tasks.take(report.worker)),
            called_off=tuple(self.tasks.called_off(report.worker)),
            executors=self.scaling.wanted(report.worker),
        )

    async def ask(
        self,
        kind: str,
        arguments: dict[str, Any],
        *,
        timeout: float = 30,
        taken_within: float = TAKEN_WITHIN_S,
    ) -> Any:
        """Have a worker do something that needs data, and wait for its answer."""
        task = self.tasks.submit(kind, arguments)
        self.changed()
        return await self.tasks.wait(task, timeout=timeout, taken_within=taken_within)

    def changed(self) -> None:
        """Wake the workers that wait for something to do."""
        self._revision += 1
        self._changed.set()
        self._changed = asyncio.Event()
        self.events.wake()

    def stateful_pipelines(self) -> list[str]:
        """The pipelines that keep windows."""
        project = self.catalog.project()
        return [name for name, spec in project.pipelines.items() if spec.window is not None]

    def state_of(self, pipeline: str, number: int | None) -> StatePlace:
        """Where the state of a pipeline at a knot (default: the newest) is found."""
        stream = self.catalog.pipeline(pipeline).stream
        if pipeline not in self.stateful_pipelines():
            raise WeftError(
                f"Pipeline '{pipeline}' keeps no windows.",
                code="state.none",
                domain="user",
                hint=f"Those that do: {', '.join(self.stateful_pipelines()) or 'none'}.",
                pipeline=pipeline,
            )
        wanted = self.knots.head(stream).number if number is None else number
        knot = self.knots.get(stream, wanted or 0)
        return StatePlace(pipeline, knot.epoch, knot.batch, knot.number)

    def rows_of(self, stream: str, after: int, upto: int) -> int:
        """How many rows the live knots in (after, upto] of a stream have."""
        pins = self.pinned(stream, after=after, upto=upto, limit=upto)
        return sum(one.knot.outputs[stream].rows for one in pins if stream in one.knot.outputs)

    def key_of(self, stream: str) -> list[str]:
        """The key columns of a stream; a side stream has those of its origin."""
        origin = self.catalog.stream(stream).origin
        return list(self.catalog.project().stream(origin).key)

    def _rules_in_force(self, stream: str, number: int) -> tuple[RuleRef, ...]:
        return self.rules.refs(self.rules.in_force(stream, number))

    def _note_streams(self, knot: Knot, facts: Facts) -> list[Write]:
        """Streams that this knot wrote to for the first time, or with new columns."""
        writes: list[Write] = []
        for name, schema in facts.schemas.items():
            known = self.catalog.find_stream(name)
            if known is not None and known.schema == schema.fingerprint:
                continue
            stream = Stream(
                name,
                pipeline=knot.pipeline,
                origin=knot.stream,
                kind=schema.kind,
                schema=schema.fingerprint,
                dropped=known.dropped if known else False,
            )
            writes.append(store_stream(stream))
            if self.catalog.schema(schema.fingerprint) is None:
                writes.append(store_schema(schema.fingerprint, schema.schema))
        return writes

    def _delivered(self, knot: Knot) -> list[Write]:
        """A pipeline that has tied a knot has delivered what came before it."""
        pipeline = self.catalog.find_pipeline(knot.pipeline)
        if pipeline is None or not pipeline.redeliver:
            return []
        return [store_pipeline(replace(pipeline, redeliver=False))]

    def _tied_event(self, knot: Knot) -> list[Write]:
        return self.events.write(
            "knot.tied",
            stream=knot.stream,
            knot=knot.number,
            rows={name: output.rows for name, output in knot.outputs.items()},
        )
