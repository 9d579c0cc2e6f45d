"""Faults on purpose: where the spine can be made to die, for tests and for the fault benches.

The spine calls `reach(point)` at each point; nothing happens unless a fault was planned there.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from weft.errors import WeftError

POINTS = (
    "pin",  # before the weaver is asked
    "pinned",  # the knot is made, nothing has run
    "weave",  # the frame is about to be woven
    "write",  # rows are in files, no table knows of them
    "between",  # diverted streams are committed, the stream itself is not
    "written",  # all tables are committed
    "deliver",  # sinks have the rows, the knot is not complete
    "recorded",  # the knot is complete, Spark has not committed the batch
)
BESIDE = (
    "expired",  # a table has let go of rows, their files still lie there
    "compacting",  # rows are put together in a file, no table knows of it
    "compacted",  # a table has the file, those that it replaces still lie there
)
"""Points in what a worker does beside its pipelines."""


class CrashError(Exception):
    """Stands for `kill -9` inside one process: the spine stops dead, nothing is cleaned up."""


class UnknownPointError(WeftError):
    """There is no such point in the spine."""

    code = "fault.unknown-point"
    domain = "user"


class Faults:
    """Which point dies at which visit."""

    def __init__(self, die: Callable[[], None]) -> None:
        self._die = die
        self._planned: dict[str, int] = {}

    @staticmethod
    def from_environment() -> Faults:
        """Faults of a process: `WEFT_FAULT=write:3` kills it at the third visit of `write`."""
        faults = Faults(lambda: os.kill(os.getpid(), signal.SIGKILL))
        planned = os.environ.get("WEFT_FAULT")
        if planned:
            point, _, visit = planned.partition(":")
            faults.plan(point, visit=int(visit or 1))
        return faults

    def plan(self, point: str, *, visit: int = 1) -> None:
        """Die at this point, at the n-th visit from now on."""
        known = (*POINTS, *BESIDE)
        if point not in known:
            raise UnknownPointError(
                f"The spine has no point '{point}'.", hint=f"Points are {', '.join(known)}."
            )
        self._planned[point] = visit

    def reach(self, point: str) -> None:
        """The spine is at this point."""
        left = self._planned.get(point)
        if left is None:
            return
        if left > 1:
            self._planned[point] = left - 1
            return
        del self._planned[point]
        self._die()
