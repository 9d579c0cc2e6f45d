"""The events of the end-to-end bench as JSON in files, and one number over results by which sides are compared."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench._window_data import FAR_KEY, SPAN_MS, START_MS, Case, events

Numbers = npt.NDArray[np.int64]
FILES = 8
FAR_MS = START_MS + 100 * SPAN_MS
"""When the last event was: so far ahead that it closes every window."""
SECOND = 1000


def write(case: Case, folder: Path) -> None:
    """The events as lines of JSON, in files that arrive in the order of their names."""
    folder.mkdir(parents=True)
    keys, values, at = events(case)
    each = -(-case.events // FILES)
    for number in range(FILES):
        part = slice(number * each, (number + 1) * each)
        lines = map(line, keys[part], values[part], at[part])
        (folder / f"{number:03d}.json").write_text("".join(lines))
    (folder / f"{FILES:03d}.json").write_text(line(FAR_KEY, 0, FAR_MS))


def line(key: int, value: int, at_ms: int) -> str:
    """One event as it is written down."""
    seconds, thousandths = divmod(at_ms, SECOND)
    return f'{{"key":{key},"value":{value},"at":"{_moment(seconds)}.{thousandths:03d}Z"}}\n'


@lru_cache(maxsize=1000)
def _moment(seconds: int) -> str:
    return str(np.datetime64(seconds, "s"))


def expected(case: Case) -> tuple[int, int]:
    """The number of panes, and the checksum over them, that every side must give."""
    keys, values, at = (np.array(column, np.int64) for column in events(case))
    slides = at // case.slide_ms
    # One number for a key and a slide, so that equal ones are found by sorting.
    base = slides.min()
    places, inverse = np.unique((slides - base) * case.keys + keys, return_inverse=True)
    counts = np.bincount(inverse)
    sums = np.bincount(inverse, values).astype(np.int64)
    overlap = case.size_ms // case.slide_ms
    spread = np.concatenate([places + step * case.keys for step in range(overlap)])
    panes, inverse = np.unique(spread, return_inverse=True)
    n = np.bincount(inverse, np.tile(counts, overlap)).astype(np.int64)
    s = np.bincount(inverse, np.tile(sums, overlap)).astype(np.int64)
    starts = (panes // case.keys + base - overlap + 1) * case.slide_ms
    return len(panes), checksum(starts, panes % case.keys, n, s)


def checksum(starts: Numbers, keys: Numbers, counts: Numbers, sums: Numbers) -> int:
    """One number over panes in any order: start in milliseconds, key, count and sum of each, mixed and added up."""
    mixed = np.zeros(len(keys), np.uint64)
    for column in (starts, keys, counts, sums):
        mixed = (mixed ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return int(mixed.sum(dtype=np.uint64))
