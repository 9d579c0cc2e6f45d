"""The score of the Numenta Anomaly Benchmark: how early labelled windows were found, and what else was.

Likelihoods of every row and labelled windows in, a score of 0 (says nothing) to 100 (perfect) out for each profile, at
the one threshold for all series that is best for it. Called by `weft anomaly score` and the bench.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PROBATION = 0.15
"""The share of a series that is not scored, of at most its first PROBATION_ROWS rows."""
PROBATION_ROWS = 5_000
FAR = 3.0
"""Widths of a window after it, from which on a false alarm counts whole."""
NOTHING = 1.1
"""A threshold that no likelihood reaches."""


@dataclass(frozen=True)
class Profile:
    """What alarms are worth."""

    name: str
    hit: float
    false_alarm: float
    miss: float


PROFILES = (
    Profile("standard", 1.0, 0.11, 1.0),
    Profile("reward_low_FP_rate", 1.0, 0.22, 1.0),
    Profile("reward_low_FN_rate", 1.0, 0.11, 2.0),
)


@dataclass(frozen=True, eq=False)
class Labelled:
    """The likelihoods that a detector gave a series, and the rows of its labelled windows, the last ones included."""

    name: str
    likelihoods: NDArray[np.float64]
    windows: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class NabScore:
    """The score by one profile."""

    profile: str
    score: float
    threshold: float
    found: int
    """Windows in which there was an alarm."""
    windows: int
    false_alarms: int


@dataclass(frozen=True, eq=False)
class _Rows:
    """All rows that are scored: likelihood, what an alarm there is worth by position, and the window or -1."""

    likelihood: NDArray[np.float64]
    worth: NDArray[np.float64]
    window: NDArray[np.int64]


def score(series: Sequence[Labelled], profile: Profile) -> NabScore:
    """The best score that one threshold for all series reaches, against none and perfect."""
    rows = _rows(series)
    windows = np.unique(rows.window[rows.window >= 0])
    order = np.argsort(-rows.likelihood, kind="stable")
    nothing = -profile.miss * len(windows)
    best = NabScore(profile.name, nothing, NOTHING, 0, len(windows), 0)
    parts = {int(window): -profile.miss for window in windows}
    total, found, wrong = nothing, 0, 0
    likelihoods, worths, places = (
        values[order].tolist() for values in (rows.likelihood, rows.worth, rows.window)
    )
    for at, (likelihood, worth, window) in enumerate(zip(likelihoods, worths, places, strict=True)):
        if window < 0:
            total += worth * profile.false_alarm
            wrong += 1
        else:
            had = parts[window]
            found += had == -profile.miss
            parts[window] = max(had, worth * profile.hit)
            total += parts[window] - had
        is_last = at + 1 == len(likelihoods) or likelihoods[at + 1] != likelihood
        if is_last and total > best.score:
            best = NabScore(profile.name, total, likelihood, found, len(windows), wrong)
    perfect = profile.hit * sum(len(one.windows) for one in series)
    reached = 100 * (best.score - nothing) / (perfect - nothing) if perfect > nothing else 0.0
    return NabScore(
        profile.name, reached, best.threshold, best.found, len(windows), best.false_alarms
    )


def probation(rows: int) -> int:
    """The first row that is scored."""
    return math.ceil(min(math.floor(PROBATION * rows), PROBATION * PROBATION_ROWS))


def worth(rows: int, windows: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """What an alarm in each row is worth: up to 1 in a window, the earlier the more; down to -1 outside of one."""
    values = np.full(rows, -1.0)
    most = _sigmoid(np.array([-1.0]))[0]
    for number, (first, last) in enumerate(windows):
        width = last - first + 1
        inside = np.arange(first, last + 1)
        values[inside] = _sigmoid(-(last - inside + 1) / width) / most
        end = windows[number + 1][0] if number + 1 < len(windows) else rows
        after = np.arange(last + 1, end)
        values[after] = _sigmoid((after - last) / max(1, width - 1))
    return values


def _rows(series: Sequence[Labelled]) -> _Rows:
    likelihoods, worths, windows = [], [], []
    number = 0
    for one in series:
        count = len(one.likelihoods)
        inside = np.full(count, -1)
        for first, last in one.windows:
            inside[first : last + 1] = number
            number += 1
        scored = slice(probation(count), count)
        likelihoods.append(one.likelihoods[scored])
        worths.append(worth(count, one.windows)[scored])
        windows.append(inside[scored])
    return _Rows(*(np.concatenate(parts) for parts in (likelihoods, worths, windows)))


def _sigmoid(position: NDArray[np.float64]) -> NDArray[np.float64]:
    """From 1 at the left edge of a window to 0 at its right one, and on to -1 behind it."""
    near = 2 / (1 + np.exp(5 * np.minimum(position, FAR))) - 1
    return np.where(position > FAR, -1.0, near)
