"""Which history a knot, a table or a checkpoint belongs to: a store, and one opening of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Identity:
    """A store's history, named when the store was made, and the generation that its last opening began.

    A store that is restored from a backup does not know the generations that came after it, and so cannot take what
    they wrote for its own.
    """

    history: str
    generation: str
    life: str = ""
    """What sinks are told: a store that is restored from a backup begins a new life, whose knots they have not got."""


@dataclass(frozen=True)
class TableHead:
    """The newest knot that a table holds, as its commit names it."""

    stream: str
    knot: int
    id: str
    history: str
    generation: str
    is_fill: bool = False
    """Whether it stands for knots of another stream, whose ids it does not have."""


@dataclass(frozen=True)
class Mark:
    """What a checkpoint directory says of itself: whose it is, and the knot that it begins at."""

    pipeline: str
    epoch: int
    history: str
    generation: str
    knot: int | None = None
    knot_id: str | None = None
