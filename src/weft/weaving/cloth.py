"""The weave while it is made: columns so far, SELECT layers around the input, verdicts given out. No Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from weft.gate.expression import Checked, pin
from weft.schema.schema import Schema, quoted
from weft.steps.function import FunctionVersion
from weft.steps.step import Function
from weft.weaving.trail import Trail


@dataclass(frozen=True)
class Moment:
    """What a knot fixes for the expressions of its batch, so that a repeated batch computes the same."""

    now: datetime
    seed: int


@dataclass(frozen=True)
class Verdict:
    """Why a row is not in the output: what kind of end it took, and which step or rule put it there."""

    kind: Literal["filtered", "dead", "passed"]
    """`passed` rows are none of the stream's: an operator's late records and reports, carried along."""
    by: str
    place: int = 0
    """Which step of a rule it was, where the way of records is written down."""


@dataclass(frozen=True)
class Layers:
    """A stage of SELECT layers around the frame before it, the first innermost: each column its name and SQL.

    Names and expressions stay apart until Spark has parsed them one by one, so that nothing a person wrote
    can be taken for a part of the weave.
    """

    layers: tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True)
class Call:
    """A stage that calls a Python function of the project with the rows that are still alive."""

    step: Function
    columns: tuple[str, ...]
    dropped: int
    failed: int
    condition: str | None
    """A boolean column that says for which rows to call it, or None for all."""


@dataclass
class Cloth:
    """The weave while it is being made: the columns so far, and the SELECT layers around the input."""

    schema: Schema
    columns: list[str]
    hidden: list[str]
    moment: Moment
    functions: Mapping[str, FunctionVersion]
    pinned: bool = False
    copies: int = 0
    """How many expressions so far give a column a value of any size."""
    weight: int = 0
    """How many nodes the expressions have that are computed without being tried."""
    layers: list[tuple[tuple[str, str], ...]] = field(default_factory=list)
    stages: list[Layers | Call] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    trail: Trail | None = None
    """The way of records, where it is written down."""
    place: int = 0
    """Which step of its rule is being applied."""

    def sql(self, checked: Checked) -> str:
        """The SQL of an expression, with the knot's moment in the place of the clock and the dice."""
        if not checked.pinned:
            return checked.sql
        self.pinned = True
        return pin(checked.sql, now=self.moment.now, seed=self.moment.seed)

    def record(self) -> str:
        """The SQL of the user's columns as they are now, as JSON."""
        return f"weft_record({', '.join(map(quoted, self.columns))})"

    def code(self, verdict: Verdict) -> int:
        """The number of a verdict; those of later steps are higher, so that it says how far a record came."""
        verdict = verdict if self.trail is None else replace(verdict, place=self.place)
        if verdict not in self.verdicts:
            self.verdicts.append(verdict)
        return self.verdicts.index(verdict)

    def select(self, **changes: str) -> None:
        """One layer: every column as it is, or as `changes` says; new names are added hidden."""
        names = [*self.columns, *self.hidden]
        self.hidden += [name for name in changes if name not in names]
        self._layer({name: changes.get(name, quoted(name)) for name in [*names, *self.hidden]})

    def reshape(self, columns: Mapping[str, str], **changes: str) -> None:
        """One layer with other user columns: each name with the SQL it is made of."""
        kept = {name: changes.get(name, quoted(name)) for name in self.hidden}
        if self.trail is not None:
            saved = self.trail.keep(columns)
            self.hidden += saved
            kept |= saved
        self.columns = list(columns)
        self._layer({**columns, **kept})

    def hide(self, *names: str) -> None:
        """Forget hidden columns from the next layer on."""
        self.hidden = [name for name in self.hidden if name not in names]

    def finish(self, selected: Mapping[str, str]) -> None:
        """The last layer: only these columns."""
        self._layer(selected)
        self._flush()

    def call(self, call: Call) -> None:
        """End the SQL so far and call a Python function on its rows."""
        if self.trail is not None:
            self.trail.settle(self)
        self._flush()
        self.stages.append(call)

    def _layer(self, selected: Mapping[str, str]) -> None:
        self.layers.append(tuple(selected.items()))

    def _flush(self) -> None:
        if self.layers:
            self.stages.append(Layers(tuple(self.layers)))
            self.layers = []
