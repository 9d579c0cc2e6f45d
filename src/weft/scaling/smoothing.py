"""Exponential smoothing with a damped trend, by statsmodels: parameters by likelihood, states by its Kalman filter."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.scaling.forecast import HORIZON, FittedModel, Series, needed, spread
from weft.scaling.timeline import Timeline

LEARNED = 700
"""Parameters are learned from so many intervals: they change slowly, and learning takes its time with more."""
WARM_UP = 200
"""Intervals after which the state no longer depends on where it began."""
ERROR_DAYS = 3
FIRST_ORIGIN = 5


@dataclass(frozen=True)
class Smoothed:
    """Learned parameters, with the errors that forecasts by them had."""

    result: Any
    damping: float
    errors: NDArray[np.float64]

    def predict(
        self, series: Series, origins: NDArray[np.int64], times: Timeline
    ) -> NDArray[np.float64]:
        """The damped trend from the state at each origin, with each quantile of the errors."""
        centres = _centres(self.result, self.damping, np.log1p(series), origins)
        return np.expm1(centres[:, None, :] + self.errors[None, :, :])


@dataclass(frozen=True)
class ExponentialSmoothing:
    """A level and a damped trend that follow the counts."""

    name: str = "smoothing"

    def fit(self, series: Series, times: Timeline) -> FittedModel | None:
        """Learn how fast they follow."""
        space = needed("statsmodels.tsa.statespace.exponential_smoothing")
        logs = np.log1p(series)
        last = len(logs) - HORIZON
        origins = np.arange(max(FIRST_ORIGIN, last - ERROR_DAYS * times.day), last + 1)
        if len(origins) < 1 or np.ptp(logs[-LEARNED:]) == 0.0:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # of a search that ended early; its errors are measured below
            model = space.ExponentialSmoothing(
                logs[-LEARNED:], trend=True, damped_trend=True, initialization_method="heuristic"
            )
            result = model.fit(disp=0, maxiter=20)
        damping = float(result.params[result.param_names.index("damping_trend")])
        centres = _centres(result, damping, logs, origins)
        return Smoothed(result, damping, spread(logs, centres, origins))


def _centres(
    result: Any, damping: float, logs: Series, origins: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Logarithms of the counts that are expected from each origin on."""
    first = max(0, int(origins[0]) - WARM_UP)
    states = result.apply(logs[first:]).predicted_state[:, origins - first]
    damped = np.concatenate([[0.0], np.cumsum(damping ** np.arange(1, HORIZON))])
    centres: NDArray[np.float64] = states[1][:, None] + states[2][:, None] * damped[None, :]
    return centres
