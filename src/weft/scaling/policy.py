"""How many executors there should be: loads and forecasts in, decisions with their reasons out. Pure values.

Called between batches by whoever runs executors, and by the simulator. The reactive rule is that of DS2: as many as
the rate needs, and what the backlog needs to be gone in time. The planned one lets the backlog be what it may be: it
asks for more when the forecast would break the objective before more could be there, and for fewer when fewer hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.errors import WeftError
from weft.scaling.forecast import Forecast

DAY_S = 86_400.0
MOST_EXECUTORS = 100_000


class ScalingError(WeftError):
    """What is asked of scaling cannot be."""

    code = "scaling.refused"
    domain = "user"


@dataclass(frozen=True)
class ScalingTerms:
    """What executors can do, and what is asked of them."""

    cost_s: float
    """Seconds of one executor that a record takes, at the complexity that there is now."""
    start_up_s: float = 60.0
    objective_s: float = 60.0
    """No record may wait longer."""
    interval_s: float = 60.0
    """From one decision to the next."""
    minimum: int = 1
    maximum: int = MOST_EXECUTORS
    hours_a_day: float | None = None
    """The executor-hours that a day may cost."""
    actions_a_day: float = 20.0
    """How often the number should change at most: of several policies one that keeps to it is preferred."""

    def __post_init__(self) -> None:
        named = ("cost_s", "objective_s", "interval_s")
        wrong = [name for name in named if not 0 < getattr(self, name) < math.inf]
        if not 0 <= self.start_up_s < math.inf:
            wrong.append("start_up_s")
        if self.hours_a_day is not None and not 0 < self.hours_a_day < math.inf:
            wrong.append("hours_a_day")
        if wrong:
            said = ", ".join(f"{name} {getattr(self, name)}" for name in wrong)
            raise ScalingError(
                f"Executors cannot be planned with {said}.",
                hint="Times and costs are above zero, and there is at least one executor.",
            )
        if not 1 <= self.minimum <= self.maximum <= MOST_EXECUTORS:
            raise ScalingError(
                f"There cannot be at least {self.minimum} and at most {self.maximum} executors.",
                hint=f"Say a minimum of 1 or more, and a maximum from there to {MOST_EXECUTORS}.",
            )

    @property
    def per_interval(self) -> float:
        """The records that one executor serves from one decision to the next."""
        return self.interval_s / self.cost_s

    @property
    def patience(self) -> float:
        """The records that one executor serves within the objective: the backlog that it may have."""
        return self.objective_s / self.cost_s

    @property
    def delay(self) -> int:
        """The decisions until one that is taken now has its executors."""
        return math.ceil(self.start_up_s / self.interval_s - 1e-9)


@dataclass(frozen=True, slots=True)
class Load:
    """What is known when a decision is taken."""

    at_s: float
    arrived: float
    """Records that came since the last decision."""
    backlog: float
    executors: int
    starting: int = 0
    quiet: int = MOST_EXECUTORS
    """Decisions since the number was last changed."""
    spent_hours: float = 0.0
    """Executor-hours of this day so far."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How many executors were wanted, why, and what was expected then."""

    at_s: float
    had: int
    wanted: int
    reason: str
    by: str
    backlog: float
    expected: float | None = None
    """The highest rate, in records a second, that the forecast gave for the time until executors could be there."""
    model: str | None = None

    @property
    def is_action(self) -> bool:
        """Whether it changes anything."""
        return self.had != self.wanted


class ScalingPolicy(Protocol):
    """A way to decide."""

    @property
    def name(self) -> str: ...

    def decide(self, load: Load, forecast: Forecast | None, terms: ScalingTerms) -> Decision:
        """The number that should be there."""


@dataclass(frozen=True)
class Reactive:
    """DS2: what the rate of the last interval needs, and what the backlog needs to be gone within the objective."""

    name: str = "ds2"

    def decide(self, load: Load, forecast: Forecast | None, terms: ScalingTerms) -> Decision:
        """The number that the last interval would have needed."""
        needed = _ds2(load, terms)
        return _decision(load, terms, needed, "what the last interval needed", self.name)


@dataclass(frozen=True)
class Static:
    """Always as many."""

    executors: int
    name: str = "static"

    def decide(self, load: Load, forecast: Forecast | None, terms: ScalingTerms) -> Decision:
        """The same number as ever."""
        return _decision(load, terms, self.executors, "always as many", self.name)


@dataclass(frozen=True)
class Ahead:
    """As few as keep the forecast within the objective; without a forecast what the reactive rule says."""

    name: str = "even"
    quantile: float = 0.5
    """Which quantile of the forecast asks for more: the margin for its errors."""
    doubt: float = 0.75
    """Which quantile fewer must be able to serve."""
    margin: float = 0.9
    """The share of the objective that may be used up on the way up."""
    slack: float = 0.5
    """And that may be left in use by going down."""
    rise: int = 10
    """For how many decisions new executors should be enough."""
    cool_down: int = 20
    """For how many decisions fewer must be enough, before there are fewer."""
    stride: float = 0.2
    """The least share of the executors by which their number is changed: small changes of many are not worth one."""

    def decide(self, load: Load, forecast: Forecast | None, terms: ScalingTerms) -> Decision:
        """The smallest number that keeps the objective, if the one that is there does not or is too many."""
        if forecast is None:
            needed = _ds2(load, terms)
            return _decision(load, terms, needed, "no forecast yet: the last interval", "ds2")
        path = forecast.path(self.quantile)
        surprised = load.arrived > forecast.path(1.0)[0]
        if load.arrived > path[0]:
            # More than was expected has just come: the forecast may be wrong, what came is not.
            path = [max(load.arrived, expected) for expected in path]
        have = load.executors + load.starting
        near = path[: terms.delay + 2]
        if _breaks(load, terms, have, near, self.margin):
            wanted, reason = self._more(load, terms, have, path, surprised)
        else:
            doubted = map(max, path, forecast.path(self.doubt))
            wanted = self._fewer(load, terms, have, list(doubted))
            reason = "fewer keep the objective"
            if wanted == have:
                reason = "these keep the objective"
        return _decision(load, terms, wanted, reason, self.name, forecast=forecast, near=near)

    def _more(
        self,
        load: Load,
        terms: ScalingTerms,
        have: int,
        path: Sequence[float],
        surprised: bool,
    ) -> tuple[int, str]:
        ahead = path[: max(self.rise, terms.delay + 2)]
        highest = min(terms.maximum, max(have, _most(load, terms, ahead)))
        wanted = highest
        low = have + max(1, math.floor(self.stride * have))
        while low < wanted:
            middle = (low + wanted) // 2
            if _breaks(load, terms, middle, ahead, self.margin):
                low = middle + 1
            else:
                wanted = middle
        if load.backlog > have * terms.patience:
            return max(wanted, _ds2(load, terms)), "the objective is broken: the backlog first"
        if surprised:
            return max(wanted, _ds2(load, terms)), "more came than the forecast thought possible"
        return wanted, "the forecast would break the objective"

    def _fewer(self, load: Load, terms: ScalingTerms, have: int, path: Sequence[float]) -> int:
        if load.quiet < terms.delay + 1:
            return have
        wanted = have
        while wanted > terms.minimum and not _breaks(
            load, terms, wanted - 1, path[: self.cool_down], self.slack, at_once=True
        ):
            wanted -= 1
        enough = have - wanted >= self.stride * have or wanted == terms.minimum
        return wanted if enough else have


def _breaks(
    load: Load,
    terms: ScalingTerms,
    executors: int,
    path: Sequence[float],
    share: float,
    *,
    at_once: bool = False,
) -> bool:
    """Whether so many executors, asked for now, leave more behind than this share of the objective.

    Where they are all there at once, what waits now counts too: an interval may be much longer than a record may wait.
    """
    served, room = terms.per_interval, terms.patience * share
    delay = 0 if at_once else terms.delay
    backlog = load.backlog
    if at_once and backlog > executors * room:
        return True
    for place, arriving in enumerate(path):
        there = executors if place >= delay else min(load.executors, executors)
        backlog = max(0.0, backlog + arriving - there * served)
        if place + 1 >= delay and backlog > executors * room:
            return True
    return False


def _most(load: Load, terms: ScalingTerms, path: Sequence[float]) -> int:
    """A number that is certainly enough: all that is there and will come, at once."""
    return math.ceil((load.backlog + sum(path)) / min(terms.per_interval, terms.patience)) + 1


def _ds2(load: Load, terms: ScalingTerms) -> int:
    rate = load.arrived / terms.interval_s
    return math.ceil((rate + load.backlog / terms.objective_s) * terms.cost_s - 1e-9)


def _decision(
    load: Load,
    terms: ScalingTerms,
    wanted: int,
    reason: str,
    by: str,
    *,
    forecast: Forecast | None = None,
    near: Sequence[float] = (),
) -> Decision:
    """A number within its limits."""
    allowed = max(terms.minimum, min(wanted, terms.maximum))
    if allowed != wanted:
        reason = f"{reason}; limited to {allowed}"
    if terms.hours_a_day is not None:
        left = terms.hours_a_day - load.spent_hours
        hours = (DAY_S - load.at_s % DAY_S) / 3600
        affordable = max(terms.minimum, math.floor(left / hours + 1e-9))
        if affordable < allowed:
            allowed, reason = affordable, f"{reason}; the day's budget allows {affordable}"
    return Decision(
        at_s=load.at_s,
        had=load.executors + load.starting,
        wanted=allowed,
        reason=reason,
        by=by,
        backlog=load.backlog,
        expected=max(near) / terms.interval_s if near else None,
        model=forecast.model if forecast else None,
    )
