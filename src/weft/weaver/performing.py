"""The steps of operations, done: by the weaver itself where the store is concerned, by a worker where data is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weft import codec
from weft.clock import iso
from weft.lineage.facts import FilledPart
from weft.lineage.knot import Knot, Status
from weft.operations.cut import Cut
from weft.operations.operation import Operation
from weft.operations.run import Done
from weft.operations.step import (
    CatchUp,
    Clear,
    Compact,
    CompareRows,
    Copy,
    CutCheckpoint,
    CutTables,
    Divide,
    Expire,
    Forget,
    Install,
    JoinLive,
    LetGo,
    Pause,
    Plan,
    Rerun,
    Restore,
    Retract,
    Settle,
    Step,
    Stop,
    Switch,
    Unfill,
)
from weft.replays.compared import RowComparison
from weft.replays.report import first_of
from weft.replays.request import ReplayRequest
from weft.weaver.attach import schema_now
from weft.weaver.backup import back_up
from weft.weaver.catalog import Stream, store_pipeline, store_schema, store_stream
from weft.weaver.compacting import compact
from weft.weaver.deploy import install
from weft.weaver.expiring import expire
from weft.weaver.fills import CLOSE, NOT_YET, forget_fills, store_fill
from weft.weaver.forgetting import forget
from weft.weaver.knots import Head, store_head, store_knot
from weft.weaver.rules import store_rule
from weft.weaver.store import Write
from weft.weaving.rule import Deed, Rule, RuleStatus

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

WORKER_S = 3600.0
LOOK_S = 0.01


class Performer:
    """Does one step at a time; each may be done again."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._deletes: set[str] = set()
        """The operations that delete files now."""

    async def __call__(self, operation: Operation, step: Step) -> Done:
        """Do a step of an operation."""
        match step:
            case Stop():
                await self._stop(operation)
            case Plan():
                return Done(steps=await self._weaver.operations.planner.plan_again(operation))
            case CutCheckpoint():
                await self._ask(operation, step, cut=codec.to_form(step.cut))
            case Retract() | Restore():
                await self._ask(operation, step, **codec.to_form(step))
            case CutTables():
                await self._ask(operation, step, cut=codec.to_form(step.cut))
            case Settle():
                self._settle(operation, step)
            case Install():
                install(self._weaver, step.project)
            case CatchUp():
                await self._catch_up(operation, step)
            case Pause():
                await self._pause(operation, step)
            case JoinLive():
                await self._join(operation, step)
            case Unfill():
                await self._unfill(operation, step)
            case Divide():
                return Done(result=await self._ask(operation, step, **codec.to_form(step)))
            case Switch():
                self._switch(step)
            case Copy():
                return await self._copy(step)
            case Rerun():
                return await self._rerun(operation, step)
            case CompareRows():
                return await self._compare(operation, step)
            case Clear():
                await self._clear(operation, step)
            case Expire():
                return await self._deleting(operation, expire(self._weaver, operation, step))
            case Forget():
                return await self._deleting(operation, forget(self._weaver, operation, step))
            case Compact():
                return await self._deleting(operation, compact(self._weaver, operation, step))
            case LetGo():
                self._weaver.operations.grip(operation, "claimed")
        return Done()

    async def _ask(self, operation: Operation, step: Step, **arguments: Any) -> Any:
        arguments.pop("kind", None)
        return await self._weaver.ask(
            step.kind,
            {"operation": operation.id, **arguments},
            timeout=WORKER_S,
        )

    async def _deleting(self, operation: Operation, work: Awaitable[dict[str, Any]]) -> Done:
        self._deletes.add(operation.id)
        try:
            return Done(result=await work)
        finally:
            self._deletes.discard(operation.id)

    async def _copy(self, step: Copy) -> Done:
        """Copy the storage once no files are being deleted; while pipelines are held, none begin to be."""
        while self._deletes:
            await asyncio.sleep(LOOK_S)
        return Done(result=await asyncio.to_thread(back_up, self._weaver, step.name))

    async def _rerun(self, operation: Operation, step: Rerun) -> Done:
        what_if = operation.request["what_if"]
        report = await self._ask(operation, step, leg=codec.to_form(step.leg), what_if=what_if)
        result = {"legs": [*operation.result.get("legs", ()), report]}
        is_altered = any(one["what"] == "input" for one in report["mismatches"])
        return Done(steps=() if is_altered else None, result=result)

    async def _compare(self, operation: Operation, step: CompareRows) -> Done:
        """Look at the rows, unless nothing was to be different and every hash says that nothing is."""
        self._weaver.replays.forget(operation.id)
        legs = operation.result.get("legs", ())
        asked = codec.from_form(ReplayRequest, operation.request)
        if asked.what_if or first_of(legs) is not None:
            found = await self._ask(operation, step, **codec.to_form(step))
        else:
            rows = self._weaver.rows_of(step.stream, step.after, step.upto)
            found = codec.to_form(RowComparison(step.stream, step.after, step.upto, same=rows))
        return Done(result={"comparison": found})

    async def _clear(self, operation: Operation, step: Clear) -> None:
        self._weaver.replays.forget(operation.id)
        await self._ask(operation, step)

    async def _stop(self, operation: Operation) -> None:
        """Have nobody run the pipelines: workers let go of them after the batch in hand, or lose them."""
        self._weaver.operations.grip(operation, "stopped")
        self._weaver.changed()
        while any(self._weaver.leases.holder(name) for name in operation.pipelines):
            await asyncio.sleep(LOOK_S)
        for name in operation.pipelines:
            self._weaver.leases.revoke(name)

    async def _pause(self, operation: Operation, step: Pause) -> None:
        """Hold the next batch back, and wait until the one in hand has tied its knot."""
        self._weaver.operations.grip(operation, "paused")
        stream = self._weaver.catalog.pipeline(step.pipeline).stream
        while self._weaver.knots.in_hand(stream) and self._weaver.leases.holder(step.pipeline):
            await asyncio.sleep(LOOK_S)

    async def _catch_up(self, operation: Operation, step: CatchUp) -> None:
        """Weave recorded rows until the stream is only a few knots ahead."""
        weaver = self._weaver
        rule = weaver.rules.get(step.rule)
        origin = weaver.catalog.stream(rule.stream).origin
        done = rule.filled_after or 0
        while (head := weaver.knots.head(origin).number or 0) - done > CLOSE:
            await self._weave(operation, rule, done, head)
            done = head

    async def _join(self, operation: Operation, step: JoinLive) -> None:
        """Weave the rest while no batch runs, and put the rule in force from the next knot on."""
        weaver = self._weaver
        rule = weaver.rules.get(step.rule)
        origin = weaver.catalog.stream(rule.stream).origin
        head = weaver.knots.head(origin)
        if rule.since <= head.last + 1:
            return  # an earlier try has joined it
        await self._weave(operation, rule, rule.filled_after or 0, head.number or 0)
        deed = Deed(iso(weaver.clock.now()), "joined the live flow", head.last + 1)
        joined = replace(rule, since=head.last + 1, history=(*rule.history, deed))
        weaver.rules.replace(joined, "rule.joined", knot=joined.since)

    async def _weave(self, operation: Operation, rule: Rule, after: int, upto: int) -> None:
        weaver = self._weaver
        filled = await weaver.ask(
            "fill",
            {
                "operation": operation.id,
                "rule": rule.to_dict(),
                "schema": schema_now(weaver, rule.stream).to_json(),
                "key": weaver.key_of(rule.stream),
                "origin": weaver.catalog.stream(rule.stream).origin,
                "after": after,
                "upto": upto,
                "identity": codec.to_form(weaver.identity),
            },
            timeout=WORKER_S,
        )
        parts = [codec.from_form(FilledPart, form) for form in filled]
        writes = [write for part in parts for write in self._noted(part)]
        if writes:
            weaver.store.apply(writes)

    def _noted(self, part: FilledPart) -> list[Write]:
        stream = self._weaver.catalog.stream(part.stream)
        return [
            store_fill(part),
            store_schema(part.schema, part.columns),
            store_stream(replace(stream, schema=part.schema)),
        ]

    async def _unfill(self, operation: Operation, step: Unfill) -> None:
        weaver = self._weaver
        rule = weaver.rules.get(step.rule)
        if rule.since != NOT_YET:
            return  # it joined before it was given up, and what it has woven since is the stream's own
        origin = weaver.catalog.stream(rule.stream).origin
        last = weaver.knots.head(origin).last
        await self._ask(operation, step, stream=step.output, last=last)
        weaver.store.apply(forget_fills(weaver.records, step.output))
        if rule.status is RuleStatus.ACTIVE:
            weaver.rules.retire(rule.id, because=f"{operation.id} was given up")

    def _switch(self, step: Switch) -> None:
        writes = []
        for name, epoch in step.epochs.items():
            pipeline = self._weaver.catalog.find_pipeline(name)
            assert pipeline is not None
            writes.append(
                store_pipeline(
                    replace(
                        pipeline,
                        epoch=epoch if step.adopt else pipeline.epoch,
                        last_epoch=max(epoch, pipeline.last_epoch),
                    )
                )
            )
        self._weaver.store.apply(writes)

    def _settle(self, operation: Operation, step: Settle) -> None:
        """Write down in one group what the cuts made true."""
        weaver = self._weaver
        rules = self._rules_after(operation, step)
        anew = operation.request["pipelines"] if operation.kind == "recompute" else ()
        writes = [
            write for cut in step.cuts for write in self._settle_cut(cut, anew=cut.pipeline in anew)
        ]
        writes += [write for rule in rules for write in store_rule(rule)]
        weaver.store.apply(writes)
        weaver.rules.remember(rules)

    def _settle_cut(self, cut: Cut, *, anew: bool) -> list[Write]:
        """Knots change their status, the head goes back, the pipeline gets its new epoch."""
        weaver = self._weaver
        writes: list[Write] = []
        revived = {n for span in cut.revive for n in range(span.after + 1, span.upto + 1)}
        given_up: int | None = None
        for knot in weaver.knots.after(cut.stream, cut.cut_after):
            wanted = Status.COMPLETE if knot.number in revived else Status.ROLLED_BACK
            if knot.hash is None and knot.number == cut.last and cut.keep == (knot.previous or 0):
                given_up = knot.number
            if knot.status is not wanted and knot.number <= cut.last:
                writes.append(store_knot(_settled(knot, wanted)))
        head = Head(cut.keep or None, weaver.knots.head(cut.stream).last, given_up)
        pipeline = weaver.catalog.find_pipeline(cut.pipeline)
        assert pipeline is not None
        settled = replace(
            pipeline,
            epoch=cut.epoch,
            last_epoch=max(cut.epoch, pipeline.last_epoch),
            anew_after=cut.last if anew else pipeline.anew_after,
        )
        known = weaver.catalog.find_stream(cut.stream)
        if known is None or known.pipeline != cut.pipeline:
            writes.append(store_stream(Stream(cut.stream, cut.pipeline, origin=cut.stream)))
        return [*writes, store_head(cut.stream, head), store_pipeline(settled)]

    def _rules_after(self, operation: Operation, step: Settle) -> list[Rule]:
        weaver = self._weaver
        now = iso(weaver.clock.now())
        rules = []
        for name in step.retire:
            rule = weaver.rules.get(name)
            rules.append(
                replace(
                    rule,
                    status=RuleStatus.RETIRED,
                    retired=now,
                    retired_because=operation.id,
                    until=step.to,
                    history=(*rule.history, Deed(now, f"retired by {operation.id}", step.to)),
                )
            )
        for name in step.restore:
            rule = weaver.rules.get(name)
            rules.append(
                replace(
                    rule,
                    status=RuleStatus.ACTIVE,
                    retired=None,
                    retired_because=None,
                    until=None,
                    history=(*rule.history, Deed(now, f"restored by {operation.id}", step.to)),
                )
            )
        if step.attach is not None:
            since = weaver.knots.head(step.stream).last + 1
            deed = Deed(now, f"attached by {operation.id}", since)
            rules.append(
                replace(
                    step.attach,
                    since=since,
                    attached=step.attach.attached or now,
                    history=(*step.attach.history, deed),
                )
            )
        return rules


def _settled(knot: Knot, wanted: Status) -> Knot:
    if wanted is Status.ROLLED_BACK and knot.is_open:
        return knot.becoming(wanted, reason=knot.reason or "its batch was given up")
    return knot.becoming(wanted)
