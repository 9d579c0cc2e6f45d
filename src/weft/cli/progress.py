"""A bar on standard error for work that somebody else does and tells of: so many done, of so many."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from weft.cli.terminal import Terminal


class Counting:
    """Shows what is done now, and how much of it; on a terminal only."""

    def __init__(self, terminal: Terminal) -> None:
        self._is_shown = terminal.format == "text" and sys.stderr.isatty()
        self._progress: Progress | None = None

    def __enter__(self) -> Counting:
        if self._is_shown:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.start()
            self._task = self._progress.add_task("Starting", total=None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, what: str, done: int, total: int) -> None:
        """Say what is done, and how far."""
        if self._progress is not None:
            self._progress.update(self._task, description=what, completed=done, total=total)
