"""A pipeline as one worker runs it: its definition, its lease, its tables, and its line to the weaver."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from pyspark.sql import SparkSession

from weft.clock import parse_iso
from weft.lineage.knot import Knot, RuleRef
from weft.project.definition import PipelineSpec, Project, StreamSpec
from weft.runtime.client import WeaverClient
from weft.runtime.faults import Faults
from weft.runtime.offsets import Offsets
from weft.runtime.shape import Shape
from weft.runtime.shapes import choose
from weft.runtime.storage import Storage
from weft.runtime.tables import Tables
from weft.sinks import Sink
from weft.sinks.rows import ParquetRows
from weft.weaving.rule import Rule
from weft.weaving.step import Step
from weft.weaving.weave import Moment, Weave


@dataclass(frozen=True)
class Pinned:
    """What the weaver fixed for a batch: its knot, the rules in force, the watermarks before it."""

    knot: Knot
    rules: tuple[Rule, ...]
    watermark_ms: int | None
    watermarks: Mapping[str, Any] | None

    @property
    def now(self) -> datetime:
        """The one moment that every expression of this batch sees."""
        return parse_iso(self.knot.now)

    @property
    def moment(self) -> Moment:
        """What expressions get in place of the clock and the dice."""
        return Moment(self.now, self.knot.seed)


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
    weaves: dict[tuple[RuleRef, ...], Weave] = field(default_factory=dict)
    """The compiled weave of the rule set in force."""
    tip: tuple[int, int] | None = None
    """The last knot that it tied, and its batch."""
    kept: int = 0
    """The knot of its last keyframe."""
    tied: int = 0
    """How many batches were tied since it started; a checkpoint waits for the next one."""

    @cached_property
    def shape(self) -> Shape:
        """Whether it ingests, relays or operates."""
        return choose(self)

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

    def pin(self, batch: int, offsets: Offsets) -> Pinned:
        """Have the weaver fix the rules of a batch before it runs."""
        answer = self.client.insist(
            "POST",
            "/pins",
            {
                "pipeline": self.name,
                "stream": self.stream.name,
                "worker": self.worker,
                "token": self.token,
                "epoch": self.epoch,
                "batch": batch,
                "offsets": offsets.to_dict(self.inputs),
                "inputs": offsets.knots(self.inputs),
            },
        )
        previous = answer["previous"] or {}
        return Pinned(
            knot=Knot.from_dict(answer["knot"]),
            rules=tuple(Rule.from_dict(rule) for rule in answer["rules"]),
            watermark_ms=previous.get("watermark"),
            watermarks=previous.get("watermarks") or None,
        )

    def input_hash(self, knot: Knot) -> str | None:
        """The hash of what a knot consumed: the sum of the hashes of its inputs' knots."""
        if self.spec is None:
            return None
        total = 0
        for parent in knot.parents:
            for consumed in self.tables.open(parent.stream).knots(parent.first - 1, parent.last):
                total += int(consumed["weft"]["hash"], 16)
        return f"{total % 2**256:064x}"

    def deliver(self, knot: Knot, facts: Mapping[str, Any]) -> None:
        """Hand the rows of a written knot to the sinks, in knot order."""
        if not self.sinks:
            return
        folder = self.storage.table(self.stream.name)
        files = facts["outputs"][self.stream.name]["files"]
        rows = ParquetRows([f"{folder}/{file['path']}" for file in files], self.stream.schema.names)
        for sink in self.sinks:
            sink.deliver(knot.number, rows)

    def fail(self, reason: str) -> None:
        """Tell the weaver that the batch in hand failed."""
        body = {"worker": self.worker, "token": self.token, "reason": reason}
        self.client.call("POST", f"/pins/{self.stream.name}/fail", body)

    def complete(self, knot: Knot, facts: Mapping[str, Any]) -> None:
        """Tell the weaver what the batch wrote; the knot is tied."""
        self.client.insist(
            "POST",
            f"/pins/{self.stream.name}/{knot.number}/complete",
            {"worker": self.worker, "token": self.token, "facts": facts},
        )
        self.tip = (knot.number, knot.batch)
        self.tied += 1
