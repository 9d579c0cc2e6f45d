"""Facts: what a batch wrote. A worker commits them with the rows; the weaver seals them into the knot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from weft.lineage.ledger import Ledger
from weft.project.provenance import Mode
from weft.weaving.trail import Transformation
from weft.windows.watermark import Watermarks

StreamKind = Literal["main", "side", "dead", "late", "provenance", "raw"]
MaybeHash = Annotated[str | None, Field(exclude_if=lambda value: value is None)]
"""A hash that is left out of the form where there is none: facts of an older version are sealed as they were told."""


@dataclass(frozen=True)
class DataFile:
    """One file of a stream's table; its path is relative to the table's folder."""

    path: str
    rows: int
    bytes: int
    sha256: str
    root: MaybeHash = None
    """The root of the tree over the hashes of its rows, in their order; files had none once."""


@dataclass(frozen=True)
class Output:
    """What a knot wrote to one stream's table; the version is that of the commit, once there is one."""

    rows: int
    bytes: int
    hash: str
    version: int | None = None
    files: tuple[DataFile, ...] = ()
    schema: MaybeHash = None
    """The fingerprint of the rows' columns."""


@dataclass(frozen=True)
class ColumnSummary:
    """What the values of a column looked like in one knot: numbers as they are, texts by their length in bytes."""

    nulls: int
    mean: float | None = None
    """None where no value was a number or a text."""
    spread: float | None = None


Columns = Annotated[Mapping[str, ColumnSummary], Field(exclude_if=lambda value: not value)]
"""Columns by name; left out of the form where none was watched, as in facts of an older version."""


@dataclass(frozen=True)
class StreamSchema:
    """The user's columns of a stream that a knot wrote to: their fingerprint, and their form in Spark's JSON."""

    fingerprint: str
    kind: StreamKind
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class StepRecord:
    """Which code ran: one provenance record, from an input hash to an output hash."""

    function: str
    version: str
    parameters: Mapping[str, Any]
    input_hash: str | None
    output_hash: str | None
    rows_in: int
    rows_out: int
    started: str
    ended: str
    where: str


@dataclass(frozen=True)
class Recording:
    """For which records a knot wrote down what was done to them, and the steps that they may have taken, in order."""

    mode: Mode
    share: float | None = None
    steps: tuple[Transformation, ...] = ()


@dataclass(frozen=True)
class Facts:
    """Everything that a knot says beyond what was pinned."""

    outputs: Mapping[str, Output]
    schema: str
    schemas: Mapping[str, StreamSchema]
    ledger: Ledger
    steps: tuple[StepRecord, ...]
    completed: str
    watermark: int | None = None
    watermarks: Watermarks = field(default_factory=Watermarks)
    state: int | None = None
    duration_ms: int = 0
    provenance: Recording | None = None
    """What was written down of its records, if anything."""
    columns: Columns = field(default_factory=dict)
    """What its watched columns looked like."""


@dataclass(frozen=True)
class FilledPart:
    """Rows that a rule wove into a stream from recorded ones: they stand for its knots from `first` to `knot`."""

    stream: str
    rule: str
    first: int
    knot: int
    rows: int
    bytes: int
    hash: str
    version: int
    files: tuple[DataFile, ...]
    schema: str
    columns: Mapping[str, Any]

    @property
    def output(self) -> Output:
        """The part as a knot names what it wrote."""
        return Output(self.rows, self.bytes, self.hash, self.version, self.files)
