"""What is expected of the load of each worker: asked in processes beside the weaver, which answers batches.

A review over a week takes seconds of pure computing, so nothing waits for one: until it is over, whoever led before it
goes on. While nobody does, or there is no library to forecast with, the reactive rule decides.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from weft.errors import WeftError
from weft.logs import get_logger
from weft.scaling.contest import REVIEW
from weft.scaling.pilot import Lead, Outlook, Past, look, review
from weft.scaling.policy import Reactive, ScalingTerms
from weft.weaver.beside import SideProcess

log = get_logger(__name__)

LONGEST_REVIEW_S = 600.0
LONGEST_LOOK_S = 20.0
TRIED_AGAIN = 5
"""A review that failed is held again after so many decisions."""


@dataclass
class _Led:
    """Who leads one worker."""

    lead: Lead | None = None
    looks: int = REVIEW
    """Decisions since the last review began."""
    reviewing: asyncio.Task[None] | None = None

    def needs_review(self, past: Past) -> bool:
        if self.reviewing is not None and not self.reviewing.done():
            return False
        if self.lead is None:
            return self.looks >= REVIEW
        return self.lead.is_over(past, self.looks)


class Outlooks:
    """The line to the processes that forecast and review."""

    def __init__(self) -> None:
        self._led: dict[str, _Led] = {}
        self._looking: SideProcess | None = None

    async def look(self, worker: str, past: Past, terms: ScalingTerms) -> Outlook:
        """Who decides for a worker now, and what it expects."""
        if not past.is_enough:
            return Outlook(Reactive())
        led = self._led.setdefault(worker, _Led())
        led.looks += 1
        if led.needs_review(past):
            led.looks = 0
            led.reviewing = asyncio.create_task(self._review(worker, led, past, terms))
        if led.lead is None or led.lead.fitted is None:
            return look(led.lead, past, terms)
        self._looking = self._looking or SideProcess()
        try:
            return await self._looking.ask(LONGEST_LOOK_S, look, led.lead, past, terms)
        except WeftError as error:
            log.warning("there is no forecast for %s now: %s", worker, error.message)
            self._end_looking()
            return Outlook(Reactive())

    def keep(self, workers: frozenset[str]) -> None:
        """Forget those who lead workers that are gone."""
        for gone in self._led.keys() - workers:
            if (reviewing := self._led.pop(gone).reviewing) is not None:
                reviewing.cancel()

    def stop(self) -> None:
        """End the processes; they are started again when someone asks."""
        self.keep(frozenset())
        self._end_looking()

    def _end_looking(self) -> None:
        if self._looking is not None:
            self._looking.end()
            self._looking = None

    async def _review(self, worker: str, led: _Led, past: Past, terms: ScalingTerms) -> None:
        """Hold a review, in a process of its own that ends with it."""
        process = SideProcess()
        try:
            led.lead = await process.ask(LONGEST_REVIEW_S, review, past, terms)
            by = f"{led.lead.policy.name}, by {led.lead.model or 'what came'}"
            log.info("executors of %s are decided on by %s", worker, by)
        except WeftError as error:
            log.warning("who decides for %s is not reviewed now: %s", worker, error.message)
            led.looks = REVIEW - TRIED_AGAIN
        finally:
            process.end()
