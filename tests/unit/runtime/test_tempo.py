"""Knots of a replay begin as far apart as they did, or a multiple faster."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.samples.values import VALUES
from weft.clock import iso
from weft.lineage.knot import Knot
from weft.runtime import tempo
from weft.runtime.tempo import Tempo

START = datetime(2026, 1, 1, tzinfo=UTC)


class Hands:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    found = Hands()
    monkeypatch.setattr(tempo, "time", found)
    return found


def knot(after_s: float) -> Knot:
    return replace(VALUES[Knot][0], now=iso(START + timedelta(seconds=after_s)))


def test_knots_are_held_back_until_their_time_and_those_behind_begin_at_once(hands: Hands) -> None:
    looks: list[float] = []
    paced = Tempo(2.0, lambda: looks.append(hands.now))
    began = []
    for after_s, takes_s in ((0, 0.1), (3, 4.0), (5, 0.0), (20, 0.0)):
        paced.wait(knot(after_s))
        began.append(hands.now - 100)
        hands.now += takes_s
    assert began == pytest.approx([0, 1.5, 5.5, 10])
    assert paced.behind_s == pytest.approx(3.0)
    assert looks  # somebody who waits can be told that nobody wants it any more


def test_a_clock_that_was_set_back_holds_nothing_up(hands: Hands) -> None:
    paced = Tempo(1.0, lambda: None)
    for after_s in (0, -3600, 1):
        paced.wait(knot(after_s))
    assert hands.now == pytest.approx(101)


def test_a_replay_that_nobody_wants_stops_waiting(hands: Hands) -> None:
    def over() -> None:
        raise RuntimeError("aborted")

    paced = Tempo(1.0, over)
    paced.wait(knot(0))
    with pytest.raises(RuntimeError):
        paced.wait(knot(3600))
    assert hands.now < 102
