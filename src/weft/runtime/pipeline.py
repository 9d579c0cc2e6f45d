"""A pipeline as one worker runs it: its definition, its lease, its tables, and its line to the weaver."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pyspark.sql import SparkSession

from weft import codec
from weft.errors import WeftError
from weft.lineage.facts import Facts
from weft.lineage.fingerprint import MODULUS
from weft.lineage.knot import Knot, RuleRef, Status
from weft.lineage.pin import Pinned
from weft.project.definition import PipelineSpec, Project, StreamSpec
from weft.project.provenance import ProvenanceSpec
from weft.project.secret import definition_of
from weft.runtime import offsets
from weft.runtime.changing import AT_ONCE
from weft.runtime.client import WeaverClient
from weft.runtime.faults import Faults
from weft.runtime.series import series_of
from weft.runtime.shape import Shape, StreamedShape
from weft.runtime.shapes import choose
from weft.runtime.spine import Code
from weft.sinks import Sink
from weft.sinks.rows import ParquetRows
from weft.steps.step import Step
from weft.streams.intake import At
from weft.streams.note import Definitions
from weft.streams.pieces import row_files, rows_of
from weft.streams.read import TableReading
from weft.streams.storage import Storage
from weft.streams.tables import Tables
from weft.weaving.weave import Weave

__all__ = ["Pinned", "RunningPipeline"]

TAKEN_OVER = ("lease.lost", "knot.refused")
"""Refusals by which a worker learns that its batch is no longer its own."""


@dataclass
class Counted:
    """What a pipeline has done since it started."""

    batches: int = 0
    seconds: float = 0.0
    rows_in: int = 0
    rows_out: int = 0

    def add(self, facts: Facts) -> None:
        """Count one more batch."""
        self.batches += 1
        self.seconds += facts.duration_ms / 1000
        self.rows_in += facts.ledger.rows_in
        self.rows_out += sum(output.rows for output in facts.outputs.values())


CATCH_UP = 10
"""So many times more rows than others what is made of changing streams admits to a batch, when it is behind, and no
more than are in memory at once."""


@dataclass
class RunningPipeline:
    """One pipeline on one worker, from lease to lease."""

    name: str
    project: Project
    stream: StreamSpec
    spec: PipelineSpec | None
    """The declared pipeline, or None for the ingest pipeline of a source stream."""
    epoch: int
    token: int
    worker: str
    spark: SparkSession
    storage: Storage
    client: WeaverClient
    faults: Faults
    tables: Tables
    version: str
    feed: str | None = None
    """A folder that is read in place of the declared source: the test kit's."""
    sinks: list[Sink] = field(default_factory=list)
    draining: threading.Event = field(default_factory=threading.Event)
    weaves: dict[tuple[tuple[RuleRef, ...], ProvenanceSpec], Weave] = field(default_factory=dict)
    """The compiled weave of the rule set in force."""
    code: tuple[Weave, Code] | None = None
    """What that weave makes of the rows of any batch, once one has shown it."""
    tip: Knot | None = None
    """The last knot that it tied, and its batch."""
    kept: int = 0
    """The knot of its last keyframe."""
    counted: Counted = field(default_factory=Counted)
    """What was tied since it started; a checkpoint waits for the next batch."""
    waits: str = ""
    """What it holds changes back for, since its last batch."""
    _taken: tuple[int, offsets.Taken] | None = None
    _begun: dict[str, int] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)
    """The versions whose definitions a commit of this life holds."""

    @cached_property
    def streamed(self) -> StreamedShape:
        """Whether it ingests, relays or operates, as Spark runs it."""
        return choose(self)

    @property
    def shape(self) -> Shape:
        """The same, as the spine sees it."""
        return self.streamed

    @property
    def inputs(self) -> tuple[str, ...]:
        """The streams that it reads."""
        return self.spec.inputs if self.spec else ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of its definition."""
        return self.spec.steps if self.spec else ()

    @property
    def checkpoint(self) -> str:
        """Its checkpoint directory."""
        return self.storage.checkpoint(self.name, self.epoch)

    @property
    def label(self) -> str:
        """What people see of its jobs: of this life of it alone."""
        return f"{self.project.slug}.{self.name}.{self.epoch}.{self.token}"

    def pin(self, batch: int) -> Pinned:
        """Have the weaver fix the rules of a batch before it runs, by the offsets that are planned for it."""
        taken = self.taken(batch)
        answer = self.client.insist(
            "POST",
            "/pins",
            {
                "pipeline": self.name,
                "stream": self.stream.name,
                **self._holder(),
                "epoch": self.epoch,
                "batch": batch,
                "offsets": codec.to_form(taken.offsets),
                "inputs": taken.knots,
            },
        )
        return codec.from_form(Pinned, answer)

    def plan(self, batch: int, after: At, upto: At) -> None:
        """Remember what a batch takes in."""
        self._taken = (batch, offsets.taken(after, upto, self.inputs, self.begin))

    def taken(self, batch: int) -> offsets.Taken:
        """What a batch takes in, as it was planned."""
        assert self._taken is not None and self._taken[0] == batch
        return self._taken[1]

    def reader(self, position: int) -> str:
        """The name under which the input at a position is read."""
        return f"{self.name}/{self.inputs[position]}"

    def reading(self, position: int) -> TableReading:
        """How the input at a position is read."""
        return TableReading(after=self.begin(self.inputs[position]), most_rows=self._most_rows)

    @property
    def wakes(self) -> tuple[str, ...]:
        """What ends its wait for more: whatever is added to its inputs, and ticks."""
        readers = [self.reader(place) for place in range(len(self.inputs))]
        return (self.name, *readers, *(self.storage.table(name) for name in self.inputs))

    @property
    def _most_rows(self) -> int:
        """How many rows of an input a batch admits.

        What is made of changing streams takes more when it is behind, as when it is new: of many changes of a row in
        one batch only the newest goes any further.
        """
        queued = self.project.processing.queue_size
        if self.spec is None or not self.spec.is_current:
            return queued
        return max(queued, min(queued * CATCH_UP, AT_ONCE))

    @property
    def raw(self) -> float | None:
        """The share of its records that is kept as its source gives it, where it has one."""
        return self.stream.history.raw if self.spec is None else None

    def begin(self, stream: str) -> int:
        """The knot of an input behind which the first batch begins: rows that are gone by then are never read."""
        if stream not in self._begun:
            table = self.tables.open(stream)
            self._begun[stream] = table.expired() if table.exists() else 0
        return self._begun[stream]

    def input_hash(self, knot: Knot) -> str | None:
        """The hash of what a knot consumed: the sum of the hashes of its inputs' knots."""
        if self.spec is None:
            return None
        total = 0
        for parent in knot.parents:
            for consumed in self.tables.open(parent.stream).knots(parent.first - 1, parent.last):
                total += int(consumed.note.hash, 16)
        return f"{total % MODULUS:064x}"

    def untold(self, pinned: Pinned) -> Definitions:
        """The code of a batch that no commit of this life has told yet."""
        rules = [rule for rule in pinned.rules if f"{rule.id}/{rule.version}" not in self._told]
        is_told = self.version in self._told
        return Definitions(
            pipeline=None if is_told else definition_of(self.project, self.name, self.version),
            rules=tuple(rule.to_dict() for rule in rules),
        )

    def told(self, definitions: Definitions) -> None:
        """Remember which code a commit has told."""
        self._told |= {f"{rule['id']}/{rule['version']}" for rule in definitions.rules}
        if definitions.pipeline is not None:
            self._told.add(self.version)

    def deliver(self, knot: Knot, facts: Facts) -> None:
        """Hand the rows of a written knot to the sinks, in knot order, while it is this worker's to finish."""
        if not self.sinks:
            return
        self.client.insist("POST", self._path(knot, "confirm"), self._holder())
        rows = self._rows(knot.number, facts)
        for sink in self.sinks:
            sink.deliver(knot.number, rows)

    def deliver_newest(self) -> None:
        """Hand the newest knot to the sinks, which may have missed it."""
        table = self.tables.open(self.stream.name)
        newest = table.head()
        if newest is not None and newest.note.facts is not None:
            # After a rollback it may be an old one, whose rows lie in a file with those of others by now.
            rows = rows_of(table.path, [newest], self.stream.schema.names)
            for sink in self.sinks:
                sink.deliver(newest.note.knot, rows)

    def complete(self, knot: Knot, facts: Facts) -> None:
        """Tell the weaver what the batch wrote; the knot is tied."""
        watch = self.stream.watch
        series = series_of(self._rows(knot.number, facts), watch) if watch.of else {}
        body = {**self._holder(), "facts": codec.to_form(facts), "series": series}
        try:
            self.client.insist("POST", self._path(knot, "complete"), body)
        except WeftError as error:
            if error.code in TAKEN_OVER:
                self._take_back(knot, facts)
            raise
        self.tip = knot
        self.counted.add(facts)

    def _take_back(self, knot: Knot, facts: Facts) -> None:
        """A worker that slept may have delivered a knot that was rolled back meanwhile."""
        if not self.sinks:
            return
        now = Knot.from_dict(self.client.insist("GET", f"/knots/{self.stream.name}/{knot.number}"))
        if now.status is Status.ROLLED_BACK:
            for sink in self.sinks:
                sink.retract(range(knot.number, knot.number + 1), self._rows(knot.number, facts))

    def _rows(self, knot: int, facts: Facts) -> ParquetRows:
        folder = self.storage.table(self.stream.name)
        files = row_files(folder, knot, facts.outputs[self.stream.name].files)
        return ParquetRows(files, self.stream.schema.names)

    def _path(self, knot: Knot, what: str) -> str:
        return f"/pins/{self.stream.name}/{knot.number}/{what}"

    def _holder(self) -> dict[str, Any]:
        return {"worker": self.worker, "token": self.token}
