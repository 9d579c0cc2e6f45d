"""What is expected of a load: reviews are held beside, and nothing waits for them."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft.scaling.forecast import MissingLibraryError, needed
from weft.scaling.pilot import Lead, Outlook, Past, look
from weft.scaling.policy import Ahead, Reactive, ScalingTerms, Static
from weft.scaling.timeline import Timeline
from weft.weaver import outlooks
from weft.weaver.beside import BesideError, SideProcess
from weft.weaver.outlooks import TRIED_AGAIN, Outlooks

TERMS = ScalingTerms(cost_s=1.0)
PAST = Past(np.full(100, 40.0))
DEARER = Past(PAST.work * 2)


class Here:
    """Answers in this process: reviews when the test lets them, by what it says."""

    lead: Lead | None = None
    """What a review finds; none if it fails."""
    reviews = 0

    def __init__(self) -> None:
        self.has_ended = False

    async def ask(self, seconds: float, work: Callable[..., Any], *given: Any) -> Any:
        if work is look:
            return look(*given)
        Here.reviews += 1
        await asyncio.sleep(0.02)
        if Here.lead is None:
            raise BesideError("It ended.")
        return Here.lead

    def end(self) -> None:
        self.has_ended = True


class Repeating:
    """A fitted model that expects forty."""

    def predict(self, series: Any, origins: Any, times: Timeline) -> Any:
        return np.full((len(origins), 4, 20), 40.0)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlooks, "SideProcess", Here)
    monkeypatch.setattr(Here, "lead", Lead(PAST, Ahead(), "repeating", Repeating()))
    monkeypatch.setattr(Here, "reviews", 0)


async def settled(asked: Outlooks, past: Past = PAST) -> Outlook:
    """What is expected once a review that this starts is over."""
    await asked.look("w", past, TERMS)
    await asyncio.sleep(0.1)
    return await asked.look("w", past, TERMS)


def test_while_a_review_goes_on_whoever_led_before_it_decides() -> None:
    async def story() -> None:
        asked = Outlooks()
        first = await asked.look("w", PAST, TERMS)
        assert first.policy == Reactive()
        await asyncio.sleep(0.1)
        second = await asked.look("w", PAST, TERMS)
        assert second.policy == Ahead() and second.forecast is not None
        assert Here.reviews == 1
        Here.lead = Lead(DEARER, Static(3))
        dearer = await asked.look("w", DEARER, TERMS)
        assert dearer.policy == Ahead()
        await asyncio.sleep(0.1)
        assert (await asked.look("w", DEARER, TERMS)).policy == Static(3)
        assert Here.reviews == 2

    asyncio.run(story())


def test_a_review_that_failed_is_held_again_some_decisions_later() -> None:
    async def story() -> None:
        Here.lead = None
        asked = Outlooks()
        assert (await settled(asked)).policy == Reactive()
        for _ in range(TRIED_AGAIN):
            assert Here.reviews == 1
            await asked.look("w", PAST, TERMS)
        await asyncio.sleep(0.1)
        assert Here.reviews == 2

    asyncio.run(story())


def test_of_a_worker_that_is_gone_nothing_is_known_any_longer() -> None:
    async def story() -> None:
        asked = Outlooks()
        assert (await settled(asked)).policy == Ahead()
        asked.keep(frozenset({"w"}))
        assert (await asked.look("w", PAST, TERMS)).policy == Ahead()
        asked.keep(frozenset({"other"}))
        assert (await asked.look("w", PAST, TERMS)).policy == Reactive()
        asked.stop()

    asyncio.run(story())


def test_with_a_short_past_nobody_is_asked() -> None:
    assert asyncio.run(settled(Outlooks(), Past(PAST.work[:10]))).policy == Reactive()
    assert Here.reviews == 0


def test_a_process_beside_answers_fails_as_its_work_does_and_can_be_ended() -> None:
    async def story() -> None:
        process = SideProcess()
        assert await process.ask(60, math.sqrt, 9) == 3
        with pytest.raises(MissingLibraryError):
            await process.ask(60, needed, "no_such_library")
        assert await process.ask(60, math.sqrt, 16) == 4
        waiting = asyncio.create_task(process.ask(60, time.sleep, 60))
        await asyncio.sleep(0.05)
        process.end()
        with pytest.raises(BesideError):
            await waiting
        with pytest.raises(BesideError):
            await process.ask(60, math.sqrt, 9)

    asyncio.run(story())


def test_a_process_beside_that_dies_or_takes_too_long_gives_no_answer() -> None:
    async def story() -> None:
        for seconds, work, given in ((60.0, os._exit, 1), (0.05, time.sleep, 60)):
            process = SideProcess()
            with pytest.raises(BesideError):
                await process.ask(seconds, work, given)
            process.end()

    asyncio.run(story())
