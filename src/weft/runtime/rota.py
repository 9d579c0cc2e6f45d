"""Turns of the pipelines of one worker: what is made of changing streams, and its inputs, run one after the other.

What several inputs change is made once then, and not once for each of them. And while it is made, its inputs gather
changes instead of cutting ever smaller batches, which would take the cores from it. A turn that does not come is taken
after a while: a slow pipeline holds no other one back for long.

What has made nothing yet lets its inputs be loaded first. Else it would make results of what is there, and make them
again and again of what comes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from weft.runtime.pipeline import RunningPipeline

PATIENCE_S = 0.5
"""So long at most a pipeline waits for its turn."""
LOADING_S = 600.0
"""So long at most it waits for its inputs to be loaded: one may always be behind."""
LOOK_S = 0.5
"""So often it looks whether they are."""


@dataclass(eq=False)
class Turn:
    """Where one pipeline is."""

    stream: str
    inputs: frozenset[str]
    is_current: bool
    """Whether it makes something of changing streams."""
    is_loading: Callable[[], bool]
    """Whether it has yet to read most of what its source has."""
    waits: bool = False
    """Whether it has something to run, and waits."""
    runs: bool = False
    ended: int = 0
    """How many batches it has run."""


class Rota:
    """Who waits and who runs, of all threads of a worker."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._turns: set[Turn] = set()

    def join(self, run: RunningPipeline, is_loading: Callable[[], bool]) -> Turn:
        """Take part from now on."""
        is_current = run.spec is not None and run.spec.is_current
        turn = Turn(run.stream.name, frozenset(run.inputs), is_current, is_loading)
        with self._changed:
            self._turns.add(turn)
        return turn

    def leave(self, turn: Turn) -> None:
        """Take part no longer: nobody waits for it."""
        with self._changed:
            self._turns.discard(turn)
            turn.ended += 1
            self._changed.notify_all()

    def wait(self, turn: Turn) -> bool:
        """Let those go first whose turn it is, now that there is something to run; says whether there were any."""
        limit = time.monotonic() + PATIENCE_S
        with self._changed:
            first = [(one, one.ended) for one in self._turns if _goes_first(one, turn)]
            turn.waits = True
            while any(one.ended == ended for one, ended in first):
                if not self._changed.wait(limit - time.monotonic()):
                    break
            return bool(first)

    def wait_for_inputs(self, turn: Turn, is_over: threading.Event) -> bool:
        """Let the inputs be loaded of what makes something of them for the first time; says whether any had to be."""
        limit = time.monotonic() + LOADING_S
        has_waited = False
        while time.monotonic() < limit:
            with self._changed:
                inputs = [one for one in self._turns if one.stream in turn.inputs]
            if not any(one.is_loading() for one in inputs) or is_over.wait(LOOK_S):
                break
            has_waited = True
        return has_waited

    @contextmanager
    def batch(self, turn: Turn) -> Iterator[None]:
        """Run a batch."""
        with self._changed:
            turn.waits, turn.runs = False, True
        try:
            yield
        finally:
            with self._changed:
                turn.runs = False
                turn.ended += 1
                self._changed.notify_all()


def _goes_first(other: Turn, turn: Turn) -> bool:
    """Whoever came first: then nobody waits for one who waits for him."""
    takes_turns = (turn.is_current and other.stream in turn.inputs) or (
        other.is_current and turn.stream in other.inputs
    )
    return takes_turns and (other.runs or other.waits)
