"""What is expected of the load of each worker: asked of a pilot in a process beside the weaver, which answers batches.

A contest over a week takes seconds of pure computing. While there is no answer, or no library to forecast with, the
reactive rule decides.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from weft.errors import WeftError
from weft.logs import get_logger
from weft.scaling.arrivals import Series
from weft.scaling.pilot import LEAST_PAST, Outlook, Pilot
from weft.scaling.policy import Reactive, ScalingTerms

log = get_logger(__name__)

LONGEST_S = 300.0

_pilots: dict[str, Pilot] = {}
"""Of the process beside: a pilot for each worker."""


class Outlooks:
    """The line to the pilots."""

    def __init__(self) -> None:
        self._process: ProcessPoolExecutor | None = None

    async def look(self, worker: str, past: Series, terms: ScalingTerms) -> Outlook:
        """Who decides for a worker now, and what it expects."""
        if len(past) < LEAST_PAST:
            return Outlook(Reactive())
        if self._process is None:
            spawned = multiprocessing.get_context("spawn")
            self._process = ProcessPoolExecutor(1, mp_context=spawned)
        asked = asyncio.get_running_loop().run_in_executor(
            self._process, _look, worker, past, terms
        )
        try:
            return await asyncio.wait_for(asked, LONGEST_S)
        except (WeftError, TimeoutError, BrokenProcessPool) as error:
            log.warning("there is no forecast now: %s", error)
            self.stop()
            return Outlook(Reactive())

    def stop(self) -> None:
        """End the process; it is started again when someone asks."""
        if self._process is not None:
            self._process.shutdown(wait=False, cancel_futures=True)
            self._process = None


def _look(worker: str, past: Series, terms: ScalingTerms) -> Outlook:
    return _pilots.setdefault(worker, Pilot()).look(past, terms)
