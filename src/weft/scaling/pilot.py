"""Who decides now, and by which forecast: the work of the past in, a policy with its outlook out.

A review is a contest over the past that says who leads; one is held every so often, and a model is fitted anew with it.
Until there is enough of a past, the reactive rule acts. Called by the weaver, in processes beside it: reviews take
seconds, in which whoever leads goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from weft.scaling.arrivals import Arrivals, Series
from weft.scaling.contest import MODELS, REVIEW, line_up
from weft.scaling.forecast import FIRST_FIT, FittedModel, Forecast, ForecastModel
from weft.scaling.policy import Reactive, ScalingPolicy, ScalingTerms
from weft.scaling.timeline import Timeline

LEAST_PAST = 2 * FIRST_FIT
"""Intervals of a past before anyone but the reactive rule may act."""
SAME_SCALE = 0.2
"""When the past costs so much more or less than at the last review, as with a rule that is new, it is held again."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """Who decides, and what it expects."""

    policy: ScalingPolicy
    forecast: Forecast | None = None


@dataclass(frozen=True, eq=False)
class Past:
    """The executor-seconds of work that came in each interval so far, the first of which began at a moment."""

    work: Series
    begin_s: float = 0.0
    calendar: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_enough(self) -> bool:
        """Whether a review can be held over it."""
        return len(self.work) >= LEAST_PAST and bool(self.work.any())

    def times(self, terms: ScalingTerms) -> Timeline:
        """Where it lies in time."""
        return Timeline.of(self.begin_s, terms.interval_s, self.calendar)


@dataclass(frozen=True, eq=False)
class Lead:
    """Who won a review: a policy, the model whose forecasts it goes by, and the past that was reviewed."""

    reviewed: Past
    policy: ScalingPolicy
    model: str | None = None
    fitted: FittedModel | None = None

    def is_over(self, past: Past, looks: int) -> bool:
        """Whether another review is due, so many decisions after this one.

        It is when this one is old, when the past costs otherwise, and when the calendar is another.
        """
        if looks >= REVIEW or past.calendar != self.reviewed.calendar:
            return True
        known = past.work[: max(0, len(past.work) - looks)]
        common = min(len(known), len(self.reviewed.work))
        if common <= 0:
            return True
        before, now = self.reviewed.work[-common:].sum(), known[-common:].sum()
        return bool(abs(now - before) > SAME_SCALE * max(before, now))


def review(past: Past, terms: ScalingTerms, models: tuple[ForecastModel, ...] = MODELS) -> Lead:
    """Who leads from now on."""
    total = np.concatenate([[0.0], np.cumsum(past.work)])
    arrivals = Arrivals(datetime.fromtimestamp(past.begin_s, UTC), terms.interval_s, total)
    leader = line_up(arrivals, terms, models=models, calendar=past.calendar).leader
    if leader.model is None:
        return Lead(past, leader.policy)
    fitted = leader.model.fit(past.work, past.times(terms))
    return Lead(past, leader.policy, leader.model.name, fitted)


def look(lead: Lead | None, past: Past, terms: ScalingTerms) -> Outlook:
    """Who decides now, and what it expects of the next intervals; the reactive rule where nobody leads."""
    if lead is None:
        return Outlook(Reactive())
    if lead.model is None or lead.fitted is None:
        return Outlook(lead.policy)
    made = lead.fitted.predict(past.work, np.array([len(past.work)]), past.times(terms))[0]
    counts = np.maximum(0.0, made).astype(np.float32)
    return Outlook(lead.policy, Forecast(lead.model, counts))
