"""The note in a commit of a stream's table: which knot it holds, of which history, and everything the knot will say.

A store that was lost is made anew from these notes alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.lineage.facts import DataFile, Facts


@dataclass(frozen=True)
class Definitions:
    """Code that a knot was woven by, told with the first knot that a worker weaves by it."""

    pipeline: Mapping[str, Any] | None = None
    """The pipeline as the project declares it, with the sources of its functions."""
    rules: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Note:
    """What a commit says of the knot that it holds; the commit of the knot's own stream says all of it."""

    knot: int
    id: str
    stream: str
    origin: str
    history: str
    """The store whose knots these are."""
    generation: str
    """The opening of that store in which the knot was pinned."""
    life: str
    """The life of that store by which sinks know it."""
    rows: int
    hash: str
    watermark: int | None = None
    fill: str | None = None
    """The rule whose output was filled with recorded rows; such a commit stands for knots from `first` on."""
    first: int | None = None
    pinned: Mapping[str, Any] | None = None
    """The knot as the weaver pinned it, in its stored form."""
    facts: Facts | None = None
    definitions: Definitions = field(default_factory=Definitions)


@dataclass(frozen=True)
class TableKnot:
    """A knot in a table: its note, the version of its commit, and its files."""

    version: int
    note: Note
    files: tuple[DataFile, ...] = ()
    """The files that have its rows now."""
    shared: tuple[int, int] | None = None
    """Where it shares its file: the knots behind the first and up to the last of those in it."""
