"""Records that come in without a pause, from a thread of the bench."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx

from tests.faults.cluster import Cluster


class Feeder(threading.Thread):
    """Feeds the orders of a cluster, micro-batch by micro-batch."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        rows: int,
        make: Callable[[int], Any],
        partitions: int = 1,
        bad: bool = False,
        pause_s: float = 0.2,
        most_waiting: int = 20,
    ) -> None:
        """Micro-batches that come while `most_waiting` wait are held back, so that a run ends soon after its feed."""
        super().__init__(daemon=True)
        self._cluster = cluster
        self._make = make
        self._partitions = partitions
        self._bad = bad
        self._pause_s = pause_s
        self._most_waiting = most_waiting
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self.rows = rows
        self.fed = 0

    def run(self) -> None:
        while not self._ended.wait(self._pause_s):
            with suppress(httpx.HTTPError):
                if self._waiting() < self._most_waiting:
                    self.feed()

    def _waiting(self) -> int:
        """How many micro-batches wait where most do: for the stream itself, or for what reads it."""
        pipelines = self._cluster.api.get("/pipelines").raise_for_status().json()
        behind = [knots for pipeline in pipelines for knots in pipeline["behind"].values()]
        return max(self.fed - self._cluster.consumed("orders"), *behind, 0)

    def feed(self) -> int:
        """Feed one micro-batch now and return its number."""
        with self._lock:
            first = self.fed * self.rows
            records = [self._make(number) for number in range(first, first + self.rows)]
            if self._bad:
                records.append(f"unreadable {first}")
            self.fed = self._cluster.feed("orders", records, partitions=self._partitions)
            return self.fed

    def stop(self) -> None:
        """Feed no more."""
        self._ended.set()
        self.join()
