"""One series, watched as it comes: a moment and a value in, how unusual it is and what was expected out.

Three things are measured: how far a value is from what this time of day brings, how far the last values together are
from those before, and how far it lies outside of all that was seen. Each is compared with the highest that the same
measure reached before, which fades: what is as unusual as anything so far has the likelihood one half. So a series
sets its own scale, there is nothing to set, and one that is wild by nature raises no alarm by being so.

Every value costs the same few microseconds, and the state is a few kilobytes. Called by whoever watches series.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["season", "shift", "extreme"]

ALARM = 0.54
"""A likelihood from which on one may want to be told; the score of the benchmark finds its own."""
ALARM_OF_MANY = 0.7
"""The same for one of many series that are watched together, where each is unusual now and then."""
DAY_S = 86_400.0
BUCKETS = 48
"""Parts of a day that have an expectation each."""
SEASON_RATE = 0.05
"""How fast an expectation follows, once it has seen enough."""
SEASON_SEEN = 8
"""Values that an expectation needs before it counts."""
RECENT = 10
"""Values that are taken together to see a shift."""
SHIFT_RATE = 1 / 250
LEARNED = 100
"""Values before anything is said."""
FADE = 0.5 ** (1 / 3_000)
"""How fast the highest measures so far fade, by value."""
HOLD = 0.5 ** (1 / 200)
"""How fast one becomes ready to be told of the next thing, by value."""
LONGEST = 20_000
"""Values after which the overall deviation forgets old ones for new ones."""
LASTING = 100_000
"""Values in which extremes come by two thirds closer to the mean."""
OUTSIDE = 0.3
"""By which share of all that was seen a value lies outside of it to be three quarters likely."""
ABOUT = 1.25
"""How much further than one that was accepted another may deviate and be accepted, too."""
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Judgement:
    """How unusual a value is, and why."""

    likelihood: float
    """From 0 to 1: above one half it is more unusual than anything before."""
    kind: Kind
    """Which measure says so."""
    observed: float
    low: float
    """What was expected: within this band nothing is unusual."""
    high: float
    deviation: float
    """How far it is from what was expected, in deviations; for an extreme in shares of all that was seen."""

    @property
    def explanation(self) -> str:
        """The same in words."""
        what = {
            "season": "at this time of day",
            "shift": f"on average of {RECENT} values",
            "extreme": "as far as anything was seen",
        }[self.kind]
        return f"{self.observed:g}, where {self.low:g} to {self.high:g} is expected {what}"


@dataclass
class Detector:
    """What is known of a series. All of it is in its fields, so that it can be stored and goes on."""

    seen: int = 0
    mean: float = 0.0
    variance: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0
    season_mean: list[float] = field(default_factory=lambda: [0.0] * BUCKETS)
    season_variance: list[float] = field(default_factory=lambda: [0.0] * BUCKETS)
    season_seen: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    recent: list[float] = field(default_factory=list)
    long_seen: int = 0
    long_mean: float = 0.0
    long_variance: float = 0.0
    season_record: float = 0.0
    shift_record: float = 0.0
    held: float = 0.0
    """What was told last, fading: only what is more likely than this is told again."""
    accepted: dict[str, float] = field(default_factory=dict)
    """The largest deviation of each kind that someone said is not an anomaly."""

    def observe(self, at_s: float, value: float) -> Judgement:
        """Judge a value, and learn from it; one that is no number is neither judged nor learned."""
        if not math.isfinite(value):
            return Judgement(0.0, "season", value, math.nan, math.nan, 0.0)
        bucket = int(at_s % DAY_S * BUCKETS / DAY_S)
        likelihood, kind, low, high, deviation = self._judge(bucket, value)
        self._learn(bucket, value)
        if self.seen <= LEARNED:
            likelihood = 0.0
        self.held *= HOLD
        if likelihood <= self.held:
            likelihood = 0.0
        else:
            self.held = likelihood
        return Judgement(likelihood, kind, value, low, high, deviation)

    def accept(self, judgement: Judgement) -> None:
        """Take in that this was not an anomaly: one that deviates about as much is not told again."""
        known = self.accepted.get(judgement.kind, 0.0)
        self.accepted[judgement.kind] = max(known, ABOUT * judgement.deviation)

    def _judge(self, bucket: int, value: float) -> tuple[float, Kind, float, float, float]:
        """The most unusual of the three measures: how likely it is, which, its band, and the deviation."""
        season = shift = outside = 0.0
        overall = self.variance
        spread = math.sqrt(self.season_variance[bucket] + 0.01 * overall + TINY)
        wide = math.sqrt(self.long_variance) + 0.05 * math.sqrt(overall) + TINY
        expected = self.season_mean[bucket]
        if self.season_seen[bucket] >= SEASON_SEEN:
            season = abs(value - expected) / spread
        if self.long_seen >= 2 * RECENT:
            together = (sum(self.recent[1:]) + value) / RECENT
            shift = abs(together - self.long_mean) / wide
        seen = self.highest - self.lowest
        if self.seen and not self.lowest <= value <= self.highest:
            outside = max(value - self.highest, self.lowest - value) / (seen + TINY)
        likelihoods = (
            self._likelihood("season", season, self.season_record),
            self._likelihood("shift", shift, self.shift_record),
            0.0
            if outside <= self.accepted.get("extreme", 0.0)
            else 0.5 + 0.5 * outside / (outside + OUTSIDE),
        )
        season_band, shift_band = self.season_record * spread, self.shift_record * wide
        self.season_record = max(self.season_record * FADE, season)
        self.shift_record = max(self.shift_record * FADE, shift)
        most = max(likelihoods)
        if most == likelihoods[2] and outside:
            return most, "extreme", self.lowest, self.highest, outside
        if most == likelihoods[0]:
            low, high = expected - season_band, expected + season_band
            return most, "season", low, high, season
        low, high = self.long_mean - shift_band, self.long_mean + shift_band
        return most, "shift", low, high, shift

    def _likelihood(self, kind: Kind, measure: float, record: float) -> float:
        """One half for what is as high as the highest so far."""
        if measure <= self.accepted.get(kind, 0.0):
            return 0.0
        return measure / (measure + record) if measure else 0.0

    def _learn(self, bucket: int, value: float) -> None:
        self.seen += 1
        if self.seen == 1:
            self.mean = self.lowest = self.highest = value
        # Extremes fade, too: what was seen once, long ago, is not expected for ever.
        self.lowest = min(self.lowest + (self.mean - self.lowest) / LASTING, value)
        self.highest = max(self.highest + (self.mean - self.highest) / LASTING, value)
        rate = 1 / min(self.seen, LONGEST)
        away = value - self.mean
        self.mean += rate * away
        self.variance += rate * (away * (value - self.mean) - self.variance)
        count = self.season_seen[bucket]
        if not count:
            self.season_mean[bucket], self.season_variance[bucket] = value, self.variance
        rate = max(SEASON_RATE, 1 / (count + 1))
        away = value - self.season_mean[bucket]
        self.season_mean[bucket] += rate * away
        self.season_variance[bucket] += rate * (away * away - self.season_variance[bucket])
        self.season_seen[bucket] = count + 1
        self.recent.append(value)
        if len(self.recent) > RECENT:
            left = self.recent.pop(0)
            self.long_seen += 1
            rate = max(SHIFT_RATE, 1 / self.long_seen)
            away = left - self.long_mean
            self.long_mean += rate * away
            self.long_variance += rate * (away * (left - self.long_mean) - self.long_variance)
