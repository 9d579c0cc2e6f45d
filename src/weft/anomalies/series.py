"""Labelled series from files: a folder of CSV files and one of windows in, what the benchmark's score needs out.

The forms are those of the Numenta Anomaly Benchmark: a file a series with a time and a value a line, and a JSON object
of each file's windows, first and last time. Called by `weft anomaly score` and the bench.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.anomalies.detector import Detector
from weft.anomalies.nab import PROFILES, Labelled, NabScore, score
from weft.errors import WeftError


class SeriesError(WeftError):
    """Series or their windows cannot be read."""

    code = "anomaly.unreadable"
    domain = "user"


@dataclass(frozen=True, eq=False)
class WatchedSeries:
    """A series with the rows of its labelled windows."""

    name: str
    times_s: NDArray[np.float64]
    values: NDArray[np.float64]
    windows: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CorpusScore:
    """The scores of a detector over all series."""

    scores: tuple[NabScore, ...]
    series: int
    rows: int
    missing: tuple[str, ...]
    """Series that have windows and no file; they are not scored."""


def score_folder(folder: Path, windows: Path) -> CorpusScore:
    """Watch every series that has windows, each from its beginning by a detector of its own, and score them."""
    labels = _labels(windows)
    found = list(_series(folder, labels))
    if not found:
        raise SeriesError(
            f"No series that {windows} names is in {folder}.",
            hint=f"It names {next(iter(labels), 'none')}; give the folder that this path begins in.",
            folder=str(folder),
        )
    watched = [Labelled(one.name, watch(one), one.windows) for one in found]
    named = {one.name for one in found}
    return CorpusScore(
        scores=tuple(score(watched, profile) for profile in PROFILES),
        series=len(found),
        rows=sum(len(one.values) for one in found),
        missing=tuple(name for name in labels if name not in named),
    )


def watch(series: WatchedSeries) -> NDArray[np.float64]:
    """The likelihood of every value, each judged by those before it."""
    observe = Detector().observe
    pairs = zip(series.times_s.tolist(), series.values.tolist(), strict=True)
    return np.array([observe(at_s, value).likelihood for at_s, value in pairs])


def _series(folder: Path, labels: Mapping[str, Any]) -> Iterator[WatchedSeries]:
    if not folder.is_dir():
        raise SeriesError(f"There is no folder {folder}.", domain="missing", folder=str(folder))
    for name, spans in labels.items():
        places = (folder / name, folder / "data" / name)
        if path := next((place for place in places if place.is_file()), None):
            yield _read(path, name, spans)


def _labels(path: Path) -> dict[str, Any]:
    try:
        labels = json.loads(path.read_text())
    except OSError as error:
        raise SeriesError(f"There is no file {path}.", domain="missing", file=str(path)) from error
    except ValueError as error:
        raise _unreadable(path, f"it is not JSON ({error})") from error
    if not isinstance(labels, dict) or not labels:
        raise _unreadable(path, "it is no object of windows by file")
    return labels


def _read(path: Path, name: str, spans: Any) -> WatchedSeries:
    import pandas as pd

    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, f"it cannot be read as CSV ({error})") from error
    if len(table.columns) < 2 or table.empty:
        raise _unreadable(path, "it has no lines with a time and a value")
    times = pd.to_datetime(table.iloc[:, 0], errors="coerce", utc=True, format="ISO8601")
    column = table["value"] if "value" in table else table.iloc[:, 1]
    values = pd.to_numeric(column, errors="coerce").to_numpy(float)
    wrong = times.isna().to_numpy() | ~np.isfinite(values)
    if wrong.any():
        raise _unreadable(path, f"record {int(np.argmax(wrong)) + 1} has no time or no number")
    seconds = times.astype("datetime64[ns, UTC]").astype("int64").to_numpy() / 1e9
    return WatchedSeries(name, seconds, values, _windows(path, seconds, spans))


def _windows(path: Path, seconds: NDArray[np.float64], spans: Any) -> tuple[tuple[int, int], ...]:
    """The rows of windows that are given by their first and last times."""
    import pandas as pd

    found = []
    for span in spans if isinstance(spans, Sequence) else [None]:
        bounds = pd.to_datetime(pd.Series(span), errors="coerce", utc=True, format="ISO8601")
        if len(bounds) != 2 or bounds.isna().any():
            raise _unreadable(path, f"its window {span} is no pair of times")
        first, last = (bound.timestamp() for bound in bounds)
        inside = np.flatnonzero((seconds >= first - 1e-3) & (seconds <= last + 1e-3))
        if not len(inside):
            raise _unreadable(path, f"its window {span} has no row")
        found.append((int(inside[0]), int(inside[-1])))
    return tuple(sorted(found))


def _unreadable(path: Path, why: str) -> SeriesError:
    return SeriesError(
        f"{path} cannot be used: {why}.",
        hint="Series are CSV with a time and a value a line; windows are JSON, {file: [[first, last], …]}.",
        file=str(path),
    )
