"""A bar on standard error for work whose end can be told: what is done now, and how much of it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from weft.cli.progress import Shown
from weft.locations.location import locate

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from weft.streams.rehash import FileHash, Rehash


class Bar(Shown):
    """Shows the stage of some work, and files as they are done."""

    _stage = ""

    def columns(self) -> list[ProgressColumn]:
        """What is looked at, and how many bytes of it are done."""
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        return [
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        ]

    def stage(self, what: str) -> None:
        """Say what is being looked at."""
        self._stage = what
        if self._progress is not None:
            self._progress.reset(self._task, description=f"Verifying {what}", total=None)

    def counting(self, rehash: Rehash) -> Rehash:
        """The same work, with the bytes of files shown as they are done."""

        def counted(paths: Sequence[str]) -> Iterator[FileHash]:
            if self._progress is not None:
                total = sum(locate(path).size() for path in paths)
                self._progress.reset(
                    self._task, description=f"Hashing the rows of {self._stage}", total=total
                )
            last = None
            for one in rehash(paths):
                if self._progress is not None and one.path != last:
                    last = one.path
                    self._progress.advance(self._task, locate(one.path).size())
                yield one

        return counted
