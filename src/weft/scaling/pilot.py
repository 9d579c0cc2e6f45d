"""Who decides now, and by which forecast: the work of the past in, a policy with its outlook out.

A contest over the past says who may act; it is held again every so often, and a model is fitted anew with it. Until
there is enough of a past, the reactive rule acts. Called by the weaver, in a process beside it: contests take seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from weft.scaling.arrivals import Arrivals, Series
from weft.scaling.contest import MODELS, REVIEW, intervals_a_day, line_up
from weft.scaling.forecast import FIRST_FIT, FittedModel, Forecast, ForecastModel
from weft.scaling.policy import Reactive, ScalingPolicy, ScalingTerms

LEAST_PAST = 2 * FIRST_FIT
"""Intervals of a past before anyone but the reactive rule may act."""
SAME_SCALE = 0.05
"""When the past costs so much more or less than at the last review, as with a rule that is new, it is held again."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """Who decides, and what it expects."""

    policy: ScalingPolicy
    forecast: Forecast | None = None


class Pilot:
    """Keeps who leads, between reviews."""

    def __init__(self, models: tuple[ForecastModel, ...] = MODELS) -> None:
        self._models = models
        self._policy: ScalingPolicy = Reactive()
        self._model: ForecastModel | None = None
        self._fitted: FittedModel | None = None
        self._reviewed: Series = np.zeros(0)
        self._looks = 0

    def look(self, past: Series, terms: ScalingTerms) -> Outlook:
        """Who decides now, by executor-seconds of work that came in each interval so far."""
        if len(past) < LEAST_PAST or not past.any():
            return Outlook(Reactive())
        self._looks += 1
        if self._looks > REVIEW or self._is_other(past):
            self._review(past, terms)
        if self._model is None or self._fitted is None:
            return Outlook(self._policy)
        made = self._fitted.predict(past, np.array([len(past)]))[0]
        counts = np.maximum(0.0, made).astype(np.float32)
        return Outlook(self._policy, Forecast(self._model.name, counts))

    def _is_other(self, past: Series) -> bool:
        """Whether what was reviewed costs something else now."""
        known = past[: len(past) - self._looks]
        common = min(len(known), len(self._reviewed))
        if common <= 0:
            return True
        before, now = self._reviewed[-common:].sum(), known[-common:].sum()
        return bool(abs(now - before) > SAME_SCALE * max(before, now))

    def _review(self, past: Series, terms: ScalingTerms) -> None:
        total = np.concatenate([[0.0], np.cumsum(past)])
        arrivals = Arrivals(datetime.fromtimestamp(0, UTC), terms.interval_s, total)
        leader = line_up(arrivals, terms, models=self._models).leader
        self._policy, self._model = leader.policy, leader.model
        self._fitted = leader.model.fit(past, intervals_a_day(terms)) if leader.model else None
        self._reviewed, self._looks = past.copy(), 0
