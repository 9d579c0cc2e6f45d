"""The plan of a replay: which pipelines are run again, over which of their knots, from which state, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weft import codec
from weft.lineage.knot import Knot
from weft.operations.cut import Reach
from weft.operations.step import CompareRows, Rerun, Step
from weft.project.change import compare_pipeline
from weft.project.definition import Project
from weft.queries.change import compare_kept
from weft.replays.leg import KeptState, Leg, Phase
from weft.replays.request import ReplayRequest
from weft.weaver.catalog import Pipeline
from weft.weaver.code_of_knots import CodeOfKnots, ReplayError, line_of, meaning, unlike
from weft.weaver.reaching import check_leg
from weft.weaver.replays import tried_project

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver


@dataclass(frozen=True)
class _Need:
    """Which knots of a stream are wanted: from behind `begin`, of which those after `after` are the point of it."""

    begin: int
    after: int
    upto: int

    def also(self, other: _Need | None) -> _Need:
        """What serves both."""
        if other is None:
            return self
        return _Need(
            min(self.begin, other.begin), min(self.after, other.after), max(self.upto, other.upto)
        )


async def plan_replay(
    weaver: Weaver, request: Mapping[str, Any], *, exact: bool = True
) -> tuple[Step, ...]:
    """The steps of a replay: its legs in the order data moves, then the comparison."""
    asked = codec.from_form(ReplayRequest, request)
    legs = await _Plan(weaver, asked, exact).legs()
    return (
        *(Rerun(leg) for leg in legs),
        CompareRows(asked.stream, asked.after, asked.upto),
    )


async def legs_of(weaver: Weaver, asked: ReplayRequest) -> list[Leg]:
    """The legs of a replay, those first that others read."""
    return await _Plan(weaver, asked, exact=True).legs()


class _Plan:
    def __init__(self, weaver: Weaver, asked: ReplayRequest, exact: bool) -> None:
        self._weaver = weaver
        self._asked = asked
        self._exact = exact
        self._code = CodeOfKnots(weaver)
        self._tried: dict[str, Project | None] = {}
        """What takes the place of the definition of a pipeline, for those that are defined otherwise."""

    async def legs(self) -> list[Leg]:
        """The legs, those first that others read."""
        asked, catalog = self._asked, self._weaver.catalog
        target = catalog.pipeline(self._own(asked.stream))
        if asked.after >= asked.upto:
            raise ReplayError(
                f"There is no knot after {asked.after} and up to {asked.upto}.",
                hint="Name the first and the last knot to run again, as 3..9.",
            )
        if asked.what_if.redefines:
            self._try(target)
        pipelines = self._chosen(target)
        needs: dict[str, _Need] = {
            target.name: _Need(asked.after, asked.after, asked.upto),
        }
        legs: list[Leg] = []
        for pipeline in reversed(catalog.in_order(pipelines)):
            leg = await self._leg(pipeline, needs[pipeline.name], pipelines)
            legs.insert(0, leg)
            for name, need in self._needs(leg, pipelines):
                needs[name] = need.also(needs.get(name))
        return legs

    def _own(self, stream: str) -> str:
        """The pipeline of a stream that has knots of its own."""
        found = self._weaver.catalog.stream(stream)
        if found.origin != stream:
            raise ReplayError(
                f"Stream '{stream}' is written together with '{found.origin}' and is replayed with it.",
                code="replay.side-stream",
                hint=f"Replay '{found.origin}'.",
                stream=stream,
            )
        return found.pipeline

    def _chosen(self, target: Pipeline) -> list[Pipeline]:
        """The pipelines that are run: those that are different or asked for, and all between them and the target."""
        above = self._above(target)
        start = self._own(self._asked.source) if self._asked.source else None
        if start is not None and start not in above:
            raise ReplayError(
                f"Nothing of stream '{self._asked.source}' comes into '{self._asked.stream}'.",
                hint=f"See what does with `weft lineage {self._asked.stream}`.",
                stream=self._asked.source,
            )
        first = {name for name, one in above.items() if self._is_different(one)}
        if self._asked.what_if and not first:
            raise ReplayError(
                f"Nothing that is different comes into stream '{self._asked.stream}'.",
                code="replay.no-effect",
                hint="Replay a stream that the change reaches.",
                stream=self._asked.stream,
            )
        first |= {start} if start else set()
        first = first or {target.name}
        return [one for name, one in above.items() if first & set(self._above(one))]

    def _above(self, pipeline: Pipeline) -> dict[str, Pipeline]:
        """A pipeline and all that it is made from."""
        catalog = self._weaver.catalog
        found = {pipeline.name: pipeline}
        waiting = [pipeline]
        while waiting:
            for stream in waiting.pop().inputs:
                known = catalog.find_stream(stream)
                writer = catalog.find_pipeline(known.pipeline) if known else None
                if writer is not None and writer.name not in found:
                    found[writer.name] = writer
                    waiting.append(writer)
        return found

    def _is_different(self, pipeline: Pipeline) -> bool:
        """Whether what is asked for changes what this pipeline itself does."""
        what_if, written = self._asked.what_if, self._written(pipeline)
        if what_if.rules_on(written) or set(what_if.added) & set(written):
            return True
        rules = self._weaver.rules
        if any(rules.get(name).stream in written for name in what_if.without):
            return True
        return self._is_redefined(pipeline)

    def _try(self, target: Pipeline) -> None:
        """Find the pipelines that would have made other rows of the same records; how batches are cut is no matter.

        What is tried is compared with what ran in those knots, whatever is deployed by now.
        """
        spans = {target.name: (self._asked.after, self._asked.upto)}
        for pipeline in reversed(self._weaver.catalog.in_order(list(self._above(target).values()))):
            after, upto = spans.get(pipeline.name, (0, 0))
            for stream in pipeline.inputs:
                known = self._weaver.catalog.find_stream(stream)
                if known is not None:
                    begin, end = (self._consumed(pipeline.stream, n, stream) for n in (after, upto))
                    before = spans.get(known.pipeline, (begin, end))
                    spans[known.pipeline] = min(before[0], begin), max(before[1], end)
            if upto:
                self._tried[pipeline.name] = self._redefinition(pipeline, after, upto)

    def _redefinition(self, pipeline: Pipeline, after: int, upto: int) -> Project | None:
        """The project that takes the place of those by which some knots of a pipeline were made, if it means others."""
        versions = self._weaver.catalog
        ran = {
            self._code.of(knot)[0] for knot in line_of(self._weaver, pipeline.stream, after, upto)
        }
        tried = tried_project(self._weaver, self._ran(pipeline, upto), self._asked.what_if)
        meant = meaning(tried, pipeline)
        return (
            tried if any(meaning(versions.version(one), pipeline) != meant for one in ran) else None
        )

    def _is_redefined(self, pipeline: Pipeline) -> bool:
        return self._tried.get(pipeline.name) is not None

    def _written(self, pipeline: Pipeline) -> tuple[str, ...]:
        beside = self._weaver.catalog.written_by(pipeline.name)
        return tuple(dict.fromkeys([pipeline.stream, *beside]))

    async def _leg(self, pipeline: Pipeline, need: _Need, chosen: list[Pipeline]) -> Leg:
        made = {stream for one in chosen for stream in self._written(one)}
        written = self._written(pipeline)
        leg = Leg(
            pipeline=pipeline.name,
            stream=pipeline.stream,
            begin=need.begin,
            after=need.after,
            upto=need.upto,
            phases=(),
            streams=written,
            recorded=tuple(name for name in pipeline.inputs if name not in made),
            edits=self._only_edits(pipeline, made),
            speed=self._asked.speed,
        )
        if not leg.edits:
            leg = await self._begun(leg, pipeline)
        check_leg(self._weaver, leg, compares=self._compares(pipeline))
        knots = line_of(self._weaver, leg.stream, leg.begin, leg.upto)
        phases = tuple(self._phases(leg, pipeline, knots))
        return replace(
            leg,
            phases=phases,
            redefined=self._is_redefined(pipeline),
            first=next((knot.number for knot in knots if knot.number > leg.after), 0),
            unlike=unlike(self._weaver, pipeline.name, phases),
            knots=len(knots),
            rows=sum(knot.ledger.rows_in for knot in knots),
            bytes=sum(out.bytes for knot in knots for out in knot.outputs.values()),
        )

    def _compares(self, pipeline: Pipeline) -> bool:
        """Whether the rows of a leg are compared with recorded ones, and not their hashes alone."""
        own = self._weaver.catalog.stream(self._asked.stream).pipeline == pipeline.name
        return own and bool(self._asked.what_if)

    def _only_edits(self, pipeline: Pipeline, made: set[str]) -> bool:
        """Whether recorded rows of the stream can be changed as they are, without running what made them."""
        what_if, written = self._asked.what_if, self._written(pipeline)
        has_more = what_if.rules_on(written) or set(what_if.added) & set(written)
        without = any(self._weaver.rules.get(name).stream in written for name in what_if.without)
        redefined = self._is_redefined(pipeline)
        reads_made = bool(set(pipeline.inputs) & made)
        asked = self._asked.source is not None and self._own(self._asked.source) == pipeline.name
        if set(what_if.added) & set(written) and (without or redefined or reads_made):
            raise ReplayError(
                f"Records cannot be added to stream '{pipeline.stream}' while its pipeline is run again.",
                hint="Add them to what it reads, or leave the other change out.",
                stream=pipeline.stream,
            )
        return bool(has_more) and not (without or redefined or reads_made or asked)

    async def _begun(self, leg: Leg, pipeline: Pipeline) -> Leg:
        """A leg with the state that it begins with: that of its first knot, or of one before that is kept."""
        ran = self._ran(pipeline, leg.upto)
        tried = self._tried.get(pipeline.name)
        spec = (tried or ran).pipelines.get(pipeline.name)
        if spec is None and pipeline.name in ran.pipelines:
            raise ReplayError(
                f"The project that is to be tried has no pipeline '{pipeline.name}'.",
                hint="Declare it, or replay a stream that does not need it.",
                pipeline=pipeline.name,
            )
        if spec is None or not spec.stateful:
            return leg
        if spec.inputs != pipeline.inputs:
            raise ReplayError(
                f"Pipeline '{pipeline.name}' would read {', '.join(spec.inputs)}, and has read "
                f"{', '.join(pipeline.inputs)}: its batches cannot be cut as they were.",
                hint="Declare a new pipeline beside it.",
                pipeline=pipeline.name,
            )
        if self._starts_anew(pipeline, ran):
            return replace(leg, begin=0, stateful=True)
        reach = (await self._weaver.operations.planner.reach([pipeline], self._exact)).get(
            pipeline.name
        )
        state = self._kept_state(leg, reach)
        begin = state.knot if state else 0
        return replace(leg, begin=begin, state=state, stateful=True)

    def _starts_anew(self, pipeline: Pipeline, ran: Project) -> bool:
        """Whether the definition that is tried cannot go on from what the one that ran has kept."""
        tried = self._tried.get(pipeline.name)
        if tried is None:
            return False
        changes = (
            *compare_pipeline(pipeline.name, ran, tried),
            *compare_kept(pipeline.name, ran, tried),
        )
        return any(change.verdict != "kept" for change in changes)

    def _kept_state(self, leg: Leg, reach: Reach | None) -> KeptState | None:
        """The newest state that is kept at or before the first knot of a leg; None starts from nothing."""
        number = leg.begin
        while number:
            knot = self._weaver.knots.get(leg.stream, number)
            if reach is None or reach.has(knot):
                return KeptState(knot.number, knot.epoch, knot.batch)
            number = knot.previous or 0
        return None

    def _needs(self, leg: Leg, chosen: list[Pipeline]) -> Iterator[tuple[str, _Need]]:
        """Which knots of other legs' streams a leg reads."""
        catalog = self._weaver.catalog
        names = {one.name for one in chosen}
        for stream in () if leg.edits else catalog.pipeline(leg.pipeline).inputs:
            known = catalog.stream(stream)
            if known.pipeline in names:
                begin, after, upto = (
                    self._consumed(leg.stream, number, stream)
                    for number in (leg.begin, leg.after, leg.upto)
                )
                yield known.pipeline, _Need(begin, after, upto)

    def _consumed(self, stream: str, number: int, source: str) -> int:
        knot = self._weaver.knots.get(stream, number) if number else None
        return knot.offsets.inputs.get(source, 0) if knot else 0

    def _phases(self, leg: Leg, pipeline: Pipeline, knots: list[Knot]) -> Iterator[Phase]:
        """The definitions that are run, each with its knots."""
        phases: list[Phase] = []
        anew = leg.stateful and leg.state is None
        tried = self._tried.get(pipeline.name)
        for knot in knots:
            if tried is not None and (anew or knot.number > leg.after):
                project = tried.hash
                version = self._code.declared(project, tried)[pipeline.name]
            else:
                project, version = self._code.of(knot)
            last = phases[-1] if phases else None
            if last is not None and (last.project, last.version) == (project, version):
                phases[-1] = replace(last, upto=knot.number)
            else:
                after = last.upto if last else leg.begin
                phases.append(Phase(project, version, after, knot.number))
        yield from phases

    def _ran(self, pipeline: Pipeline, number: int) -> Project:
        """The project by which a knot was made."""
        knot = self._weaver.knots.get(pipeline.stream, number)
        return self._weaver.catalog.version(self._code.of(knot)[0])
