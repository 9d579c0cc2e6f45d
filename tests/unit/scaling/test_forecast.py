"""Forecasts: none sees what comes after, and their quantiles are what they say."""

from __future__ import annotations

import numpy as np
import pytest

from weft.scaling.boosted import BoostedQuantiles
from weft.scaling.forecast import (
    FIRST_FIT,
    HORIZON,
    LEVELS,
    ForecastModel,
    MissingLibraryError,
    Series,
    forecasts,
    needed,
    pinball,
)
from weft.scaling.naive import LastValue, SeasonalNaive
from weft.scaling.smoothing import ExponentialSmoothing
from weft.scaling.timeline import Timeline

MODELS = [LastValue(), SeasonalNaive(), ExponentialSmoothing(), BoostedQuantiles()]
DAY = 96
"""Intervals of a quarter of an hour, so that days are short."""
TIMES = Timeline(DAY)


def season(days: int, *, seed: int = 3) -> Series:
    random = np.random.default_rng(seed)
    time = np.arange(days * DAY)
    mean = 1_000 * (1.2 + np.sin(2 * np.pi * time / DAY))
    return random.poisson(mean).astype(float)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_forecast_does_not_change_with_what_comes_after_it(model: ForecastModel) -> None:
    series, cut = season(3), 251
    other = series.copy()
    other[cut:] = 50_000.0
    first, second = (forecasts(model, one, TIMES) for one in (series, other))
    for place in range(cut + 1):
        one, two = first[place], second[place]
        assert (one is None) == (two is None)
        if one is not None and two is not None:
            assert np.array_equal(one.counts, two.counts)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_quantiles_are_exceeded_as_often_as_they_say(model: ForecastModel) -> None:
    series = season(12)
    made = forecasts(model, series, TIMES)
    judged = [
        (one.counts, series[at : at + HORIZON])
        for at, one in enumerate(made)
        if one is not None and 6 * DAY <= at <= len(series) - HORIZON
    ]
    held = np.mean([came <= counts for counts, came in judged], axis=(0, 2))
    assert held == pytest.approx(LEVELS, abs=0.15)


def test_a_season_is_learned() -> None:
    series = season(12)

    def loss(model: ForecastModel) -> float:
        made = forecasts(model, series, TIMES)
        ats = range(8 * DAY, len(series) - HORIZON)
        counts = np.stack([one.counts for at in ats if (one := made[at]) is not None])
        return pinball(counts, np.stack([series[at : at + HORIZON] for at in ats]))

    assert loss(SeasonalNaive()) < 0.5 * loss(LastValue())
    assert loss(BoostedQuantiles()) < 0.5 * loss(LastValue())


def test_there_is_no_forecast_before_there_is_some_history() -> None:
    for model in MODELS:
        assert forecasts(model, season(1)[:FIRST_FIT], TIMES) == [None] * FIRST_FIT
        assert forecasts(model, np.zeros(0), TIMES) == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_series_of_nothing_and_one_that_never_changes_are_forecast(model: ForecastModel) -> None:
    for value in (0.0, 70.0):
        made = forecasts(model, np.full(3 * DAY, value), TIMES)
        last = made[-1]
        assert last is None or last.counts.max() == pytest.approx(value, abs=1e-3)


def test_a_library_that_is_missing_is_named_with_what_to_install() -> None:
    with pytest.raises(MissingLibraryError) as missing:
        needed("no_such_library.part")
    assert missing.value.ids == {"library": "no_such_library"}
