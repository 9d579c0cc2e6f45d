"""Forecasts that repeat: the last counts, and the same time a day or a week ago at the level of now."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.scaling.forecast import HORIZON, FittedModel, Series, spread
from weft.scaling.timeline import Timeline

RECENT = 3
"""Intervals whose mean is the level of now."""
LEARNED_DAYS = 7
"""The errors of so many days are the distribution."""
FEWEST_ORIGINS = 10


@dataclass(frozen=True)
class Repeated:
    """A forecast whose centre repeats the past, with the errors that such ones had."""

    season: int | None
    errors: NDArray[np.float64]

    def predict(
        self, series: Series, origins: NDArray[np.int64], times: Timeline
    ) -> NDArray[np.float64]:
        """The centre with each quantile of the errors."""
        centres = _centres(np.log1p(series), origins, self.season)
        return np.expm1(centres[:, None, :] + self.errors[None, :, :])


@dataclass(frozen=True)
class LastValue:
    """What comes is what came last."""

    name: str = "naive"

    def fit(self, series: Series, times: Timeline) -> FittedModel | None:
        """Learn how wrong that was."""
        return _fit(series, None, times.day, first=RECENT)


@dataclass(frozen=True)
class SeasonalNaive:
    """What comes changes as it did at this time a day ago; a week ago once there are two weeks."""

    name: str = "seasonal"

    def fit(self, series: Series, times: Timeline) -> FittedModel | None:
        """Learn how wrong that was."""
        day = times.day
        season = 7 * day if len(series) >= 14 * day else day
        return _fit(series, season, day, first=season + RECENT)


def _fit(series: Series, season: int | None, day: int, *, first: int) -> Repeated | None:
    last = len(series) - HORIZON
    origins = np.arange(max(first, last - LEARNED_DAYS * day), last + 1)
    if len(origins) < FEWEST_ORIGINS:
        return None
    logs = np.log1p(series)
    return Repeated(season, spread(logs, _centres(logs, origins, season), origins))


def _centres(logs: Series, origins: NDArray[np.int64], season: int | None) -> NDArray[np.float64]:
    """Logarithms of the counts that are expected from each origin on."""
    ahead = np.arange(HORIZON)
    level = _level(logs, origins)[:, None]
    if season is None:
        return np.repeat(level, HORIZON, axis=1)
    before = origins - season
    smooth = _smooth(logs)
    change: NDArray[np.float64] = smooth[before[:, None] + ahead] - _level(logs, before)[:, None]
    return level + change


def _level(logs: Series, origins: NDArray[np.int64]) -> Series:
    """The mean of the last counts before each origin."""
    totals = np.concatenate([[0.0], np.cumsum(logs)])
    level: Series = (totals[origins] - totals[origins - RECENT]) / RECENT
    return level


def _smooth(logs: Series) -> Series:
    """A season without the noise of single intervals: the mean of each count with its neighbours."""
    padded = np.pad(logs, (RECENT // 2, RECENT // 2), mode="edge")
    smooth: Series = np.convolve(padded, np.ones(RECENT) / RECENT, mode="valid")
    return smooth
