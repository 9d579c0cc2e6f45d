"""A file of arrivals as an even series: how many records came, by time. Read by the contest and by what-if.

Two forms are told apart: counts (a time and a number a line, at even steps) and arrivals (a line a record, its time
first). Times are ISO 8601 or numbers since the epoch, in seconds down to nanoseconds; the file may be gzipped.
"""

from __future__ import annotations

import zlib
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
EVEN_SHARE = 0.9
EPOCH_UNITS = ((1e11, "s"), (1e14, "ms"), (1e17, "us"), (float("inf"), "ns"))


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


def read_arrivals(path: Path, *, form: Form = "auto", step_s: float = 5.0) -> Arrivals:
    """The arrivals that a file tells of; those that come one by one are counted in steps of `step_s`."""
    table = _read(path)
    times, first = _times(path, table)
    if form == "auto":
        form = "counts" if _is_even(table, times) else "arrivals"
    if form == "counts":
        return _from_counts(path, table, times, first)
    seconds = (times - times.min()) / 1e9
    _check_span(path, float(seconds.max()), step_s)
    # The last step counts whole only if the file goes on to its end.
    steps = int(seconds.max() / step_s) + 1
    counted = np.bincount((seconds / step_s).astype(np.int64), minlength=steps).astype(float)
    return Arrivals(_moment(times.min()), step_s, _totals(counted), "arrivals")


def _read(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        with_header = _has_header(path)
        table = pd.read_csv(path, header=0 if with_header else None, skipinitialspace=True)
    except FileNotFoundError as error:
        raise ArrivalsError(
            f"There is no file {path}.", domain="missing", file=str(path)
        ) from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, pd.errors.ParserError) as error:
        raise _unreadable(path, f"it cannot be read as CSV or gzipped CSV ({error})") from error
    except pd.errors.EmptyDataError as error:
        raise _unreadable(path, "it is empty") from error
    if table.empty:
        raise _unreadable(path, "it has no lines")
    return table


def _has_header(path: Path) -> bool:
    import pandas as pd

    head = pd.read_csv(path, header=None, nrows=1, dtype=str, skipinitialspace=True)
    first = str(head.iloc[0, 0])
    return not _is_number(first) and pd.isna(pd.to_datetime(first, errors="coerce", utc=True))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _times(path: Path, table: pd.DataFrame) -> tuple[NDArray[np.int64], str]:
    """The times of the lines, in nanoseconds since the epoch."""
    import pandas as pd

    column = table.iloc[:, 0]
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(float)
        _check_lines(path, ~np.isfinite(values), "has no time")
        unit = next(name for limit, name in EPOCH_UNITS if abs(values).max() < limit)
        scale = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}[unit]
        return (values * scale).astype(np.int64), str(column.name)
    read = pd.to_datetime(column, errors="coerce", utc=True, format="ISO8601")
    _check_lines(path, read.isna().to_numpy(), "has no time in its first column")
    return read.astype("datetime64[ns, UTC]").astype("int64").to_numpy(), str(column.name)


def _is_even(table: pd.DataFrame, times: NDArray[np.int64]) -> bool:
    """Whether these are counts at even steps: two columns, the second of numbers, times that rise evenly."""
    import pandas as pd

    if len(table.columns) != 2 or not pd.api.types.is_numeric_dtype(table.iloc[:, 1]):
        return False
    steps = np.diff(times)
    if not len(steps):
        return True
    commonest = np.median(steps)
    return bool(commonest >= 1e9 and np.mean(steps == commonest) >= EVEN_SHARE)


def _from_counts(path: Path, table: pd.DataFrame, times: NDArray[np.int64], first: str) -> Arrivals:
    import pandas as pd

    if len(table.columns) < 2:
        raise _unreadable(path, f"counts need a number beside the time '{first}'")
    counts = pd.to_numeric(table.iloc[:, 1], errors="coerce").to_numpy(float)
    _check_lines(path, ~np.isfinite(counts) | (counts < 0), "has no count of 0 or more")
    if len(times) < 2:
        raise _unreadable(path, "one count does not say how long its step is")
    order = np.argsort(times, kind="stable")
    times, counts = times[order], counts[order]
    gaps = np.diff(times)
    step = int(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 0
    if step <= 0:
        raise _unreadable(path, "all of its lines have one time")
    _check_span(path, float(times[-1] - times[0]) / 1e9, step / 1e9)
    places = np.rint((times - times[0]) / step).astype(np.int64)
    counted = np.bincount(places, weights=counts).astype(float)
    missing = len(counted) - len(np.unique(places))
    return Arrivals(_moment(times[0]), step / 1e9, _totals(counted), "counts", missing)


def _totals(counted: Series) -> Series:
    return np.concatenate([[0.0], np.cumsum(counted)])


def _moment(nanoseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(nanoseconds) // 1000)


def _check_lines(path: Path, wrong: NDArray[np.bool_], what: str) -> None:
    if wrong.any():
        number = int(np.argmax(wrong)) + 1
        raise _unreadable(path, f"record {number} {what} ({int(wrong.sum())} such in all)")


def _check_span(path: Path, seconds: float, step_s: float) -> None:
    if seconds / step_s > MOST_STEPS:
        days = seconds / 86_400
        raise _unreadable(path, f"its times span {days:,.0f} days, so that one of them is wrong")


def _unreadable(path: Path, why: str) -> ArrivalsError:
    return ArrivalsError(
        f"{path} is no file of arrivals: {why}.",
        hint="It has a line a step with its time and a count, or a line a record with its time first, as CSV.",
        file=str(path),
    )
