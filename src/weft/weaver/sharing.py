"""Which pipeline moves to which worker: loads in, one move at a time out. Pure decisions, but for the time of the last.

A pipeline moves where that makes the busiest worker clearly less busy. Its worker stops it after the batch in hand and
gives the lease back; nobody but the one that it moves to takes it then, unless that one is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

EVERY = timedelta(seconds=5)
"""From the end of one move to the beginning of the next."""
LONGEST = timedelta(seconds=120)
"""A move that takes longer is given up; the pipeline goes to whoever asks first."""
BETTER = 0.9
"""The busier of the two may have this share, at most, of what the busiest has now."""
LEAST = 0.05
"""What a pipeline counts for that does nothing: queries that wait cost something too."""

Held = Mapping[str, Mapping[str, float]]
"""By worker, what each pipeline that it holds takes: cores that are busy for it."""


@dataclass(frozen=True)
class Move:
    """A pipeline on its way from one worker to another."""

    pipeline: str
    source: str
    target: str
    since: timedelta


class Sharing:
    """The move that is under way, if any."""

    def __init__(self) -> None:
        self.move: Move | None = None
        self._ended: timedelta | None = None

    def update(
        self, held: Held, may: Callable[[str, str], bool], *, settled: bool, now: timedelta
    ) -> None:
        """End a move that is done or hopeless; begin the next one when everything that should run runs."""
        move = self.move
        if move is not None:
            is_there = move.pipeline in held.get(move.target, {})
            is_hopeless = move.target not in held or now - move.since > LONGEST
            if is_there or is_hopeless:
                self.move, self._ended = None, now
            return
        if not settled:
            self._ended = now
            return
        if self._ended is None or now - self._ended >= EVERY:
            self.move = next_move(held, may, now=now)

    def forbids(self, pipeline: str, worker: str) -> bool:
        """Whether a pipeline is on its way to somebody else."""
        move = self.move
        return move is not None and move.pipeline == pipeline and move.target != worker


def next_move(held: Held, may: Callable[[str, str], bool], *, now: timedelta) -> Move | None:
    """The move that makes the busiest worker of two least busy, if it is worth one."""
    loads = {worker: sum(_weight(one) for one in own.values()) for worker, own in held.items()}
    best: tuple[float, str, str, str] | None = None
    for source, own in held.items():
        for pipeline, weight in own.items():
            for target in held:
                if target == source or not may(pipeline, target):
                    continue
                moved = _weight(weight)
                after = max(loads[source] - moved, loads[target] + moved)
                if after > BETTER * loads[source]:
                    continue
                # What takes most off the busier one; names, so that there is one answer.
                rank = (after - loads[source], pipeline, source, target)
                best = min(best, rank) if best else rank
    if best is None:
        return None
    _, pipeline, source, target = best
    return Move(pipeline, source, target, now)


def _weight(load: float) -> float:
    return max(LEAST, load)
