"""The detector: what it finds, what it leaves alone, and what it learns from people."""

from __future__ import annotations

import math
import time
from random import Random

from weft import codec
from weft.anomalies.detector import ALARM, Detector, Judgement

MINUTES_5 = 300.0


def day(minute: int, random: Random) -> float:
    """A load with a day's season and some noise."""
    return 100 + 60 * math.sin(2 * math.pi * minute / 288) + random.gauss(0, 4)


def watch(values: list[float], detector: Detector | None = None) -> list[Judgement]:
    detector = detector or Detector()
    return [detector.observe(place * MINUTES_5, value) for place, value in enumerate(values)]


def alarms(judged: list[Judgement]) -> list[int]:
    return [place for place, one in enumerate(judged) if one.likelihood >= ALARM]


def days(number: int, seed: int = 1) -> list[float]:
    random = Random(seed)
    return [day(minute, random) for minute in range(288 * number)]


def test_a_season_is_not_unusual() -> None:
    assert [place for place in alarms(watch(days(10))) if place > 288 * 3] == []


def test_a_spike_is_found_at_once_and_told_once() -> None:
    values = days(10)
    values[2000] = values[2001] = values[2002] = 400.0
    judged = watch(values)
    assert [place for place in alarms(judged) if place > 900] == [2000]
    assert judged[2000].low < values[1999] < judged[2000].high < 400 == judged[2000].observed


def test_a_value_that_is_usual_at_another_time_of_day_is_found() -> None:
    values = days(10)
    trough = 288 * 7 + 216
    values[trough] = 160.0
    judged = watch(values)
    assert trough in alarms(judged)
    assert judged[trough].kind == "season"
    assert judged[trough].high < 160 and "time of day" in judged[trough].explanation


def test_a_level_that_shifts_is_found_and_becomes_usual() -> None:
    random = Random(4)
    values = [random.gauss(100, 5) for _ in range(1500)]
    values += [random.gauss(112, 5) for _ in range(3000)]
    found = alarms(watch(values))
    assert any(1500 <= place < 1560 for place in found)
    assert len([place for place in found if place > 2000]) < 2


def test_what_is_wild_by_nature_raises_few_alarms() -> None:
    random = Random(5)
    wild = [random.lognormvariate(0, 1.5) for _ in range(10_000)]
    assert len(alarms(watch(wild))) < 15


def test_a_series_that_never_changed_is_watched_too() -> None:
    judged = watch([5.0] * 500 + [6.0])
    assert alarms(judged) == [500]


def test_what_is_said_to_be_no_anomaly_is_not_told_again() -> None:
    values = days(6)
    values[1500] = 500.0
    detector = Detector()
    judged = watch(values, detector)
    assert 1500 in alarms(judged)
    detector.accept(judged[1500])
    later = [detector.observe((1728 + n) * MINUTES_5, v) for n, v in enumerate(days(4, 9))]
    assert alarms(later) == []
    at = (1728 + 1152) * MINUTES_5
    assert detector.observe(at, judged[1500].observed).likelihood < ALARM
    assert detector.observe(at + MINUTES_5, 5_000.0).likelihood >= ALARM


def test_no_number_is_neither_judged_nor_learned() -> None:
    detector = Detector()
    watch(days(2), detector)
    before = codec.to_form(detector)
    assert detector.observe(0.0, math.nan).likelihood == 0.0
    assert detector.observe(0.0, math.inf).likelihood == 0.0
    assert codec.to_form(detector) == before


def test_a_detector_that_was_stored_goes_on_where_it_was() -> None:
    values = days(5)
    whole = watch(values)
    detector = Detector()
    first = watch(values[:700], detector)
    again = codec.unpack(Detector, codec.pack(detector))
    rest = [again.observe((700 + n) * MINUTES_5, value) for n, value in enumerate(values[700:])]
    assert first + rest == whole


def test_a_clock_that_jumps_back_stops_nothing() -> None:
    detector = Detector()
    for at_s in (1e9, 5.0, -3e8, 4e9):
        assert 0.0 <= detector.observe(at_s, 1.0).likelihood <= 1.0


def test_a_value_costs_less_than_a_hundred_microseconds() -> None:
    values = days(30)
    began = time.process_time()
    watch(values)
    assert (time.process_time() - began) / len(values) < 100e-6
