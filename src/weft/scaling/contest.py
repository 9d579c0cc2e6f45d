"""Every model and policy over one series of arrivals, beside the reactive rule, the static peak and the optimum.

Called by `weft scaling contest` and the bench. What acts in the end, `weft`, is at each review the candidate that beat
the reactive rule in the days before it, played as if it had acted then; where none did, it is the reactive rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from weft.scaling.arrivals import Arrivals, Series
from weft.scaling.boosted import BoostedQuantiles
from weft.scaling.forecast import FIRST_FIT, HORIZON, Forecast, ForecastModel, forecasts, pinball
from weft.scaling.naive import LastValue, SeasonalNaive
from weft.scaling.optimum import hindsight_hours, peak_executors
from weft.scaling.policy import (
    DAY_S,
    Ahead,
    Decision,
    Load,
    Reactive,
    ScalingError,
    ScalingPolicy,
    ScalingTerms,
    Static,
)
from weft.scaling.simulator import Course, check_playable, play
from weft.scaling.smoothing import ExponentialSmoothing
from weft.scaling.timeline import Timeline

MODELS: tuple[ForecastModel, ...] = (
    LastValue(),
    SeasonalNaive(),
    ExponentialSmoothing(),
    BoostedQuantiles(),
)
POLICIES = (
    Ahead("eager", quantile=0.5, doubt=0.5),
    Ahead("even", quantile=0.5, doubt=0.75),
    Ahead("calm", quantile=0.75, doubt=0.9),
)
"""From the one that costs least to the one that acts least."""
REVIEW = 60
"""Decisions from one review of who may act to the next."""
REVIEWED_DAYS = 7
"""Days before a review that count in it."""
BETTER = 0.99
"""Whoever acts is replaced by one that costs, or where all act too often acts, less than this share of it."""
DEARER = 1.02
"""Whoever breaks the objective at most half as long as another may cost so much of what that one does."""
PEAK_SHARE = 8
"""How many executors serve the rate that is exceeded in one percent of intervals, where no capacity is given."""

NO_CALENDAR: Mapping[str, tuple[str, ...]] = MappingProxyType({})

Say = Callable[[str], None]


@dataclass(frozen=True)
class Standing:
    """What one contestant reached."""

    name: str
    within: float
    hours: float
    vs_optimum: float
    actions_a_day: float
    longest_lag_s: float
    acted: float | None = None
    """The share of decisions in which it was the one that acted."""


@dataclass(frozen=True)
class Contest:
    """The result: everyone's standing, how well models forecast, and what was decided in the end."""

    terms: ScalingTerms
    intervals: int
    optimum_hours: float
    standings: tuple[Standing, ...]
    losses: Mapping[str, float | None]
    """Of each model: the mean pinball loss of its forecasts, in records an interval; none without a forecast."""
    decisions: tuple[Decision, ...]

    def standing(self, name: str) -> Standing:
        """What the contestant of this name reached."""
        return next(one for one in self.standings if one.name == name)


@dataclass(frozen=True, eq=False)
class Candidate:
    """Someone who may act: a policy, the model whose forecasts it goes by, and how it went."""

    name: str
    policy: ScalingPolicy
    model: ForecastModel | None
    course: Course
    forecasts: Sequence[Forecast | None] = ()


@dataclass(frozen=True, eq=False)
class Candidates:
    """All of them, the reactive rule first, and which of them acts in each interval."""

    all: tuple[Candidate, ...]
    leaders: tuple[int, ...]
    losses: Mapping[str, float | None]

    @property
    def leader(self) -> Candidate:
        """Who acts in the end."""
        return self.all[self.leaders[-1]]


@dataclass(frozen=True)
class Turns:
    """Lets at every decision another candidate decide."""

    lined: Candidates
    interval_s: float
    name: str = "weft"

    def decide(self, load: Load, forecast: Forecast | None, terms: ScalingTerms) -> Decision:
        """What the one that leads now decides."""
        interval = round(load.at_s / self.interval_s)
        leader = self.lined.all[self.lined.leaders[interval]]
        expected = leader.forecasts[interval] if leader.forecasts else None
        return leader.policy.decide(load, expected, terms)


def terms_for(arrivals: Arrivals, terms: ScalingTerms) -> ScalingTerms:
    """The same terms with executors that serve an eighth of the rate that one interval of a hundred exceeds."""
    counts = arrivals.counts(terms.interval_s)
    if len(counts) < 2:
        raise ScalingError(
            f"There is less than two intervals of {terms.interval_s:g} s of arrivals.",
            hint="Give more of them, or a shorter --interval.",
        )
    busy = float(np.quantile(counts, 0.99)) or float(counts.max())
    if not busy:
        raise ScalingError("Nothing arrives.", hint="Give a file that has some arrivals.")
    return replace(terms, cost_s=terms.interval_s * PEAK_SHARE / busy)


def line_up(
    arrivals: Arrivals,
    terms: ScalingTerms,
    *,
    models: Sequence[ForecastModel] = MODELS,
    calendar: Mapping[str, tuple[str, ...]] = NO_CALENDAR,
    initial: int | None = None,
    say: Say = lambda _: None,
) -> Candidates:
    """The reactive rule and every model with every policy, played over the same arrivals."""
    counts = arrivals.counts(terms.interval_s)
    if len(counts) < 2:
        terms_for(arrivals, terms)
    found = [Candidate("ds2", Reactive(), None, play(Reactive(), arrivals, terms, initial=initial))]
    losses = {}
    times = Timeline.of(arrivals.start.timestamp(), terms.interval_s, calendar)
    for model in models:
        say(f"forecasting by {model.name}")
        made = forecasts(model, counts, times)
        losses[model.name] = _loss(made, counts)
        for policy in POLICIES:
            name = f"{model.name}-{policy.name}"
            say(f"playing {name}")
            course = play(policy, arrivals, terms, made, initial=initial)
            found.append(Candidate(name, policy, model, course, made))
    leaders = _leaders([one.course for one in found], terms)
    return Candidates(tuple(found), tuple(leaders), losses)


def contest(
    arrivals: Arrivals,
    terms: ScalingTerms,
    *,
    models: Sequence[ForecastModel] = MODELS,
    calendar: Mapping[str, tuple[str, ...]] = NO_CALENDAR,
    initial: int | None = None,
    say: Say = lambda _: None,
) -> Contest:
    """Play everyone over the same arrivals."""
    check_playable(arrivals, terms)
    lined = line_up(arrivals, terms, models=models, calendar=calendar, initial=initial, say=say)
    turns = Turns(lined, terms.interval_s)
    chosen = play(turns, arrivals, terms, initial=initial)
    peak = Static(min(terms.maximum, peak_executors(arrivals, terms)), "peak")
    at_peak = play(peak, arrivals, terms, initial=peak.executors)
    best = hindsight_hours(arrivals, terms)
    acted = np.bincount(lined.leaders, minlength=len(lined.all)) / len(lined.leaders)
    standings = [
        _standing("weft", chosen, best),
        *(
            _standing(one.name, one.course, best, float(share))
            for one, share in zip(lined.all, acted, strict=True)
        ),
        _standing("peak", at_peak, best),
    ]
    intervals = len(arrivals.counts(terms.interval_s))
    return Contest(terms, intervals, best, tuple(standings), lined.losses, chosen.decisions)


def _leaders(courses: Sequence[Course], terms: ScalingTerms) -> list[int]:
    """Who acts in each interval, by what was known when it began; 0 is the reactive rule."""
    per = round(terms.interval_s / courses[0].tick_s)
    intervals = len(courses[0].billed) // per
    late = np.stack([_by_interval(~one.kept, per) for one in courses])
    billed = np.stack([_by_interval(one.billed, per) for one in courses])
    actions = np.zeros_like(billed)
    for place, course in enumerate(courses):
        for decision in course.decisions:
            actions[place, round(decision.at_s / terms.interval_s)] += 1
    window = round(REVIEWED_DAYS * DAY_S / terms.interval_s)
    leaders, leader = [0] * intervals, 0
    for interval in range(intervals):
        if interval >= 2 * FIRST_FIT and interval % REVIEW == 0:
            past = slice(max(FIRST_FIT, interval - window), interval)
            days = (past.stop - past.start) * terms.interval_s / DAY_S
            sums = [values[:, past].sum(axis=1) for values in (late, billed, actions)]
            leader = _review(leader, *sums, limit=terms.actions_a_day * days)
        leaders[interval] = leader
    return leaders


def _review(leader: int, late: Series, billed: Series, actions: Series, *, limit: float) -> int:
    """Who acts from now on, of those that beat the reactive rule: of the cheapest, one that breaks the objective least.

    To beat it is to serve as well and cost less, or to break the objective at most half as long and cost hardly more.
    Those that acted more often than they may come after those that did not, the one first that acted least.
    """
    is_cheaper = (billed < billed[0]) | ((billed == billed[0]) & (actions < actions[0]))
    is_better = (late < late[0]) & (2 * late <= late[0]) & (billed <= DEARER * billed[0])
    beat = ((late <= late[0]) & is_cheaper) | is_better
    beat[0] = False
    if not beat.any():
        return 0
    calm = beat & (actions <= limit)
    if not calm.any():
        return _least(leader, beat, actions, billed)
    near = calm & (billed <= DEARER * billed[calm].min())
    return _least(leader, near & (late <= 2 * late[near].min()), billed, actions)


def _least(leader: int, among: NDArray[np.bool_], first: Series, second: Series) -> int:
    """The one with the least of a measure, then of another; whoever leads goes on where it has hardly more."""
    best = min(map(int, np.flatnonzero(among)), key=lambda one: (first[one], second[one]))
    stays = among[leader] and first[best] > BETTER * first[leader]
    return leader if stays else best


def _by_interval(values: NDArray[np.generic], per: int) -> Series:
    """The sum over the ticks of each interval."""
    whole = len(values) // per * per
    summed: Series = values[:whole].reshape(-1, per).sum(axis=1).astype(float)
    return summed


def _loss(made: Sequence[Forecast | None], counts: Series) -> float | None:
    """How far forecasts were from what came."""
    judged = [
        (one.counts, counts[place : place + HORIZON])
        for place, one in enumerate(made[: len(counts) - HORIZON + 1])
        if one is not None
    ]
    if not judged:
        return None
    return pinball(np.stack([one for one, _ in judged]), np.stack([came for _, came in judged]))


def _standing(name: str, course: Course, best: float, acted: float | None = None) -> Standing:
    return Standing(
        name=name,
        within=course.within,
        hours=course.hours,
        vs_optimum=course.hours / best,
        actions_a_day=course.actions_a_day,
        longest_lag_s=float(course.lag_s.max()),
        acted=acted,
    )
