"""Spark's side of a source that is read in the worker itself: each batch is asked for, journaled, and then read by the
kernel. Called by sources that hold a connection, such as PostgreSQL's; no other process is started for them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from weft import kernel
from weft.errors import WeftError
from weft.locations.location import Location
from weft.sources.journal import EventSource, Journal
from weft.sources.segment import JOURNAL
from weft.sources.spark import failures

FORMAT = "weft.kernel.source.JournalSource"

TICK = "spark.stream.TickInlet.ask"

_AILING: set[str] = set()
"""The journals whose source failed when it was last asked."""


def open_pulled(
    spark: SparkSession,
    name: str,
    source: Callable[[], EventSource],
    *,
    folder: Location,
    most: int,
    keep: int | None,
) -> DataFrame:
    """The records of a source in raw form; it is made when the first of them is asked for."""
    place = (folder / JOURNAL).address
    failures.take(folder)
    # A batch, if an empty one, shows that a pipeline is well again.
    well = partial(kernel.call, spark, TICK, name)
    pulled = PulledJournal(folder, source, most=most, keep=keep, well=well)
    kernel.hand_over(spark, "source.JournalSource.open", place, pulled)
    return spark.readStream.format(FORMAT).option("name", place).option("path", place).load()


class PulledJournal:
    """What the kernel asks for batches; called by the thread of the query, and closed by any."""

    class Java:
        """The interface of the kernel's that this is."""

        implements = ("weft.kernel.source.Journal",)

    def __init__(
        self,
        folder: Location,
        source: Callable[[], EventSource],
        *,
        most: int,
        keep: int | None,
        well: Callable[[], None],
    ) -> None:
        self._folder = folder
        self._place = (folder / JOURNAL).address
        self._source = source
        self._most = most
        self._keep = keep
        self._well = well
        self._journal: Journal | None = None
        self._closed = False
        self._lock = threading.Lock()

    def next(self, after: int) -> int:
        """The number of the segment behind this one, which is then there; this one if there is none."""
        try:
            with self._lock:
                if self._closed:
                    return after
                if self._journal is None:
                    self._journal = Journal(self._place, self._source(), keep=self._keep)
                number = self._journal.next(after, max_events=self._most)
        except WeftError as error:
            failures.keep(self._folder, error)
            _AILING.add(self._place)
            raise
        if self._place in _AILING:
            _AILING.discard(self._place)
            self._well()
        return number

    def committed(self, number: int) -> None:
        """Everything up to this segment was read for good."""
        with self._lock:
            if self._journal is not None:
                self._journal.committed(number)

    def close(self) -> None:
        """Let go of the source."""
        with self._lock:
            self._closed = True
            if self._journal is not None:
                self._journal.close()
                self._journal = None
