"""A file of arrivals as an even series: how many records came, by time. Read by the contest and by what-if.

Two forms are told apart: counts (a time and a number a line, at even steps) and arrivals (a line a record, its time
first). Times are ISO 8601 or numbers since the epoch, in seconds down to nanoseconds; the file may be gzipped.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from weft.errors import WeftError

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["auto", "counts", "arrivals"]
Series = NDArray[np.float64]

MOST_STEPS = 10_000_000
"""A span of ten million steps is more than a hundred days of seconds; beyond it a time is most likely wrong."""
MOST_COUNT = 1e12
"""No step has more records; a larger count is most likely another number."""
EVEN_SHARE = 0.9
COUNTS = frozenset(("count", "counts", "records", "events", "requests", "arrivals", "n", "value"))
"""What a column of counts may be called."""
EPOCH_SCALES = ((1e11, 1e9), (1e14, 1e6), (1e17, 1e3), (float("inf"), 1.0))
"""Numbers since the epoch below each limit are seconds, milliseconds, microseconds, nanoseconds."""
LATEST_NS = 2.0**62
"""A time in 2116; what is later is no time of a record."""
PART = 1_000_000


class ArrivalsError(WeftError):
    """A file of arrivals cannot be used."""

    code = "arrivals.unreadable"
    domain = "user"


@dataclass(frozen=True)
class Arrivals:
    """How many records had come by each moment: `total[i]` of them before `start + i * step`."""

    start: datetime
    step_s: float
    total: Series
    form: Literal["counts", "arrivals"] = "counts"
    missing: int = 0
    """Steps that the file says nothing of; nothing came in them."""

    @property
    def span_s(self) -> float:
        """How long it goes on."""
        return self.step_s * (len(self.total) - 1)

    def counts(self, step_s: float) -> Series:
        """How many came in each step of this length; within a step of the file they come evenly."""
        steps = int(self.span_s / step_s + 1e-9)
        known = np.arange(len(self.total)) * self.step_s
        return np.diff(np.interp(np.arange(steps + 1) * step_s, known, self.total))

    def scaled(self, factor: float) -> Arrivals:
        """The same with so many times as many records."""
        return Arrivals(self.start, self.step_s, self.total * factor, self.form, self.missing)


def steady(rate: float, *, seconds: float, start: datetime) -> Arrivals:
    """So many records a second, all the time."""
    steps = max(2, int(seconds))
    return Arrivals(start, 1.0, np.arange(steps + 1, dtype=np.float64) * rate)


def from_rates(rates: Mapping[int, float], *, step_s: int) -> Arrivals:
    """The arrivals behind rates by the second in which each step begins; in steps that are missing nothing came."""
    if len(rates) < 2:
        raise ArrivalsError(
            "Less than two steps of this load were recorded.",
            hint="It is measured while a worker runs; ask again in some minutes.",
        )
    first = min(rates)
    counted = np.zeros((max(rates) - first) // step_s + 1)
    for at, rate in rates.items():
        counted[(at - first) // step_s] = rate * step_s
    begin = datetime.fromtimestamp(first, UTC)
    return Arrivals(begin, float(step_s), _totals(counted), missing=len(counted) - len(rates))


def read_arrivals(
    path: Path, *, form: Form = "auto", step_s: float = 5.0, longest_s: float = math.inf
) -> Arrivals:
    """The arrivals that a file tells of, over no longer than `longest_s`.

    Those that come one by one are counted in steps of `step_s`.
    """
    lines = _read(path)
    if form == "auto":
        form = "counts" if lines.are_counts() else "arrivals"
    if form == "counts":
        return _from_counts(path, lines, longest_s)
    seconds = (lines.times - lines.times.min()) / 1e9
    _check_span(path, lines.times, min(longest_s, step_s * MOST_STEPS))
    counted = np.bincount((seconds / step_s).astype(np.int64)).astype(float)
    return Arrivals(_moment(lines.times.min()), step_s, _totals(counted), "arrivals")


@dataclass(frozen=True, eq=False)
class _FileLines:
    """The lines of a file: their times in nanoseconds since the epoch, and the number beside each, if it is one."""

    times: NDArray[np.int64]
    numbers: Series | None
    are_named: bool = False
    """Whether a header calls the numbers counts."""

    def are_counts(self) -> bool:
        """Whether these are counts: they are called so, or have a number beside each time, and times at even steps."""
        if self.numbers is None or np.isnan(self.numbers).all():
            return False
        if self.are_named:
            return True
        steps = np.diff(np.sort(self.times))
        if not len(steps):
            return True
        commonest = np.median(steps)
        return bool(commonest >= 1e9 and np.mean(steps == commonest) >= EVEN_SHARE)


def _read(path: Path) -> _FileLines:
    """Read a file part by part: some have tens of millions of lines."""
    import pandas as pd

    try:
        head = pd.read_csv(path, header=None, nrows=1, dtype=str, skipinitialspace=True)
        names = [str(name) for name in head.iloc[0]]
        has_header = _is_header(names[0])
        called = [name.strip().lower() in COUNTS for name in names] if has_header else [False]
        counted = _counted(path, names, called)
        times, numbers = [], []
        with pd.read_csv(
            path,
            header=0 if has_header else None,
            usecols=[0] if counted is None else [0, counted],
            skipinitialspace=True,
            thousands=",",
            chunksize=PART,
        ) as parts:
            for place, part in enumerate(parts):
                times.append(_times(path, part.iloc[:, 0], place * PART))
                if counted is not None:
                    beside = pd.to_numeric(part.iloc[:, 1], errors="coerce")
                    numbers.append(beside.to_numpy(float))
    except FileNotFoundError as error:
        raise ArrivalsError(
            f"There is no file {path}.", domain="missing", file=str(path)
        ) from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, pd.errors.ParserError) as error:
        raise _unreadable(path, f"it cannot be read as CSV or gzipped CSV ({error})") from error
    except pd.errors.EmptyDataError as error:
        raise _unreadable(path, "it is empty") from error
    if not sum(map(len, times)):
        raise _unreadable(path, "it has no lines")
    beside = np.concatenate(numbers) if numbers else None
    return _FileLines(np.concatenate(times), beside, any(called))


def _counted(path: Path, names: list[str], called: list[bool]) -> int | None:
    """The column that may hold counts: the one that is called so, or the only one beside the time."""
    if called[0]:
        raise _unreadable(path, f"its first column is {names[0]!r}, and should be the time")
    if any(called):
        return called.index(True)
    return 1 if len(names) == 2 else None


def _is_header(text: str) -> bool:
    """Whether the first cell of a file is neither a number nor a time."""
    import pandas as pd

    try:
        float(text)
    except ValueError:
        return bool(pd.isna(pd.to_datetime(text, errors="coerce", utc=True)))
    return False


def _times(path: Path, column: pd.Series, before: int) -> NDArray[np.int64]:
    """The times of a part of the lines, in nanoseconds since the epoch."""
    import pandas as pd

    if not len(column):
        return np.zeros(0, np.int64)
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(float)
        _check_lines(path, ~np.isfinite(values), "has no time", before)
        scale = next(scale for limit, scale in EPOCH_SCALES if abs(values).max() < limit)
        _check_lines(
            path, abs(values * scale) > LATEST_NS, "has a time that is too far away", before
        )
        scaled: NDArray[np.int64] = (values * scale).astype(np.int64)
        return scaled
    read = pd.to_datetime(column, errors="coerce", utc=True, format="ISO8601")
    _check_lines(path, read.isna().to_numpy(), "has no time in its first column", before)
    times: NDArray[np.int64] = read.astype("datetime64[ns, UTC]").astype("int64").to_numpy()
    return times


def _from_counts(path: Path, lines: _FileLines, longest_s: float) -> Arrivals:
    if lines.numbers is None:
        raise _unreadable(path, "counts need one number beside each time, or a column called count")
    _check_lines(path, ~(lines.numbers >= 0), "has no count of 0 or more")
    _check_lines(path, lines.numbers > MOST_COUNT, f"has a count of more than {MOST_COUNT:,.0f}")
    if len(lines.times) < 2:
        raise _unreadable(path, "one count does not say how long its step is")
    order = np.argsort(lines.times, kind="stable")
    times, counts = lines.times[order], lines.numbers[order]
    gaps = np.diff(times)
    step = int(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 0
    if step <= 0:
        raise _unreadable(path, "all of its lines have one time")
    _check_span(path, lines.times, min(longest_s, step / 1e9 * MOST_STEPS))
    places = np.rint((times - times[0]) / step).astype(np.int64)
    counted = np.bincount(places, weights=counts).astype(float)
    missing = len(counted) - len(np.unique(places))
    return Arrivals(_moment(times[0]), step / 1e9, _totals(counted), "counts", missing)


def _totals(counted: Series) -> Series:
    return np.concatenate([[0.0], np.cumsum(counted)])


def _moment(nanoseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(nanoseconds) // 1000)


def _check_lines(path: Path, wrong: NDArray[np.bool_], what: str, before: int = 0) -> None:
    if wrong.any():
        number = before + int(np.argmax(wrong)) + 1
        raise _unreadable(path, f"record {number} {what} ({int(wrong.sum())} such in all)")


def _check_span(path: Path, times: NDArray[np.int64], longest_s: float) -> None:
    """Refuse times that lie too far apart, and name the record behind the longest gap."""
    order = np.argsort(times, kind="stable")
    # As floats: times before 1970 may be farther from others than a number of nanoseconds says.
    seconds = times[order] / 1e9
    span = float(seconds[-1] - seconds[0])
    if span <= longest_s:
        return
    gaps = np.diff(seconds)
    at = int(np.argmax(gaps))
    raise ArrivalsError(
        f"The times of {path} span {span / 86_400:,.1f} days, and {longest_s / 86_400:,.1f} are read at most. "
        f"Before record {int(order[at + 1]) + 1} nothing comes for {float(gaps[at]) / 86_400:,.1f} days.",
        hint="Correct the time of this record or of the one before it; a longer --interval allows for a longer time.",
        file=str(path),
        record=int(order[at + 1]) + 1,
    )


def _unreadable(path: Path, why: str) -> ArrivalsError:
    return ArrivalsError(
        f"{path} is no file of arrivals: {why}.",
        hint="It has a line a step with its time and a count, or a line a record with its time first, as CSV.",
        file=str(path),
    )
