"""Plans of operations from what the weaver knows now: asked for by people, and again once everything stands still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.operations.cut import Affected, Cut, Reach, plan_cuts
from weft.operations.operation import Kind, Operation
from weft.operations.rollback import RollbackError, SinkNames, check_target, rollback_steps
from weft.operations.step import (
    CatchUp,
    Copy,
    Divide,
    JoinLive,
    LetGo,
    Pause,
    Plan,
    Step,
    Stop,
    Switch,
)
from weft.sinks.options import read_options
from weft.weaver.backup import place_of
from weft.weaver.catalog import NameMissingError, Pipeline
from weft.weaver.compacting import plan_compaction
from weft.weaver.deploy import recomputed
from weft.weaver.reaching import check_rows
from weft.weaver.replaying import plan_replay
from weft.weaver.tasks import NoWorkerError
from weft.weaver.trimming import plan_trim
from weft.weaving.rule import Rule, RuleStatus

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

MOST_PARTITIONS = 10_000
ALONE_S = 2.0
"""So long a plan waits for a worker while none is there."""


class PlanStaleError(WeftError):
    """The project changed between the request and the moment everything stood still; nothing was changed."""

    code = "operation.stale"
    domain = "conflict"
    hint = "Ask again."


@dataclass(frozen=True)
class Planned:
    """The pipelines that an operation takes for itself, and its steps."""

    pipelines: tuple[str, ...]
    steps: tuple[Step, ...]


class Planner:
    """Makes the plan of each kind of operation."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver

    async def plan(self, kind: Kind, request: Mapping[str, Any], *, exact: bool = False) -> Planned:
        """What an operation of this kind would do now.

        While no worker is there to say how far back state is kept, it is taken to be, unless the plan must be `exact`.
        """
        match kind:
            case "rollback":
                return await self._rollback(request, exact)
            case "fill":
                return self._fill(request)
            case "repartition":
                return self._repartition(request)
            case "recompute":
                return await self._recompute(request, exact)
            case "backup":
                return self._backup(request)
            case "replay":
                return Planned((), await plan_replay(self._weaver, request, exact=exact))
            case "expire":
                return Planned((), await plan_trim(self._weaver, request))
            case "compact":
                return Planned((), plan_compaction(self._weaver, request))

    async def plan_again(self, operation: Operation) -> tuple[Step, ...]:
        """The steps after `Plan`, now that the pipelines stand still."""
        planned = await self.plan(operation.kind, operation.request, exact=True)
        if not set(planned.pipelines) <= set(operation.pipelines):
            more = ", ".join(sorted(set(planned.pipelines) - set(operation.pipelines)))
            raise PlanStaleError(
                f"{operation.id} is given up: the project was changed meanwhile, and {more} would "
                "have to be held too.",
                hint="Ask for it again.",
                operation=operation.id,
            )
        steps = planned.steps
        place = next((n for n, step in enumerate(steps) if isinstance(step, Plan)), None)
        after = steps[place + 1 :] if place is not None else ()
        # What is let go are all pipelines that were taken, also those that turned out not to be touched.
        kept = tuple(step for step in after if not isinstance(step, LetGo))
        return (*kept, LetGo(operation.pipelines))

    async def _rollback(self, request: Mapping[str, Any], exact: bool) -> Planned:
        weaver = self._weaver
        stream, to = str(request["stream"]), int(request["to"])
        found = weaver.catalog.stream(stream)
        if found.origin != stream:
            raise RollbackError(
                f"Stream '{stream}' is written together with '{found.origin}' and cannot be rolled "
                "back by itself.",
                code="rollback.side-stream",
                hint=f"Roll '{found.origin}' back, or retire the rule that writes '{stream}'.",
                stream=stream,
            )
        pipelines = weaver.catalog.downstream(self._writer(found.pipeline))
        if request.get("only_live"):
            before = self._before_rules(stream, frozenset(request.get("rules", ())), after=to)
            if before is None:
                names = tuple(pipeline.name for pipeline in pipelines)
                return Planned(names, (Stop(names), Plan(), LetGo(names)))
            to = before
        target = weaver.knots.find(stream, to) if to else None
        head = weaver.knots.head(stream).number
        in_hand = weaver.knots.in_hand(stream)
        check_target(target, stream, to, head=head, in_hand=in_hand)
        self._check_return(target)
        cuts = await self._cuts(pipelines, {found.pipeline: to}, exact)
        for cut in cuts:
            check_rows(weaver, cut)
        attach = request.get("attach")
        rule = None if attach is None else Rule.from_dict(attach)
        if rule is not None and rule.attached is None:
            weaver.rules.check_id(rule.id)  # another one may have taken it meanwhile
        steps = rollback_steps(
            cuts,
            stream=stream,
            to=to,
            retire=self._retiring(cuts, request.get("retire", ())),
            restore=tuple(rule.id for rule in self._restored(cuts)),
            attach=rule,
            sinks=self._sinks(pipelines),
        )
        return Planned(tuple(cut.pipeline for cut in cuts), steps)

    async def _recompute(self, request: Mapping[str, Any], exact: bool) -> Planned:
        """Everything that the new version of the project makes otherwise is made again from recorded input."""
        weaver = self._weaver
        project = weaver.catalog.version(request["project"])
        names = [str(name) for name in request["pipelines"]]
        affected = recomputed(weaver, project, names)
        cuts = await self._cuts(affected, dict.fromkeys(names, 0), exact)
        sinks = self._sinks(affected)
        for cut in cuts:
            # What it is made again from must be there; its own old rows only where a sink has to give them back.
            check_rows(weaver, cut, own=bool(sinks.get(cut.pipeline, SinkNames()).retract))
        steps = rollback_steps(
            cuts,
            stream=affected[0].stream,
            to=0,
            install=project.hash,
            sinks=sinks,
        )
        return Planned(tuple(cut.pipeline for cut in cuts), steps)

    def _fill(self, request: Mapping[str, Any]) -> Planned:
        rule = self._weaver.rules.get(str(request["rule"]))
        assert rule.output is not None
        pipeline = self._weaver.catalog.stream(rule.stream).pipeline
        steps: tuple[Step, ...] = (
            CatchUp(rule.id, rule.stream, rule.output),
            Pause(pipeline),
            JoinLive(rule.id, rule.stream, rule.output),
            LetGo((pipeline,)),
        )
        return Planned((pipeline,), steps)

    def _repartition(self, request: Mapping[str, Any]) -> Planned:
        weaver = self._weaver
        pipeline, partitions = str(request["pipeline"]), int(request["partitions"])
        place = weaver.state_of(pipeline, None)
        if not 1 <= partitions <= MOST_PARTITIONS:
            raise WeftError(
                f"State cannot be kept in {partitions} partitions.",
                code="repartition.partitions",
                domain="user",
                hint=f"Choose 1 to {MOST_PARTITIONS}; as many as cores is a good start.",
                pipeline=pipeline,
            )
        found = weaver.catalog.pipeline(pipeline)
        new_epoch = found.last_epoch + 1
        steps: tuple[Step, ...] = (
            Stop((pipeline,)),
            Plan(),
            Divide(pipeline, partitions, place.batch, place.epoch, new_epoch),
            Switch({pipeline: new_epoch}),
            LetGo((pipeline,)),
        )
        return Planned((pipeline,), steps)

    def _backup(self, request: Mapping[str, Any]) -> Planned:
        name = str(request["name"])
        place_of(self._weaver.storage, name)
        names = tuple(pipeline.name for pipeline in self._weaver.catalog.pipelines())
        return Planned(names, (Stop(names), Plan(), Copy(name), LetGo(names)))

    def _writer(self, pipeline: str) -> Pipeline:
        found = self._weaver.catalog.find_pipeline(pipeline)
        if found is None:
            names = [one.name for one in self._weaver.catalog.pipelines()]
            raise NameMissingError("pipeline", pipeline, names)
        return found

    def _before_rules(self, stream: str, rules: frozenset[str], *, after: int) -> int | None:
        """The live knot before the first one after `after` that has met one of these rules (none given: any).

        None when there is none: another rollback has taken them out already. Knot `after` itself may be rolled back,
        where a rule was attached before the first knot that came after a rollback.
        """
        before: int | None = None
        knot = self._weaver.knots.newest(stream)
        while knot is not None and knot.number > after:
            if not rules or rules & {ref.id for ref in knot.rules}:
                before = knot.previous or 0
            knot = self._weaver.knots.find(stream, knot.previous) if knot.previous else None
        return before

    def _check_return(self, target: Knot | None) -> None:
        """Refuse to bring a knot back that does not fit what is there now.

        If its input is rolled back, its rows would be there twice once that is read again. If its pipeline was made
        again by another definition, that cannot read the state which this one left behind.
        """
        if target is None or target.status is not Status.ROLLED_BACK:
            return
        pipeline = self._weaver.catalog.find_pipeline(target.pipeline)
        if pipeline is not None and target.number <= pipeline.anew_after:
            raise RollbackError(
                f"Stream '{target.stream}' cannot go back to knot {target.number}: pipeline '{target.pipeline}' "
                "was made again since, by another definition.",
                code="rollback.made-anew",
                domain="conflict",
                hint=f"Knots after {pipeline.anew_after} can come back; 0 starts from nothing.",
                stream=target.stream,
                knot=target.number,
            )
        for name, consumed in target.offsets.inputs.items():
            stream = self._weaver.catalog.find_stream(name)
            origin = stream.origin if stream else name
            knot = self._weaver.knots.find(origin, consumed) if consumed else None
            if consumed and (knot is None or knot.status is not Status.COMPLETE):
                raise RollbackError(
                    f"Stream '{target.stream}' cannot go back to knot {target.number}: that has consumed knot "
                    f"{consumed} of stream '{name}', which is rolled back.",
                    code="rollback.input-gone",
                    domain="conflict",
                    hint=f"Bring knot {consumed} of '{origin}' back first, or choose another knot.",
                    stream=target.stream,
                    knot=target.number,
                    input=name,
                    consumed=consumed,
                )

    async def _cuts(
        self, pipelines: list[Pipeline], targets: Mapping[str, int], exact: bool
    ) -> tuple[Cut, ...]:
        weaver = self._weaver
        affected = []
        for pipeline in pipelines:
            head = weaver.knots.head(pipeline.stream)
            # One that it wrote before it was given another stays as it is.
            written = [
                name
                for name in weaver.catalog.written_by(pipeline.name)
                if weaver.catalog.stream(name).origin == pipeline.stream
            ]
            affected.append(
                Affected(
                    pipeline=pipeline.name,
                    stream=pipeline.stream,
                    streams=tuple(dict.fromkeys([*written, pipeline.stream])),
                    inputs=pipeline.inputs,
                    # Batches of a stream are known by their epoch, also those of who wrote it before.
                    epoch=max(pipeline.last_epoch, weaver.knots.last_epoch(pipeline.stream)) + 1,
                    keep_epoch=pipeline.epoch,
                    head=head.number,
                    last=head.last,
                )
            )
        reach = await self.reach(pipelines, exact)
        return plan_cuts(weaver.knots, affected, targets=targets, reach=reach)

    async def reach(self, pipelines: list[Pipeline], exact: bool) -> dict[str, Reach]:
        """How far back the state of each pipeline that has any is kept."""
        epochs = {
            one.name: list(range(one.epoch + 1)) for one in pipelines if self._is_stateful(one)
        }
        if not epochs:
            return {}
        try:
            found = await self._weaver.ask(
                "reach", {"pipelines": epochs}, timeout=60, taken_within=ALONE_S
            )
        except NoWorkerError:
            if exact:
                raise
            return {}
        return {
            name: Reach(
                frozenset(reach["keyframes"]),
                {int(epoch): first for epoch, first in reach["earliest"].items()},
            )
            for name, reach in found.items()
        }

    def _is_stateful(self, pipeline: Pipeline) -> bool:
        spec = self._weaver.catalog.version(pipeline.project).pipelines.get(pipeline.name)
        return spec is not None and spec.stateful

    def _sinks(self, pipelines: list[Pipeline]) -> dict[str, SinkNames]:
        """Where the rows of each pipeline go besides its table; removed ones no longer send any."""
        project = self._weaver.catalog.project()
        names: dict[str, SinkNames] = {}
        for pipeline in pipelines:
            if pipeline.removed or pipeline.stream not in project.streams:
                continue
            spec = project.pipelines.get(pipeline.name)
            declared = spec.sinks if spec else project.stream(pipeline.stream).sinks
            options = [read_options(sink.kind, sink.options) for sink in declared]
            names[pipeline.name] = SinkNames(
                retract=tuple(one.place for one in options if one.takes_back),
                final=tuple(one.place for one in options if not one.takes_back),
            )
        return names

    def _retiring(self, cuts: tuple[Cut, ...], asked: Sequence[str]) -> tuple[str, ...]:
        """The rules that end with a rollback: those that came after the knot, and those that are to end."""
        active = {rule.id for rule in self._weaver.rules.all(active=True)}
        ended = [rule.id for rule in self._retired(cuts)]
        return tuple(dict.fromkeys([*ended, *(name for name in asked if name in active)]))

    def _retired(self, cuts: tuple[Cut, ...]) -> list[Rule]:
        """Rules that were attached after the knots gone back to, on any stream that loses some."""
        keep = {
            stream: cut.keep
            for cut in cuts
            if cut.keep != (self._weaver.knots.head(cut.stream).number or 0)
            for stream in cut.streams
        }
        return [
            rule
            for rule in self._weaver.rules.all(active=True)
            if rule.stream in keep and rule.since > keep[rule.stream]
        ]

    def _restored(self, cuts: tuple[Cut, ...]) -> list[Rule]:
        """Rules that an earlier rollback retired and that were in force in the knots that come back."""
        named: set[str] = set()
        for cut in cuts:
            for span in cut.revive:
                knot = self._weaver.knots.find(cut.stream, span.upto)
                named |= {ref.id for ref in knot.rules} if knot else set()
        return [
            rule
            for rule in self._weaver.rules.all()
            if rule.id in named
            and rule.status is RuleStatus.RETIRED
            and (rule.retired_because or "").startswith("rollback-")
        ]
