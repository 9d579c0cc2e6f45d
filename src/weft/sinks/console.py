"""A sink that shows the first rows of each knot as a table in the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from weft.declared.key import Key
from weft.declared.limit import whole
from weft.sinks.document import to_text
from weft.sinks.options import Options
from weft.sinks.rows import Rows, first
from weft.sinks.sink import Promise, Sink, Target


@dataclass(frozen=True)
class ConsoleOptions(Options):
    """Shows the first rows of each knot in the worker's terminal. At least once."""

    takes_back: ClassVar[bool] = False

    rows: Annotated[int, Key(whole(1, 1_000_000), "How many rows of a knot are shown.", 20)] = 10

    @property
    def place(self) -> str:
        """Where the rows go."""
        return "the console"

    def open(self, target: Target) -> Sink:
        """The sink."""
        return ConsoleSink(self, target)


class ConsoleSink:
    """At least once: a knot that is delivered again is shown again."""

    promise: Promise = "at least once"

    def __init__(
        self, options: ConsoleOptions, target: Target, *, console: Console | None = None
    ) -> None:
        self._limit = options.rows
        self._target = target
        self._console = console or Console()

    def deliver(self, knot: int, rows: Rows) -> None:
        """Show the knot; one without rows is not shown."""
        if not rows.count:
            return
        self._say(f"{self._target.stream} · knot {knot} · {_plural(rows.count)}", style="bold")
        table = Table()
        for name in self._target.columns:
            table.add_column(Text(name))
        for record in first(rows, self._limit):
            table.add_row(*(Text(to_text(record[name])) for name in self._target.columns))
        self._console.print(table)
        if rows.count > self._limit:
            self._say(f"… and {_plural(rows.count - self._limit)} more", style="dim")

    def delivered(self) -> int | None:
        """A terminal does not tell."""
        return None

    def retract(self, knots: range, rows: Rows) -> None:
        """Say that the knots no longer count."""
        if knots:
            self._say(
                f"{self._target.stream} · knots {knots[0]} to {knots[-1]} were rolled back "
                f"({_plural(rows.count)})"
            )

    def restore(self, knot: int, rows: Rows) -> None:
        """Show the knot again."""
        self.deliver(knot, rows)

    def close(self) -> None:
        """Nothing is held."""

    def _say(self, line: str, *, style: str = "") -> None:
        self._console.print(Text(line, style=style))


def _plural(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"
