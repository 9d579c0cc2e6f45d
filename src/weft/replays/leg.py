"""One pipeline's part of a replay: which of its knots are run again, from which state, by which definition."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Phase:
    """Knots in a row that one definition of the pipeline is run for: those after `after`, up to `upto`."""

    project: str
    """The version of the project that has it, by its hash."""
    version: str
    """The version of the pipeline itself."""
    after: int
    upto: int


@dataclass(frozen=True)
class KeptState:
    """The state that a leg begins with: what a knot left behind."""

    knot: int
    epoch: int
    batch: int


@dataclass(frozen=True)
class Leg:
    """The knots of one stream that are run again.

    Those after `after` are compared with what is recorded. It may begin earlier, where state is kept no later, and runs
    those between as they were.
    """

    pipeline: str
    stream: str
    begin: int
    """The knot that it begins behind; 0 is before the first."""
    after: int
    upto: int
    phases: tuple[Phase, ...]
    streams: tuple[str, ...] = ()
    """What the pipeline writes: its own stream, and those diverted from it."""
    recorded: tuple[str, ...] = ()
    """The inputs that are read as they are recorded; the others are those of an earlier leg."""
    state: KeptState | None = None
    stateful: bool = False
    redefined: bool = False
    """Whether it runs another definition than the one that ran."""
    edits: bool = False
    """Whether the recorded rows themselves are changed, in place of running the pipeline that made them."""
    unlike: tuple[str, ...] = ()
    """What is installed and differs from what was when a function that it calls was declared."""
    first: int = 0
    """The first knot that it runs for its own sake; those between it and `after` were rolled back."""
    knots: int = 0
    rows: int = 0
    bytes: int = 0
    speed: float | None = None
    """How many times as fast as they were recorded its knots begin; None is as fast as can be."""

    def describe(self) -> str:
        """What it does, in a line."""
        knots = f"knots {self.first or self.after + 1} to {self.upto} of {self.stream}"
        if self.edits:
            return f"change the recorded rows of {knots}"
        start = ""
        if self.stateful:
            start = f" from the state of knot {self.state.knot}" if self.state else " from no state"
        warm = f", with knots {self.begin + 1} to {self.after} before them" * (
            self.begin < self.after
        )
        pace = "" if self.speed is None else f", {self.speed:g} times as fast as they came"
        return f"run {knots} again{start}{warm}{pace} ({self.rows:,} rows)"
