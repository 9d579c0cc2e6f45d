"""Pipelines that stopped by themselves: why, how often in a row, and when each may start again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from weft.errors import WeftError
from weft.logs import get_logger
from weft.reason import told
from weft.runtime.thread import SLOW_SOURCE

log = get_logger(__name__)

FIRST_RETRY_S = 0.5
LONGEST_RETRY_S = 30.0
SLOW_STARTS = 6
"""So often in a row a source may be slow to start before it counts as a failure; no batch has begun by then."""
TAKEN_AWAY = ("lease.lost", "pipeline.held")
"""Failures that are none: another worker or a rollback has the pipeline."""


@dataclass
class Failed:
    """A thread that stopped by itself: why, how often in a row, and when it may start again."""

    error: WeftError
    times: int
    retry_at: float


class Failures:
    """The pipelines of a worker that failed and have not tied a knot since."""

    def __init__(self) -> None:
        self._failed: dict[str, Failed] = {}
        self._slow: dict[str, int] = {}

    def errors(self) -> Mapping[str, WeftError]:
        """Why each failed."""
        return {name: failed.error for name, failed in list(self._failed.items())}

    def is_waiting(self, name: str) -> bool:
        """Whether a pipeline may not start yet."""
        failed = self._failed.get(name)
        return failed is not None and failed.retry_at > time.monotonic()

    def is_slow_start(self, name: str, error: WeftError) -> bool:
        """Whether a thread only has to be started again, since its source was not there in time."""
        if error.code != SLOW_SOURCE:
            return False
        self._slow[name] = self._slow.get(name, 0) + 1
        log.info("%s It is started again.", error.message)
        return self._slow[name] < SLOW_STARTS

    def note(self, name: str, error: WeftError) -> None:
        """A pipeline failed: each time in a row it waits twice as long."""
        before = self._failed.get(name)
        times = before.times + 1 if before else 1
        delay = min(FIRST_RETRY_S * 2 ** (times - 1), LONGEST_RETRY_S)
        if error.code in TAKEN_AWAY:
            delay = 0.0
        self._failed[name] = Failed(error, times, time.monotonic() + delay)
        log.warning("pipeline %s: %s Trying again in %.1f s.", name, error.message, delay)

    def forget(self, name: str) -> None:
        """A pipeline has tied a knot."""
        self._failed.pop(name, None)
        self._slow.pop(name, None)


def as_weft(name: str, error: Exception) -> WeftError:
    """Any error as one of ours, with the name of what failed."""
    if isinstance(error, WeftError):
        return error
    return WeftError(
        f"'{name}' failed: {type(error).__name__}: {told(str(error))}",
        code="worker.failed",
        hint="The worker's log has the details.",
    )
