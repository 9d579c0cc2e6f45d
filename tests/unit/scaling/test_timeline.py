"""The time of a series: days, weeks, and what the calendar names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from weft.project.calendar import Period, periods
from weft.scaling.boosted import BoostedQuantiles
from weft.scaling.forecast import HORIZON, forecasts
from weft.scaling.timeline import AFTER, NamedSpan, Timeline

HOUR = 3600.0
START = datetime(2026, 6, 1, tzinfo=UTC)


def test_days_and_periods_are_read_in_utc_the_last_day_included() -> None:
    calendar = {
        "holiday": ("2026-12-25",),
        "sale": ("2026-11-27/2026-11-30", "2026-11-26T18:00+02:00/2026-11-27"),
    }
    assert periods(calendar) == (
        Period("sale", datetime(2026, 11, 26, 16, tzinfo=UTC), datetime(2026, 11, 28, tzinfo=UTC)),
        Period("sale", datetime(2026, 11, 27, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)),
        Period("holiday", datetime(2026, 12, 25, tzinfo=UTC), datetime(2026, 12, 26, tzinfo=UTC)),
    )


def test_intervals_have_their_time_of_day_and_week_wherever_a_series_begins() -> None:
    times = Timeline.of((START + timedelta(hours=30)).timestamp(), HOUR, {})
    places = np.array([0, 17, 18, 42])
    assert times.of_day(places).tolist() == [6, 23, 0, 0]
    # 1 January 1970 was a Thursday: day 0. 2 June 2026 was a Tuesday.
    assert times.of_week(places).tolist() == [5, 5, 6, 0]


def test_a_period_is_named_and_knows_the_last_one_of_its_name() -> None:
    calendar = {"match": ("2026-06-01T10:00/2026-06-01T12:00", "2026-06-02T15:00/2026-06-02T17:00")}
    times = Timeline.of(START.timestamp(), HOUR, calendar)
    places = np.array([9, 10, 11, 12, 38, 39, 40, 41, 40 + AFTER, 41 + AFTER])
    assert times.named(places).tolist() == [0, 1, 1, 0, 0, 1, 1, 0, 0, 0]
    assert times.since_last(places).tolist() == [0, 0, 0, 0, 0, 29, 29, 29, 29, 0]
    assert times.turns() == [10, 12, 39, 41]


def test_periods_that_overlap_or_lie_elsewhere_do_no_harm() -> None:
    spans = (
        NamedSpan("a", -50, -40),
        NamedSpan("a", 3, 9),
        NamedSpan("b", 5, 7),
        NamedSpan("b", 10**9, 10**9 + 1),
    )
    times = Timeline(24, 0, spans)
    assert times.named(np.arange(10)).tolist() == [0, 0, 0, 1, 1, 2, 2, 1, 1, 0]
    assert Timeline(24).named(np.arange(3)).tolist() == [0, 0, 0]
    assert times.named(np.zeros(0, np.int64)).tolist() == []


def test_what_the_calendar_says_is_learned() -> None:
    """Matches at odd times bring four times as many; who has the calendar expects the next one."""
    day, days = 96, 14
    random = np.random.default_rng(2)
    begins = [at * day + int(random.integers(30, 80)) for at in range(days)]
    mean = np.full(days * day, 1_000.0)
    for begin in begins:
        mean[begin : begin + 8] *= 4
    series = random.poisson(mean).astype(float)
    spans = tuple(NamedSpan("match", begin, begin + 8) for begin in begins)
    loss = {}
    for name, times in {"known": Timeline(day, 0, spans), "unknown": Timeline(day)}.items():
        made = forecasts(BoostedQuantiles(), series, times)
        ats = [at - 2 for at in begins[8:] if at + HORIZON < len(series)]
        middle = [one.counts[0][3] for at in ats if (one := made[at]) is not None]
        loss[name] = np.mean(np.abs(np.array(middle) - 4_000))
    assert loss["known"] < 0.4 * loss["unknown"]
