"""Gradient-boosted quantiles over features of the history, by LightGBM: one model a level, all intervals ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.scaling.features import RECENT, features, level
from weft.scaling.forecast import HORIZON, LEVELS, FittedModel, Series, needed
from weft.scaling.timeline import Timeline

AHEAD = np.array([0, 1, 2, 4, 8, 14, HORIZON - 1])
"""Intervals ahead that are learned; those between are on the line between them."""
FEWEST = 120
LEARNED_DAYS = 14
MOST_ORIGINS = 1_500
"""Origins that are learned from, drawn evenly from the last days; and as many from which the calendar turns soon."""
ROUNDS = 50
TRAINED: dict[str, Any] = {
    "objective": "quantile",
    "num_leaves": 15,
    "learning_rate": 0.1,
    "min_data_in_leaf": 40,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbose": -1,
}


@dataclass(frozen=True)
class Boosted:
    """One model for each level."""

    models: tuple[Any, ...]

    def predict(
        self, series: Series, origins: NDArray[np.int64], times: Timeline
    ) -> NDArray[np.float64]:
        """The quantiles that the models give, in order."""
        logs = np.log1p(series)
        rows = features(logs, origins, AHEAD, times)
        found = np.stack([model.predict(rows, num_threads=1) for model in self.models])
        found = np.sort(found, axis=0).reshape(len(LEVELS), len(origins), len(AHEAD))
        whole = np.empty((len(origins), len(LEVELS), HORIZON))
        for ahead in range(HORIZON):
            right = int(np.searchsorted(AHEAD, ahead))
            left = max(0, right - 1)
            width = AHEAD[right] - AHEAD[left]
            share = (ahead - AHEAD[left]) / width if width else 0.0
            whole[:, :, ahead] = (found[:, :, left] * (1 - share) + found[:, :, right] * share).T
        return np.expm1(whole + level(logs, origins)[:, None, None])


@dataclass(frozen=True)
class BoostedQuantiles:
    """Trees that learn each quantile of the change from now."""

    name: str = "boosted"

    def fit(self, series: Series, times: Timeline) -> FittedModel | None:
        """Learn from the last days, and from what the calendar brought before."""
        last = len(series) - HORIZON
        first = max(5, last - LEARNED_DAYS * times.day)
        if last - first < FEWEST:
            return None
        boosting = needed("lightgbm")
        drawn = np.linspace(first, last, min(MOST_ORIGINS, last - first)).astype(int)
        origins = np.unique([*drawn, *_before_turns(times, last)])
        logs = np.log1p(series)
        rows = features(logs, origins, AHEAD, times)
        came = (logs[origins[:, None] + AHEAD] - level(logs, origins)[:, None]).ravel()
        models = tuple(
            boosting.train({**TRAINED, "alpha": quantile}, boosting.Dataset(rows, came), ROUNDS)
            for quantile in LEVELS
        )
        return Boosted(models)


def _before_turns(times: Timeline, last: int) -> list[int]:
    """The newest origins from which a period of the calendar begins or ends within the horizon."""
    near = {at - ahead for at in times.turns() for ahead in range(-RECENT, HORIZON)}
    return sorted(one for one in near if 5 <= one <= last)[-MOST_ORIGINS:]
