"""A bar on standard error for work whose end can be told: what is done now, and how much of it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from weft.cli.terminal import Terminal
    from weft.streams.rehash import FileHash, Rehash


class Bar:
    """Shows the stage of some work, and files as they are done; on a terminal only."""

    def __init__(self, terminal: Terminal) -> None:
        self._is_shown = terminal.format == "text" and sys.stderr.isatty()
        self._progress: Progress | None = None
        self._stage = ""

    def __enter__(self) -> Bar:
        if self._is_shown:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                Progress,
                SpinnerColumn,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            self._progress = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                DownloadColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.start()
            self._task = self._progress.add_task("Verifying", total=None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def stage(self, what: str) -> None:
        """Say what is being looked at."""
        self._stage = what
        if self._progress is not None:
            self._progress.reset(self._task, description=f"Verifying {what}", total=None)

    def counting(self, rehash: Rehash) -> Rehash:
        """The same work, with the bytes of files shown as they are done."""

        def counted(paths: Sequence[str]) -> Iterator[FileHash]:
            if self._progress is not None:
                total = sum(Path(path).stat().st_size for path in paths)
                self._progress.reset(
                    self._task, description=f"Hashing the rows of {self._stage}", total=total
                )
            for one in rehash(paths):
                if self._progress is not None:
                    self._progress.advance(self._task, Path(one.path).stat().st_size)
                yield one

        return counted
