"""The store made anew from what its tables tell, with what is left of the old one. Called by `weft store rebuild`.

In comes a storage, out comes a store that knows every knot which its tables hold, and the cuts that bring checkpoints
and diverted streams to those knots. Nothing is running meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weft.clock import Clock, iso
from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.locations.location import locate
from weft.operations.cut import Affected, Cut, Reach, plan_cuts
from weft.operations.operation import Hold, Operation, OperationStatus
from weft.project.rebuilt import project_of
from weft.streams.note import Definitions, Note
from weft.streams.storage import Storage
from weft.streams.told import Told
from weft.weaver.book import PARTITION
from weft.weaver.catalog import (
    Deployed,
    Pipeline,
    Stream,
    declared,
    store_pipeline,
    store_schema,
    store_stream,
)
from weft.weaver.expiring import ExpiredRows, store_expired
from weft.weaver.fills import store_fill
from weft.weaver.identity import KEY, StoreRecord
from weft.weaver.knots import (
    Batch,
    Head,
    KnotFloor,
    line,
    store_floor,
    store_head,
    store_knot,
    uses_of,
)
from weft.weaver.rules import store_rule
from weft.weaver.store import Write
from weft.weaver.store.records import Records, put, remove
from weft.weaving.rule import Deed, Rule, RuleStatus


class RebuildError(WeftError):
    """A store that cannot be made anew from these tables; nothing was changed."""

    code = "rebuild.refused"
    domain = "user"


@dataclass(frozen=True)
class Lines:
    """The knots of every stream, by stream and number."""

    knots: Mapping[str, Mapping[int, Knot]]

    def find(self, stream: str, number: int) -> Knot | None:
        """A knot of a stream, or None."""
        return self.knots.get(stream, {}).get(number)

    def newest(self, stream: str) -> Knot | None:
        """The newest live knot of a stream."""
        live = [k for k in self.knots.get(stream, {}).values() if k.status is Status.COMPLETE]
        return max(live, key=lambda knot: knot.number, default=None)


class Rebuild:
    """One rebuilding: what tables and the old store say, put together."""

    def __init__(
        self, old: Records, tables: Mapping[str, Told], storage: Storage, clock: Clock
    ) -> None:
        self._old = old
        self._tables = tables
        self._storage = storage
        self._now = iso(clock.now())
        self._own = {name: told for name, told in tables.items() if told.is_own}
        self.lines = Lines({name: told.knots() for name, told in self._own.items()})
        self.identity = self._identity()
        self.project = project_of(self._definitions())

    def new_knots(self) -> int:
        """How many knots the old store did not know."""
        known = {name: self._known(name) for name in self._own}
        return sum(
            _is_new(knot, known[name].get(number))
            for name, knots in self.lines.knots.items()
            for number, knot in knots.items()
        )

    def pipelines(self) -> list[Pipeline]:
        """The pipelines, in the order data moves, each in the epoch of its newest knot."""
        known = {one.name: one for one in self._old.scan(Pipeline, "catalog", "pipeline")}
        found = []
        for pipeline in declared(self.project):
            newest = self.lines.newest(pipeline.stream)
            before = known.get(pipeline.name)
            found.append(
                replace(
                    pipeline,
                    epoch=newest.epoch if newest else 0,
                    last_epoch=_last_epoch(self._storage, pipeline.name),
                    desired=before.desired if before else "running",
                    anew_after=before.anew_after if before else 0,
                    redeliver=True,
                )
            )
        return self._in_order(found)

    def cuts(self, reach: Mapping[str, Reach]) -> tuple[Cut, ...]:
        """Every pipeline cut to its newest knot whose inputs are all there."""
        pipelines = self.pipelines()
        affected = [
            Affected(
                pipeline=one.name,
                stream=one.stream,
                streams=self._written_with(one.stream),
                inputs=one.inputs,
                epoch=one.last_epoch + 1,
                keep_epoch=one.epoch,
                head=_number(self.lines.newest(one.stream)),
                last=self._last(one.stream),
            )
            for one in pipelines
        ]
        targets = {one.pipeline: one.head or 0 for one in affected if not one.inputs}
        return plan_cuts(self.lines, affected, targets=targets, reach=reach)

    def is_live(self, stream: str, after: int) -> bool:
        """Whether a table has live rows of knots after one."""
        told = self._tables.get(stream)
        return told is not None and any(number > after for number in told.live)

    def writes(self, cuts: tuple[Cut, ...]) -> Iterator[Write]:
        """Everything that the new store holds beyond, or in place of, what the old one does."""
        yield put(*KEY, value=self.identity)
        yield put("catalog", "project", value=Deployed(self.project.hash, rebuilt=True))
        yield put("projects", self.project.hash, value=self.project)
        epochs = {cut.pipeline: cut.epoch for cut in cuts}
        for pipeline in self.pipelines():
            epoch = epochs[pipeline.name]
            yield store_pipeline(replace(pipeline, epoch=epoch, last_epoch=epoch))
        for cut in cuts:
            yield from self._line(cut)
        yield from self._streams()
        for rule in self.rules():
            yield from store_rule(rule)
        for name, told in self._tables.items():
            for part in told.fills():
                yield store_fill(part)
            if told.expired:
                yield store_expired(name, ExpiredRows(told.expired, self._now, "store rebuild"))
        yield from self._floors()
        yield from self._operations()

    def rules(self) -> Iterator[Rule]:
        """Every rule that a table or the old store knows, in force if the newest knot of its stream says so."""
        known = {rule.id: rule for rule in self._old.scan(Rule, "rules", "rule")}
        for told in self._told_definitions():
            for form in told.rules:
                rule = Rule.from_dict(form)
                if rule.id not in known or known[rule.id].version != rule.version:
                    known[rule.id] = rule
        newest = [knot for name in self._own if (knot := self.lines.newest(name))]
        named = {ref.id: ref for knot in newest for ref in knot.rules}
        for rule in known.values():
            if rule.id in named:
                share = named[rule.id].percent
                yield replace(
                    rule, percent=share, status=RuleStatus.ACTIVE, retired=None, until=None
                )
            elif rule.status is RuleStatus.ACTIVE and any(rule.since <= k.number for k in newest):
                yield self._retired(rule)
            else:
                yield rule

    def _retired(self, rule: Rule) -> Rule:
        deed = Deed(self._now, "found not to be in force when the store was rebuilt", rule.since)
        return replace(
            rule,
            status=RuleStatus.RETIRED,
            retired=self._now,
            retired_because="the store was rebuilt",
            history=(*rule.history, deed),
        )

    def _identity(self) -> StoreRecord:
        """The history that the tables name, with every generation of it that is known."""
        notes = [note for told in self._tables.values() for note, _ in told.notes.values()]
        histories = {note.history for note in notes}
        if len(histories) != 1:
            listed = ", ".join(sorted(histories)) or "none"
            raise RebuildError(
                f"The tables of one storage belong to one history; those in {self._storage.root} name "
                f"{listed}.",
                hint="Move tables that were put there from elsewhere away.",
            )
        [history] = histories
        known = self._old.find(StoreRecord, *KEY)
        mine = known.generations if known is not None and known.history == history else ()
        newest = max(notes, key=lambda note: note.facts.completed if note.facts else "")
        generations = dict.fromkeys([*mine, *(note.generation for note in notes)])
        return StoreRecord(history, tuple(generations), self._now, life=newest.life)

    def _notes(self) -> Iterator[Note]:
        for told in self._own.values():
            for note, _ in told.own():
                yield note

    def _definitions(self) -> Iterable[Mapping[str, Any]]:
        """The newest definition of each pipeline."""
        newest: dict[str, Mapping[str, Any]] = {}
        for name, told in self._own.items():
            if told.floor is not None and told.floor.definitions.pipeline is not None:
                newest[name] = told.floor.definitions.pipeline
        for note in self._notes():
            if note.definitions.pipeline is not None:
                newest[note.stream] = note.definitions.pipeline
        return newest.values()

    def _told_definitions(self) -> Iterator[Definitions]:
        """All code that tables tell of, oldest first; what older knots told lies in the floor of a table's log."""
        for told in self._own.values():
            if told.floor is not None:
                yield told.floor.definitions
        yield from (note.definitions for note in self._notes())

    def _floors(self) -> Iterator[Write]:
        """Where the lines begin whose oldest knots are forgotten."""
        for name, told in self._own.items():
            first = min(told.notes, default=0)
            if told.floor is not None and first:
                before = self.lines.knots[name][first].previous_hash
                yield store_floor(name, KnotFloor(first, before, self._now, "store rebuild"))

    def _written_with(self, stream: str) -> tuple[str, ...]:
        """The tables that share the knots of a stream, its own among them."""
        return tuple(name for name, told in self._tables.items() if told.origin == stream)

    def _in_order(self, pipelines: list[Pipeline]) -> list[Pipeline]:
        ordered: list[Pipeline] = []
        waiting = list(pipelines)
        while waiting:
            unwritten = {
                s for one in waiting for s in (one.stream, *self._written_with(one.stream))
            }
            ready = [one for one in waiting if not unwritten & set(one.inputs)] or waiting
            ordered += ready
            waiting = [one for one in waiting if one not in ready]
        return ordered

    def _known(self, stream: str) -> dict[int, Knot]:
        return {knot.number: knot for knot in self._old.scan(Knot, line(stream), "knot")}

    def _last(self, stream: str) -> int:
        told = [one.last for one in self._tables.values() if one.origin == stream]
        return max([0, *told, *self._known(stream)])

    def _line(self, cut: Cut) -> Iterator[Write]:
        """The knots of a stream and where it stands; what only the old store knew is over."""
        stream, known = cut.stream, self._known(cut.stream)
        yield store_head(stream, Head(cut.keep or None, cut.last))
        found = self.lines.knots.get(stream, {})
        for number, knot in found.items():
            before = known.get(number)
            # What was sealed is kept as it was, whichever version of this code wrote it.
            kept = knot if before is None or _is_new(knot, before) else before
            status = knot.status if number <= cut.keep else Status.ROLLED_BACK
            yield store_knot(replace(kept, status=status, reason=None))
            yield put(line(stream), "batch", kept.epoch, kept.batch, value=Batch(number))
            yield from uses_of(kept)
        for number, knot in known.items():
            if number not in found and knot.status is not Status.ROLLED_BACK:
                yield store_knot(knot.becoming(Status.ROLLED_BACK, reason="it is in no table"))

    def _streams(self) -> Iterator[Write]:
        for note in self._notes():
            assert note.facts is not None and note.pinned is not None
            for name, schema in note.facts.schemas.items():
                if name in self._tables:
                    pipeline = note.pinned["pipeline"]
                    yield store_stream(
                        Stream(name, pipeline, note.stream, schema.kind, schema.fingerprint)
                    )
                    yield store_schema(schema.fingerprint, schema.schema)

    def _operations(self) -> Iterator[Write]:
        """What was under way in the old store is over."""
        for hold in self._old.scan(Hold, PARTITION, "hold"):
            yield remove(PARTITION, "hold", hold.pipeline)
        for operation in self._old.scan(Operation, PARTITION, "operation"):
            if not operation.is_over:
                over = replace(operation, status=OperationStatus.ABORTED, finished=self._now)
                yield put(PARTITION, "operation", over.id, value=over)


def _is_new(knot: Knot, known: Knot | None) -> bool:
    return known is None or known.id != knot.id or known.hash is None


def _number(knot: Knot | None) -> int | None:
    return None if knot is None else knot.number


def _last_epoch(storage: Storage, pipeline: str) -> int:
    names = locate(storage.pipeline(pipeline)).names()
    return max((int(name) for name in names if name.isdigit()), default=0)
