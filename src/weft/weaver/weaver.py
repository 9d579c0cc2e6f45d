"""The weaver: everything it knows and does, without HTTP. Routes call it, tests may too."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from dataclasses import asdict, replace
from typing import Any

from weft.clock import Clock, SystemClock, iso
from weft.errors import WeftError
from weft.lineage.knot import Knot, RuleRef, Status
from weft.project.definition import Project
from weft.weaver.attach import RuleRequest, check_rule, checked_rule, schema_now
from weft.weaver.branches import Branches
from weft.weaver.catalog import Catalog, Desired, Stream
from weft.weaver.events import Events
from weft.weaver.fills import Fills
from weft.weaver.knots import Knots, PinRequest
from weft.weaver.leases import Leases
from weft.weaver.metrics import Metrics
from weft.weaver.repartitions import Repartitions
from weft.weaver.rollbacks import Rollbacks
from weft.weaver.rules import RuleError, Rules
from weft.weaver.store import Store, Write
from weft.weaver.store.flush import Flush
from weft.weaver.store.records import Records, put
from weft.weaver.tasks import Tasks
from weft.weaver.workers import Report, Workers
from weft.weaving.rule import Rule


class PipelineHeldError(WeftError):
    """A batch cannot run now: a rollback has the pipeline."""

    code = "pipeline.held"
    domain = "conflict"
    retryable = True

    def __init__(self, pipeline: str, hold: str) -> None:
        super().__init__(
            f"Pipeline '{pipeline}' is held by {hold}.",
            hint="It goes on by itself when that is finished.",
            pipeline=pipeline,
        )


class Weaver:
    """Rules, knots, leases and definitions over one store."""

    def __init__(self, store: Store, *, clock: Clock | None = None) -> None:
        self.store = store
        self.clock: Clock = clock or SystemClock()
        self.started = iso(self.clock.now())
        self.flush = Flush(store)
        self.records = Records(store)
        self.history = self._name_history()
        self.events = Events(self.records, self.clock)
        self.metrics = Metrics(self.clock)
        self.knots = Knots(self.records, self.clock)
        self.leases = Leases(self.records, self.clock)
        self.catalog = Catalog(self.records)
        self.rules = Rules(self.records, self.clock, self.knots, self.events)
        self.tasks = Tasks()
        self.workers = Workers(self.records, self.clock, self.catalog, self.leases)
        self.rollbacks = Rollbacks(self)
        self.fills = Fills(self)
        self.branches = Branches(self)
        self.repartitions = Repartitions(self)
        self._changed = asyncio.Event()
        self._revision = 0
        self._resumed = False

    def deploy(self, project: Project, *, dry_run: bool = False) -> dict[str, list[str]]:
        """Make a project the deployed one; pipelines that it adds or changes are started, others untouched."""
        writes, changes = self.catalog.deploy(project)
        if not dry_run and any(changes.values()):
            self.store.apply([*writes, *self.events.write("project.deployed", **changes)])
            self.changed()
        return changes

    def want(self, pipeline: str, desired: Desired) -> None:
        """Say whether a pipeline should run."""
        kind = "pipeline.started" if desired == "running" else "pipeline.stopped"
        self.store.apply(
            [self.catalog.want(pipeline, desired), *self.events.write(kind, pipeline=pipeline)]
        )
        self.changed()

    def pin(self, request: PinRequest, *, worker: str, token: int) -> dict[str, Any]:
        """Fix the rule set of a batch before it runs; a repeated batch gets the one it got first."""
        self.leases.check(request.pipeline, worker, token)
        pipeline = self.catalog.pipeline(request.pipeline)
        if pipeline.hold is not None:
            raise PipelineHeldError(pipeline.name, pipeline.hold)
        knot, previous = self.knots.pin(
            request, lambda number: self._rules_in_force(request.stream, number)
        )
        return {
            "knot": knot.to_dict(),
            "rules": [self.rules.find_version(ref).to_dict() for ref in knot.rules],
            "previous": None
            if previous is None
            else {"watermark": previous.watermark, "watermarks": previous.watermarks},
        }

    def fail(self, stream: str, reason: str, *, worker: str, token: int) -> Knot | None:
        """Note that the batch in hand of a stream failed, and why; it will run again with the same rules."""
        self.leases.check(self.catalog.stream(stream).pipeline, worker, token)
        knot = self.knots.fail(stream)
        if knot is not None:
            self.events.record("knot.failed", stream=stream, knot=knot.number, reason=reason)
        return knot

    def complete(
        self, stream: str, number: int, facts: dict[str, Any], *, worker: str, token: int
    ) -> Knot:
        """Tie a knot: record what its batch wrote and make it the head of its stream."""
        knot = self.knots.get(stream, number)
        self.leases.check(knot.pipeline, worker, token)
        tied = self.knots.complete(
            knot, facts, lambda done: [*self._note_streams(done, facts), *self._tied_event(done)]
        )
        self.events.wake()
        if knot.status is Status.IN_PROGRESS:
            self.metrics.tied(tied)
        self._guard(tied)
        return tied

    def _guard(self, knot: Knot) -> None:
        """Retire the rules whose guards this knot breaks; roll back those that ask for it."""
        for rule, reason in list(self.rules.guarded(knot)):
            self.rules.retire(rule.id, because=reason)
            if rule.on_breach == "rollback":
                self.rollbacks.begin(knot.stream, rule.since - 1)

    async def sync(self, report: Report, *, revision: int, wait: float) -> dict[str, Any]:
        """What a worker should do now; answers at once when something changed, else after `wait` seconds."""
        self.workers.note(report)
        for name, running in report.pipelines.items():
            if running.get("state_size"):
                self.metrics.state(name, running["state_size"])
        if not self._resumed:  # there is a worker now that can finish what was begun
            self._resumed = True
            self.rollbacks.resume()
            self.fills.resume()
            self.repartitions.resume()
        if revision == self._revision and not self.tasks.waiting_for(
            report.worker, self.workers.connected()
        ):
            self.workers.waiting.add(report.worker)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), wait)
            self.workers.waiting.discard(report.worker)
            self.workers.note(report)
        project = self.catalog.find_project()
        return {
            "revision": self._revision,
            "history": self.history,
            "lease_s": self.leases.duration.total_seconds(),
            "project": project.hash if project else None,
            "pipelines": self.workers.assign(report),
            "tasks": self.tasks.take(report.worker, self.workers.connected()),
        }

    async def ask(self, kind: str, arguments: dict[str, Any], *, timeout: float = 30) -> Any:
        """Have a worker do something that needs data, and wait for its answer."""
        task = self.tasks.submit(kind, arguments)
        self.changed()
        return await self.tasks.wait(task, timeout=timeout)

    def changed(self) -> None:
        """Wake the workers that wait for something to do."""
        self._revision += 1
        self._changed.set()
        self._changed = asyncio.Event()
        self.events.wake()

    async def attach(self, request: RuleRequest) -> Rule:
        """Check a rule and put it in force from the next knot of its stream on, or from a past one.

        From a past knot, a rule with an output fills it from recorded rows first; one in place is a rollback
        to that knot and the rule in force when the stream goes on.
        """
        rule = await checked_rule(self, request)
        self.rules.check_id(rule.id)  # another one may have come while Spark checked
        if request.start == "latest":
            attached = self.rules.attach(rule)
            self.declare_side(attached)
            self.changed()
            return attached
        start = int(request.start)
        self.check_start(rule, start)
        if rule.output is not None:
            return await self.fills.run(rule, start)
        await self.rollbacks.run(rule.stream, start, attach=self.rules.numbered(rule))
        return self.rules.get(rule.id)

    async def plan_attach(self, request: RuleRequest, *, knots: int) -> dict[str, Any]:
        """What a rule would do, tried on the last recorded knots of its stream; nothing changes."""
        rule = await checked_rule(self, request)
        plan: dict[str, Any] = {"rule": rule.to_dict(), "start": request.start}
        if request.start != "latest":
            self.check_start(rule, int(request.start))
            if rule.output is None:
                plan["rollback"] = (
                    await self.rollbacks.plan(rule.stream, int(request.start))
                ).to_dict()
        stream = self.catalog.stream(rule.stream)
        plan["trial"] = await self.ask(
            "try",
            {
                "rule": rule.to_dict(),
                "schema": schema_now(self, rule.stream).to_json(),
                "key": self.key_of(rule.stream),
                "knots": knots,
                "head": self.knots.head(stream.origin).number or 0,
            },
            timeout=120,
        )
        return plan

    def stateful_pipelines(self) -> list[str]:
        """The pipelines that keep windows."""
        project = self.catalog.project()
        return [name for name, spec in project.pipelines.items() if spec.window is not None]

    def state_of(self, pipeline: str, number: int | None) -> dict[str, Any]:
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
        return {
            "pipeline": pipeline,
            "epoch": knot.epoch,
            "batch": knot.batch,
            "knot": knot.number,
        }

    def key_of(self, stream: str) -> list[str]:
        """The key columns of a stream; a side stream has those of its origin."""
        origin = self.catalog.stream(stream).origin
        return list(self.catalog.project().stream(origin).key)

    def check_start(self, rule: Rule, start: int) -> None:
        """Refuse a past knot that a rule cannot start after."""
        origin = self.catalog.stream(rule.stream).origin
        head = self.knots.head(origin).number
        knot = self.knots.find(origin, start)
        if start == 0 or (knot is not None and knot.status is Status.COMPLETE):
            return
        newest = "it has no knots yet" if head is None else f"its newest is {head}"
        raise RuleError(
            f"Rule '{rule.id}' cannot start after knot {start} of stream '{rule.stream}': it has no "
            f"such live knot; {newest}.",
            code="rule.bad-start",
            hint="Start at `latest`, or after a knot of `weft stream log`; 0 is before the first.",
            stream=rule.stream,
            knot=start,
        )

    async def promote(
        self, name: str, *, percent: float | None = None, in_place: bool = False
    ) -> Rule:
        """Give a rule another share of the keys, or move it from its side stream into place."""
        rule = self.rules.get(name)
        if in_place:
            if rule.output is None:
                raise RuleError(
                    f"Rule '{name}' is in place already.",
                    code="rule.in-place",
                    domain="conflict",
                    hint="Change its share with `percent`.",
                    rule=name,
                )
            await check_rule(self, replace(rule, output=None), self.catalog.stream(rule.stream))
            rule = self.rules.change(name, "promoted into place", output=None)
        if percent is not None:
            if not 0 < percent <= 100:
                raise RuleError(
                    f"Rule '{name}' cannot be for {percent:g} % of the keys.",
                    code="rule.percent",
                    hint="`percent` is above 0 and at most 100.",
                    rule=name,
                )
            rule = self.rules.change(name, f"promoted to {percent:g} %", percent=percent)
        if percent is None and not in_place:
            raise RuleError(
                f"Rule '{name}' cannot be promoted to nothing.",
                code="rule.promote-nothing",
                hint="Give `percent`, or `in_place`, or both.",
                rule=name,
            )
        return rule

    def retire(self, name: str, *, because: str = "asked for") -> Rule:
        """End a rule; what it has woven stays."""
        return self.rules.retire(name, because=because)

    def declare_side(self, rule: Rule) -> None:
        """Make the side stream of a rule known before its first row, so that pipelines can name it."""
        if rule.output is None or self.catalog.find_stream(rule.output) is not None:
            return
        origin = self.catalog.stream(rule.stream)
        side = Stream(rule.output, origin.pipeline, origin=origin.origin, kind="side")
        self.store.apply([put("stream", side.name, record=asdict(side))])

    def _name_history(self) -> str:
        """What names this store's life: in another one, knots are counted from one again."""
        known = self.records.find("history")
        if known is None:
            known = {"id": str(uuid.uuid4())}
            self.store.apply([put("history", record=known)])
        name: str = known["id"]
        return name

    def _rules_in_force(self, stream: str, number: int) -> tuple[RuleRef, ...]:
        return self.rules.refs(self.rules.in_force(stream, number))

    def _note_streams(self, knot: Knot, facts: dict[str, Any]) -> list[Write]:
        """Streams that this knot wrote to for the first time, or with new columns."""
        writes: list[Write] = []
        for name, schema in facts["schemas"].items():
            fingerprint = schema["fingerprint"]
            known = self.catalog.find_stream(name)
            if known is not None and known.schema == fingerprint:
                continue
            stream = Stream(
                name,
                pipeline=knot.pipeline,
                origin=knot.stream,
                kind=schema["kind"],
                schema=fingerprint,
            )
            writes.append(put("stream", name, record=asdict(stream)))
            if self.catalog.schema(fingerprint) is None:
                writes.append(put("schema", fingerprint, record=schema["schema"]))
        return writes

    def _tied_event(self, knot: Knot) -> list[Write]:
        return self.events.write(
            "knot.tied",
            stream=knot.stream,
            knot=knot.number,
            rows={name: output.rows for name, output in knot.outputs.items()},
        )
