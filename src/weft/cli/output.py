"""Text for eyes: tables, trees, fields and the small forms of times, hashes and counts. Nothing else prints."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

PATIENCE_S = 1.0
GAP = 2
NARROWEST = 6
"""No column is made narrower than this."""
NARROW = 100
PIPED_WIDTH = 400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CYCLE = timedelta(days=146_097)
"""The 400 years after which the days of the calendar come again."""
MILLISECOND = timedelta(milliseconds=1)
STYLES = {
    "COMPLETE": "green",
    "running": "green",
    "connected": "green",
    "active": "green",
    "IN_PROGRESS": "yellow",
    "starting": "yellow",
    "waiting": "yellow",
    "held": "yellow",
    "stopping": "yellow",
    "FAILED": "red",
    "failed": "red",
    "gone": "red",
    "ROLLED_BACK": "dim",
    "retired": "dim",
    "stopped": "dim",
}


class Printer:
    """Prints to standard output; pipes get the same text, unwrapped and without colours."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, markup=False)
        if not self.console.is_terminal:
            self.console.width = PIPED_WIDTH

    @property
    def is_narrow(self) -> bool:
        """Whether a table of many columns had better be brief."""
        return self.console.width < NARROW

    def line(self, text: str = "", *, style: str | None = None) -> None:
        """One line, as it is."""
        self.console.print(Text(text.translate(_MARKS)), style=style, soft_wrap=True)

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        *,
        empty: str,
        optional: Collection[str] = (),
        gives: Collection[str] = (),
    ) -> None:
        """Rows under headings, one line each; columns that hold only numbers are aligned to the right.

        `optional` columns are left out where they say nothing. Where the terminal is too narrow, the widest cells are
        cut, those of the columns in `gives` first; they end in an ellipsis, and a line below says in which columns.
        """
        body = [list(row) for row in rows]
        if not body:
            self.line(empty, style="dim")
            return
        kept = [
            place
            for place, name in enumerate(columns)
            if name not in optional or any(row[place] for row in body)
        ]
        cells = [[_cell(row[place]) for place in kept] for row in body]
        numbers = [_is_number([row[place] for row in body]) for place in kept]
        widths = [
            max(cell_len(columns[place]), *(row[at].cell_len for row in cells))
            for at, place in enumerate(kept)
        ]
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
        texts = [at for at, is_number in enumerate(numbers) if not is_number]
        first = [at for at in texts if columns[kept[at]] in gives]
        fitted = _fitted(widths, [first, texts], self.console.width)
        for place, width, is_number in zip(kept, fitted, numbers, strict=True):
            table.add_column(
                columns[place],
                justify="right" if is_number else "left",
                width=width,
                no_wrap=True,
                overflow="ellipsis",
            )
        for row in cells:
            table.add_row(*row)
        self._print(table)
        cut = [
            columns[place]
            for place, had, has in zip(kept, widths, fitted, strict=True)
            if has < had
        ]
        if cut:
            self.line(f"Cut to fit: {', '.join(cut)}. `--output json` has all of it.", style="dim")

    def fields(self, pairs: Mapping[str, Any], *, indent: int = 0) -> None:
        """Names and values, one a line; what is None is left out."""
        shown = {name: value for name, value in pairs.items() if value is not None}
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, value in shown.items():
            grid.add_row(name, _cell(value))
        if shown:
            self._print(Padding(grid, (0, 0, 0, indent)))

    def tree(self, root: Tree) -> None:
        """A tree with its branches."""
        self._print(root)

    def _print(self, what: RenderableType) -> None:
        # Tables are padded to their width; a reader of the text does not want the spaces.
        with self.console.capture() as captured:
            self.console.print(what)
        for text in captured.get().rstrip("\n").split("\n"):
            self.console.out(text.rstrip(), highlight=False)


@contextmanager
def waiting(doing: str) -> Iterator[None]:
    """A spinner on standard error with the seconds so far, from the moment that something has taken a while."""
    console = Console(stderr=True)
    status = console.status(f"{doing} …")
    done = threading.Event()

    def show() -> None:
        for second in itertools.count(1):
            if done.wait(PATIENCE_S):
                return
            status.update(f"{doing} … {second} s")
            status.start()

    showing = threading.Thread(target=show, name="waiting", daemon=True)
    showing.start()
    try:
        yield
    finally:
        done.set()
        showing.join()
        status.stop()


def moment(text: str | None, *, brief: bool = False) -> str:
    """A time as people read it, in UTC to the second, or `brief` without its year.

    One that Python has no value for, outside the years 1 to 9999, is shown as it was written.
    """
    if not text:
        return "-"
    try:
        then = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return text
    return f"{then:%m-%d %H:%M:%S}" if brief else f"{_year(then.year)}{then:-%m-%d %H:%M:%S}"


def moment_ms(milliseconds: int | None) -> str:
    """A time given in milliseconds since the epoch, in UTC to the millisecond, of whichever year."""
    if milliseconds is None:
        return "-"
    # Python's years end at 9999; the calendar repeats every 400.
    cycles, within = divmod(milliseconds, CYCLE // MILLISECOND)
    then = EPOCH + within * MILLISECOND
    year = _year(then.year + 400 * cycles)
    return f"{year}{then:-%m-%d %H:%M:%S}.{within % 1000:03d}"


def duration(milliseconds: int | None) -> str:
    """A length of time in its two largest units: `1 h 20 min`, `3.4 s`, `1,943 d 5 h`."""
    if milliseconds is None:
        return "-"
    sign, left = "-" if milliseconds < 0 else "", abs(milliseconds)
    if left < 60_000:
        return f"{sign}{left / 1000:.1f} s"
    units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")]
    first = next(place for place, (size, _) in enumerate(units) if left >= size)
    (size, name), (smaller, rest) = units[first], units[first + 1]
    more = left % size // smaller
    return f"{sign}{left // size:,} {name}" + (f" {more} {rest}" if more else "")


def short(digest: str | None) -> str:
    """The first digits of a hash: enough for eyes."""
    return digest[:10] if digest else "-"


def counts(numbers: Mapping[str, int]) -> str:
    """Names with their counts: `rule:big 3, step:1 2`."""
    return ", ".join(f"{name} {number}" for name, number in numbers.items()) or "-"


def plural(number: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _year(number: int) -> str:
    """A year with at least four digits, as ISO 8601 has them; before year 0 with its sign."""
    return f"{'-' if number < 0 else ''}{abs(number):04d}"


def _is_number(values: Sequence[Any]) -> bool:
    """Whether a column holds numbers and nothing else."""
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float | Decimal) for value in known)


def _fitted(widths: Sequence[int], order: Sequence[Sequence[int]], room: int) -> list[int]:
    """Widths of columns that fit: those of the first group give way first, in each group the widest."""
    fitted = list(widths)
    excess = sum(fitted) + GAP * (len(fitted) - 1) - room
    for group in order:
        while excess > 0 and group:
            widest = max(group, key=lambda at: fitted[at])
            if fitted[widest] <= NARROWEST:
                break
            fitted[widest] -= 1
            excess -= 1
    return fitted


def _cell(value: Any) -> Text:
    if value is None or value == "":
        return Text("-", style="dim")
    if isinstance(value, Text):
        return value
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return Text(text.translate(_MARKS | _BREAKS), style=STYLES.get(text, ""))


_MARKS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}
"""What a terminal would take for a command, written out."""
_BREAKS = {ord("\n"): "\\n", ord("\t"): "\\t"}
"""What would break a row of a table."""
