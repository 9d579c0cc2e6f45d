"""Rollbacks: planned, written down, run by a worker while the pipelines are held, finished whatever dies on the way."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weft.clock import iso
from weft.errors import WeftError
from weft.lineage.knot import Status
from weft.logs import get_logger
from weft.replay.rollback import (
    Affected,
    Cut,
    Reach,
    RollbackError,
    RollbackPlan,
    check_target,
    plan_cuts,
)
from weft.weaver.knots import Head
from weft.weaver.store import Write
from weft.weaver.store.records import put
from weft.weaving.rule import Rule, RuleStatus

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

log = get_logger(__name__)

RELEASE_WAIT_S = 120.0
WORKER_WAIT_S = 600.0


class Rollbacks:
    """The rollbacks of a weaver: at most one at a time per pipeline."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._running: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self._begun: set[asyncio.Task[dict[str, Any]]] = set()

    async def plan(self, stream: str, to: int) -> RollbackPlan:
        """What a rollback of a stream to a knot would do now."""
        weaver = self._weaver
        found = weaver.catalog.stream(stream)
        if found.origin != stream:
            raise RollbackError(
                f"Stream '{stream}' is written together with '{found.origin}' and cannot be rolled "
                "back by itself.",
                code="rollback.side-stream",
                hint=f"Roll '{found.origin}' back, or retire the rule that writes '{stream}'.",
                stream=stream,
            )
        head = weaver.knots.head(stream)
        check_target(weaver.knots.find(stream, to), stream, to, head=head.number)
        pipelines = weaver.catalog.downstream(weaver.catalog.pipeline(found.pipeline))
        for pipeline in pipelines:
            if pipeline.hold is not None:
                raise RollbackError(
                    f"Pipeline '{pipeline.name}' is held by {pipeline.hold}.",
                    code="rollback.busy",
                    domain="conflict",
                    hint="Wait until that is finished.",
                    pipeline=pipeline.name,
                )
        return await self._plan(stream, to)

    async def _plan(self, stream: str, to: int) -> RollbackPlan:
        weaver = self._weaver
        found = weaver.catalog.stream(stream)
        pipelines = weaver.catalog.downstream(weaver.catalog.pipeline(found.pipeline))
        written = list(weaver.catalog.streams())
        affected = []
        for pipeline in pipelines:
            head = weaver.knots.head(pipeline.stream)
            names = tuple(s.name for s in written if s.pipeline == pipeline.name)
            affected.append(
                Affected(
                    pipeline.name,
                    pipeline.stream,
                    names,
                    pipeline.inputs,
                    pipeline.epoch,
                    head.number,
                    head.last,
                )
            )
        cuts = plan_cuts(weaver.knots, affected, to=to, reach=await self._reach(affected))
        return RollbackPlan(
            stream=stream,
            to=to,
            cuts=cuts,
            retired=tuple(rule.id for rule in self._retired(cuts)),
            restored=tuple(rule.id for rule in self._restored(cuts)),
        )

    async def _reach(self, affected: list[Affected]) -> dict[str, Reach]:
        """How far back the state of each affected pipeline that has any is kept."""
        project = self._weaver.catalog.project()
        epochs = {
            one.pipeline: list(range(one.epoch + 1))
            for one in affected
            if one.pipeline in project.pipelines and project.pipeline(one.pipeline).stateful
        }
        if not epochs:
            return {}
        found = await self._weaver.ask("reach", {"pipelines": epochs}, timeout=60)
        return {
            name: Reach(
                frozenset(reach["keyframes"]),
                {int(epoch): first for epoch, first in reach["earliest"].items()},
            )
            for name, reach in found.items()
        }

    async def run(self, stream: str, to: int, *, attach: Rule | None = None) -> dict[str, Any]:
        """Roll a stream back, with everything downstream, and let it all go on."""
        plan = await self.plan(stream, to)
        name = f"rollback-{uuid.uuid4().hex[:8]}"
        record = {
            "id": name,
            "status": "running",
            "asked": iso(self._weaver.clock.now()),
            "plan": plan.to_dict(),
            "attach": attach.to_dict() if attach else None,
        }
        holds = [
            put("pipeline", cut.pipeline, record=self._held(cut.pipeline, name))
            for cut in plan.cuts
        ]
        told = self._weaver.events.write("rollback.started", rollback=name, stream=stream, to=to)
        self._weaver.store.apply([put("rollback", name, record=record), *holds, *told])
        self._weaver.changed()
        return await asyncio.shield(self._start(record))

    def begin(self, stream: str, to: int) -> None:
        """Roll a stream back without waiting for it."""
        task = asyncio.get_running_loop().create_task(self.run(stream, to))
        self._begun.add(task)
        task.add_done_callback(self._begun.discard)

    def resume(self) -> None:
        """Finish what was under way when the weaver died; called once at its start."""
        for record in self._weaver.records.scan("rollback"):
            if record["status"] == "running" and record["id"] not in self._running:
                log.info("%s is finished now", record["id"])
                self._start(record)

    def get(self, name: str) -> dict[str, Any]:
        """A rollback by id."""
        record: dict[str, Any] | None = self._weaver.records.find("rollback", name)
        if record is None:
            raise WeftError(
                f"There is no rollback '{name}'.",
                code="rollback.missing",
                domain="missing",
                hint="See `weft rollback --list`.",
            )
        return record

    def all(self) -> list[dict[str, Any]]:
        """All rollbacks, oldest first."""
        return sorted(self._weaver.records.scan("rollback"), key=lambda r: str(r["asked"]))

    def _start(self, record: dict[str, Any]) -> asyncio.Task[dict[str, Any]]:
        task = asyncio.get_running_loop().create_task(self._finish(record))
        self._running[record["id"]] = task
        task.add_done_callback(lambda _: self._running.pop(record["id"], None))
        return task

    async def _finish(self, record: dict[str, Any]) -> dict[str, Any]:
        """Wait until nobody runs the pipelines, have a worker cut the data, then change what is in force."""
        held = [cut["pipeline"] for cut in record["plan"]["cuts"]]
        await self._released(held)
        if not record.get("cutting"):
            # Batches that were in hand have tied their knots since: plan again, and keep to that plan.
            plan = await self._plan(record["plan"]["stream"], record["plan"]["to"])
            record = {**record, "plan": plan.to_dict(), "cutting": True}
            self._weaver.store.apply([put("rollback", record["id"], record=record)])
        plan = RollbackPlan.from_dict(record["plan"])
        await self._weaver.ask(
            "rollback",
            {
                "id": record["id"],
                "cuts": [cut.to_dict() for cut in plan.cuts],
                "offsets": self._offsets(plan),
            },
            timeout=WORKER_WAIT_S,
        )
        done = {**record, "status": "done", "finished": iso(self._weaver.clock.now())}
        writes = [write for cut in plan.cuts for write in self._settle(cut)]
        rules = self._rules_after(plan, record)
        writes += [put("rule", rule.id, record=rule.to_dict()) for rule in rules]
        writes += [put("rule-version", rule.version, record=rule.to_dict()) for rule in rules]
        told = self._weaver.events.write(
            "rollback.done", rollback=record["id"], stream=plan.stream, to=plan.to
        )
        self._weaver.store.apply([*writes, put("rollback", record["id"], record=done), *told])
        self._weaver.rules.remember(rules)
        self._weaver.changed()
        return done

    async def _released(self, pipelines: list[str]) -> None:
        deadline = asyncio.get_running_loop().time() + RELEASE_WAIT_S
        while any(self._weaver.leases.holder(name) for name in pipelines):
            if asyncio.get_running_loop().time() > deadline:
                log.warning("still waiting for workers to let go of %s", ", ".join(pipelines))
                deadline += RELEASE_WAIT_S
            await asyncio.sleep(0.01)

    def _held(self, pipeline: str, by: str) -> dict[str, Any]:
        return replace(self._weaver.catalog.pipeline(pipeline), hold=by).to_dict()

    def _offsets(self, plan: RollbackPlan) -> dict[str, Any]:
        """Where each pipeline stood at the knot it goes back to, for checkpoints that no longer know."""
        kept = {}
        for cut in plan.cuts:
            knot = self._weaver.knots.find(cut.stream, cut.keep) if cut.keep else None
            kept[cut.pipeline] = knot.offsets if knot else None
        return kept

    def _settle(self, cut: Cut) -> list[Write]:
        """Knots change their status, the head goes back, the pipeline gets its new epoch."""
        weaver = self._weaver
        writes = []
        revived = {n for run in cut.revive for n in range(run.after + 1, run.upto + 1)}
        for knot in weaver.knots.after(cut.stream, cut.cut_after):
            wanted = Status.COMPLETE if knot.number in revived else Status.ROLLED_BACK
            if knot.status is not wanted:
                changed = knot.becoming(wanted)
                writes.append(put("knot", cut.stream, knot.number, record=changed.to_dict()))
        pipeline = replace(weaver.catalog.pipeline(cut.pipeline), epoch=cut.epoch, hold=None)
        head = Head(cut.keep or None, weaver.knots.head(cut.stream).last)
        writes.append(put("head", cut.stream, record=head.to_dict()))
        writes.append(put("pipeline", cut.pipeline, record=pipeline.to_dict()))
        return writes

    def _retired(self, cuts: tuple[Cut, ...]) -> list[Rule]:
        """Rules that were attached after the knots gone back to, on any stream that is cut."""
        keep = {stream: cut.keep for cut in cuts for stream in cut.streams}
        return [
            rule
            for rule in self._weaver.rules.all(active=True)
            if rule.stream in keep and rule.since > keep[rule.stream]
        ]

    def _restored(self, cuts: tuple[Cut, ...]) -> list[Rule]:
        """Rules that an earlier rollback retired and that were in force in the knots that come back."""
        named: set[str] = set()
        for cut in cuts:
            for run in cut.revive:
                knot = self._weaver.knots.find(cut.stream, run.upto)
                named |= {ref.id for ref in knot.rules} if knot else set()
        return [
            rule
            for rule in self._weaver.rules.all()
            if rule.id in named
            and rule.status is RuleStatus.RETIRED
            and (rule.retired_because or "").startswith("rollback-")
        ]

    def _rules_after(self, plan: RollbackPlan, record: dict[str, Any]) -> list[Rule]:
        now = iso(self._weaver.clock.now())
        rules = [
            replace(
                self._weaver.rules.get(name),
                status=RuleStatus.RETIRED,
                retired=now,
                retired_because=record["id"],
                until=plan.to,
                history=(
                    *self._weaver.rules.get(name).history,
                    {"at": now, "did": f"retired by {record['id']}", "knot": plan.to},
                ),
            )
            for name in plan.retired
        ]
        rules += [
            replace(
                self._weaver.rules.get(name),
                status=RuleStatus.ACTIVE,
                retired=None,
                retired_because=None,
                until=None,
                history=(
                    *self._weaver.rules.get(name).history,
                    {"at": now, "did": f"restored by {record['id']}", "knot": plan.to},
                ),
            )
            for name in plan.restored
        ]
        if record["attach"] is not None:
            last = self._weaver.knots.head(plan.stream).last
            rules.append(replace(Rule.from_dict(record["attach"]), since=last + 1, attached=now))
        return rules
