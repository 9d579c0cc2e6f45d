"""What load is expected: counts per interval in, a distribution of those to come out. One protocol for all models.

`walk` is how every model is tried: fitted on what was known at a moment, it forecasts from the moments after it, each
from what was known then, until there is so much more history that it is fitted anew.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weft.errors import WeftError
from weft.scaling.timeline import Timeline

Series = NDArray[np.float64]

LEVELS = (0.5, 0.75, 0.9, 0.97)
"""The quantiles that a forecast states."""
HORIZON = 20
"""How many intervals ahead."""
FIRST_FIT = 30
"""Intervals of history with which a model may begin; before, there is no forecast."""
GROWTH = 1.25
"""A model is fitted anew when its history has grown by a quarter, and at least once a day."""


class MissingLibraryError(WeftError):
    """A library that is needed here is not installed."""

    code = "scaling.library-missing"
    domain = "user"


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The records expected in each of the next intervals, by quantile."""

    model: str
    counts: NDArray[np.float32]
    """By level, as in LEVELS, and interval ahead."""

    def path(self, quantile: float) -> list[float]:
        """What is not exceeded with this probability, interval by interval; between two levels the higher one."""
        place = next((at for at, level in enumerate(LEVELS) if level >= quantile), -1)
        path: list[float] = self.counts[place].tolist()
        return path


class FittedModel(Protocol):
    """A model that has learned from a history."""

    def predict(
        self, series: Series, origins: NDArray[np.int64], times: Timeline
    ) -> NDArray[np.float64]:
        """Counts by origin, level and interval ahead; each from the counts before its origin alone."""


class ForecastModel(Protocol):
    """A way to forecast."""

    @property
    def name(self) -> str: ...

    def fit(self, series: Series, times: Timeline) -> FittedModel | None:
        """Learn from a history that lies so in time; None if it is too short for this model."""


def walk(
    model: ForecastModel, series: Series, times: Timeline
) -> Iterator[tuple[int, NDArray[np.float64] | None]]:
    """Forecasts from each origin on, block by block: where it begins, and its forecasts or None."""
    start = min(FIRST_FIT, len(series))
    if start:
        yield 0, None
    while start < len(series):
        end = min(
            len(series), start + max(FIRST_FIT // 2, min(times.day, int(start * (GROWTH - 1))))
        )
        fitted = model.fit(series[:start], times)
        if fitted is None:
            yield start, None
        else:
            made = fitted.predict(series[:end], np.arange(start, end), times)
            yield start, np.maximum(0.0, made)
        start = end


def forecasts(model: ForecastModel, series: Series, times: Timeline) -> list[Forecast | None]:
    """The forecast of a model at every interval of a series, each made without what came after."""
    made: list[Forecast | None] = []
    for start, block in walk(model, series, times):
        made.extend([None] * (start - len(made)))
        if block is not None:
            made.extend(Forecast(model.name, one) for one in block.astype(np.float32))
    made.extend([None] * (len(series) - len(made)))
    return made


def spread(
    logs: Series, centres: NDArray[np.float64], origins: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How far logarithms of counts were from forecasts of them, by level and interval ahead."""
    places = origins[:, None] + np.arange(HORIZON)
    errors = logs[places] - centres
    found: NDArray[np.float64] = np.quantile(errors, LEVELS, axis=0)
    return found


def pinball(forecast: NDArray[np.float64], came: NDArray[np.float64]) -> float:
    """The mean loss of quantiles against what came: lower is better, and the true distribution is best."""
    levels = np.array(LEVELS)[:, None]
    missed = came[:, None, :] - forecast
    return float(np.mean(np.maximum(levels * missed, (levels - 1) * missed)))


def needed(module: str) -> Any:
    """A module of a library that only forecasts need, and that is installed when they are wanted."""
    try:
        return importlib.import_module(module)
    except (ModuleNotFoundError, OSError) as error:
        library = module.partition(".")[0]
        raise MissingLibraryError(
            f"Forecasts need the library {library}, which cannot be loaded: {error}.",
            hint="Install what forecasts need: pip install 'weft[scaling]'. LightGBM needs libgomp of the system, too.",
            library=library,
        ) from error
