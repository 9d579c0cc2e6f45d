"""A replay as somebody asks for it: which knots of which stream, from where on, and what is different."""

from __future__ import annotations

from dataclasses import dataclass, field

from weft.replays.change import ReplayChange


@dataclass(frozen=True)
class ReplayRequest:
    """The knots of a stream after `after`, up to `upto`, run again.

    With `source`, everything between that stream and this one is run again too; else only what is different, and what
    lies between it and the stream.
    """

    stream: str
    after: int
    upto: int
    source: str | None = None
    what_if: ReplayChange = field(default_factory=ReplayChange)
    speed: float | None = None
    """How many times as fast as they were recorded; None is as fast as can be."""
