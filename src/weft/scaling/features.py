"""What a model may know at a moment: counts so far in, a row of numbers for each origin out. Only from before it.

All are relative to the level of now, in logarithms, so that what was learned at one level holds at another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.scaling.forecast import Series
from weft.scaling.timeline import Timeline

RECENT = 3
"""Intervals whose mean is the level of now."""
SPANS = (1, 5, 15, 60, 240)
"""Means over so many intervals before the origin, and over a day."""
PEAKS = (15, 60)


def level(logs: Series, origins: NDArray[np.int64]) -> Series:
    """The mean logarithm of the last counts before each origin."""
    return _mean(logs, origins, RECENT)


def features(
    logs: Series, origins: NDArray[np.int64], ahead: NDArray[np.int64], times: Timeline
) -> NDArray[np.float64]:
    """A row for each origin and interval ahead: mean rates and their change, peaks, season, calendar, how far ahead.

    The season is the time of day and of the week, and how the count changed at this time a day and a week ago; where
    history does not reach that far it is no change. The calendar is which period it has here and there, and how the
    count changed in the last one of that name.
    """
    day = times.day
    now = level(logs, origins)
    columns = [_mean(logs, origins, span) - now for span in (*SPANS, day)]
    columns += [_highest(logs, origins, span) - now for span in PEAKS]
    columns.append(_mean(logs, origins, 5) - _mean(logs, origins - 5, 5))
    columns.append(_deviation(logs, origins, 60))
    columns.append(now)
    by_origin = np.repeat(np.stack(columns, axis=1), len(ahead), axis=0)
    at = (origins[:, None] + ahead[None, :]).ravel()
    start = np.repeat(origins, len(ahead))
    seasons = [_season(logs, start, at, ago) for ago in (day, 7 * day, times.since_last(at))]
    phase = 2 * np.pi * times.of_day(at) / day
    moments = [np.sin(phase), np.cos(phase), times.of_week(at), at - start]
    named = [times.named(start), times.named(at)]
    return np.concatenate([by_origin, np.stack([*seasons, *moments, *named], axis=1)], axis=1)


def _mean(logs: Series, origins: NDArray[np.int64], span: int) -> Series:
    """The mean over the intervals before each origin, as far as there are any."""
    totals = np.concatenate([[0.0], np.cumsum(logs)])
    ends = np.clip(origins, 1, len(logs))
    starts = np.clip(origins - span, 0, ends - 1)
    mean: Series = (totals[ends] - totals[starts]) / (ends - starts)
    return mean


def _highest(logs: Series, origins: NDArray[np.int64], span: int) -> Series:
    padded = np.concatenate([np.full(span, logs[0]), logs])
    windows = np.lib.stride_tricks.sliding_window_view(padded, span)
    highest: Series = windows[origins].max(axis=1)
    return highest


def _deviation(logs: Series, origins: NDArray[np.int64], span: int) -> Series:
    """How far single counts are from their mean."""
    squares = _mean(logs**2, origins, span) - _mean(logs, origins, span) ** 2
    deviation: Series = np.sqrt(np.maximum(0.0, squares))
    return deviation


def _season(
    logs: Series, start: NDArray[np.int64], at: NDArray[np.int64], season: int | NDArray[np.int64]
) -> NDArray[np.float64]:
    """How the count changed from an origin to this moment, a season ago; where there is no season, not at all."""
    # The mean around a moment a season ago may use what came after it, as long as that is before the origin.
    around = np.minimum(at - season + 2, start)
    change = _mean(logs, around, RECENT) - _mean(logs, start - season, RECENT)
    return np.where((season > 0) & (start - season >= RECENT), change, 0.0)
