"""A pipeline run again: pinned by what is recorded, writing into a workspace, telling nobody.

It is the same spine as that of a live one. What it reads are recorded knots, or those of an earlier leg; what it writes
lies apart; and what it would tell the weaver is kept for the comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from typing import Any, cast

from pyspark.sql import DataFrame

from weft.lineage.facts import Facts
from weft.lineage.knot import Knot, Status
from weft.lineage.pin import Pinned
from weft.replays.change import ReplayChange
from weft.replays.leg import Leg
from weft.runtime.edited import Edited
from weft.runtime.pipeline import RunningPipeline
from weft.runtime.shape import Shape
from weft.runtime.tempo import Tempo
from weft.streams.read import Script, TableReading
from weft.streams.storage import Storage
from weft.streams.table import Table


class ScriptOverError(Exception):
    """A batch was begun after the last one that is to be run again."""


@dataclass(frozen=True)
class Workspace(Storage):
    """Where a replay writes: a storage of its own, beside the live one, from which it reads what is recorded."""

    live: Storage
    recorded: frozenset[str]
    """The streams that are read where they live."""

    def table(self, stream: str) -> str:
        return self.live.table(stream) if stream in self.recorded else super().table(stream)

    def source(self, stream: str) -> str:
        return self.live.source(stream)


@dataclass
class ReplayedPipeline(RunningPipeline):
    """One pipeline of a replay, for the knots of one leg."""

    leg: Leg = field(kw_only=True)
    what_if: ReplayChange = field(kw_only=True)
    pins: Sequence[Pinned] = field(kw_only=True)
    """The knots as they were pinned, in their order, with what they had written."""
    first_batch: int = 0
    """The batch of Spark's that runs the first of them."""
    look: Callable[[DataFrame, Pinned], None] | None = None
    """Shown the rows of each batch before they are woven."""
    tempo: Tempo | None = None
    """Says when each batch may be woven, where that is not at once."""
    tied_one: Callable[[], None] = field(kw_only=True, default=lambda: None)
    """Called whenever a knot was run again."""

    @property
    def checkpoint(self) -> str:
        """Its checkpoint directory in the workspace."""
        return self.storage.checkpoint(self.name, 0)

    @property
    def label(self) -> str:
        """What people see of its jobs: of this workspace alone."""
        return f"{PurePath(self.storage.root).name}.{self.name}"

    @cached_property
    def shape(self) -> Shape:
        """The live pipeline's, or that of recorded rows which are changed; looked at, where somebody looks."""
        made: Shape = Edited(self) if self.leg.edits else self.streamed
        if self.tempo is not None:
            made = cast(Shape, _Paced(made, self.tempo))
        return made if self.look is None else cast(Shape, _Looked(made, self.look))

    def pin(self, batch: int) -> Pinned:
        """The batch as it was pinned, or as it would have been."""
        place = batch - self.first_batch
        if not 0 <= place < len(self.pins):
            raise ScriptOverError
        return self._as_pinned(self.pins[place])

    def recorded(self, number: int) -> Knot:
        """A knot as it is recorded."""
        return self._by_number[number].knot

    @cached_property
    def _by_number(self) -> Mapping[int, Pinned]:
        return {pinned.knot.number: pinned for pinned in self.pins}

    def _as_pinned(self, pinned: Pinned) -> Pinned:
        """What the weaver answered before the batch ran, with what is asked for in addition."""
        knot = replace(pinned.knot, status=Status.IN_PROGRESS, sealed_form=None, **_UNTIED)
        rules = () if self.leg.edits else pinned.rules
        if knot.number > self.leg.after:
            rules = tuple(rule for rule in rules if rule.id not in self.what_if.without)
            rules += self.what_if.rules_on(self.leg.streams)
        return replace(pinned, knot=knot, rules=rules)

    def reading(self, position: int) -> TableReading:
        """The same knots of an input in the same batches."""
        stream = self.inputs[position]
        start = self.pins[0].knot.offsets.start if self.pins else ()
        begun: Mapping[str, Any] = (start[position] if position < len(start) else None) or {}
        ends = tuple(pinned.knot.offsets.inputs.get(stream, 0) for pinned in self.pins)
        parents = self.pins[0].knot.parents if self.pins else ()
        first = min((one.first - 1 for one in parents if one.stream == stream), default=0)
        return TableReading(
            after=begun.get("knot", first),
            script=Script(ends, first_tick=begun.get("tick", 0)),
        )

    @property
    def raw(self) -> None:
        """What a source gave is kept already."""

    def deliver(self, knot: Knot, facts: Facts) -> None:
        """Nothing leaves a replay."""

    def complete(self, knot: Knot, facts: Facts) -> None:
        """What the batch wrote is in the workspace; there is nobody to tell but who waits for it."""
        self.tip = knot
        self.counted.add(facts)
        self.tied_one()

    def live_table(self) -> Table:
        """The table in which the stream lives."""
        assert isinstance(self.storage, Workspace)
        return Table(self.spark, self.storage.live.table(self.stream.name))


class _Paced:
    """A shape whose frames are prepared when it is their time."""

    is_steady = False

    def __init__(self, shape: Shape, tempo: Tempo) -> None:
        self._shape = shape
        self._tempo = tempo

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shape, name)

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        self._tempo.wait(pinned.knot)
        return self._shape.prepare(frame, pinned)


class _Looked:
    """A shape whose prepared frames are looked at before they are woven."""

    is_steady = False

    def __init__(self, shape: Shape, look: Callable[[DataFrame, Pinned], None]) -> None:
        self._shape = shape
        self._look = look

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shape, name)

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        # Its state is computed once: what looks at it and what weaves it read the same rows.
        base = self._shape.prepare(frame, pinned).persist()
        self._look(base, pinned)
        return base


_UNTIED: Mapping[str, Any] = {
    "reason": None,
    "steps": (),
    "schema": None,
    "outputs": {},
    "completed": None,
    "hash": None,
}
"""What a knot says only once it is tied."""
