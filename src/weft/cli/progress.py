"""Bars on standard error for work whose end can be told; on a terminal only, and gone when the work is done."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from weft.cli.terminal import Terminal


class Shown(ABC):
    """A bar that is there while some work is done."""

    def __init__(self, terminal: Terminal) -> None:
        self._is_shown = terminal.format == "text" and sys.stderr.isatty()
        self._progress: Progress | None = None

    @abstractmethod
    def columns(self) -> list[ProgressColumn]:
        """What the line shows, from left to right."""

    def __enter__(self) -> Self:
        if self._is_shown:
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(*self.columns(), console=Console(stderr=True), transient=True)
            self._progress.start()
            self._task = self._progress.add_task("Starting", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()


class Counting(Shown):
    """Work that somebody else does and tells of: so many done, of so many."""

    def columns(self) -> list[ProgressColumn]:
        """What is done, and how much of it."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

        return [
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        ]

    def show(self, what: str, done: int, total: int) -> None:
        """Say what is done, and how far."""
        if self._progress is not None:
            self._progress.update(self._task, description=what, completed=done, total=total)
