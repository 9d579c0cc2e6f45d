"""The executors of a worker: which there are, and how their number is changed while pipelines run.

Spark's own dynamic allocation is held to the least number, and totals are asked for beside it: so a master that gives
and takes executors (standalone, Kubernetes, YARN) does as it is told. Those that are let go are idle ones, the newest
first; Spark runs the tasks of one that had to go again, and state is read from its checkpoint by whoever comes next.
Threads of one process are as many as they are: there, a number is advice.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from weft import kernel
from weft.errors import WeftError
from weft.logs import get_logger
from weft.scaling.measured import ExecutorsNow
from weft.scaling.policy import MOST_EXECUTORS

log = get_logger(__name__)

PATIENCE_S = 60.0
"""For so long an executor with tasks is waited for; then its tasks run elsewhere."""
FOREVER = "365d"
SEEN = 9
"""The last start-ups that count."""


class BoundsError(WeftError):
    """A number of executors that cannot be."""

    code = "executors.bounds"
    domain = "user"


@dataclass(frozen=True)
class Bounds:
    """How few and how many executors a worker may have."""

    minimum: int
    maximum: int

    @classmethod
    def parse(cls, text: str) -> Bounds:
        """`4` is always four, `1..8` from one to eight."""
        low, dots, high = text.partition("..")
        numbers = (low, high if dots else low)
        if not all(one.isascii() and one.isdigit() and len(one) < 7 for one in numbers):
            raise BoundsError(f"'{text}' is no number of executors.", hint="Say 4, or 1..8.")
        found = cls(*map(int, numbers))
        if not 1 <= found.minimum <= found.maximum <= MOST_EXECUTORS:
            raise BoundsError(
                f"There cannot be {text} executors.",
                hint=f"Say from 1 to {MOST_EXECUTORS:,}, the smaller number first.",
            )
        return found

    def settings(self) -> Mapping[str, str]:
        """What Spark needs to know before it starts."""
        least = str(self.minimum)
        return {
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.shuffleTracking.enabled": "true",
            "spark.dynamicAllocation.minExecutors": least,
            "spark.dynamicAllocation.initialExecutors": least,
            "spark.dynamicAllocation.maxExecutors": least,
            "spark.dynamicAllocation.executorIdleTimeout": FOREVER,
            "spark.dynamicAllocation.cachedExecutorIdleTimeout": FOREVER,
            "spark.dynamicAllocation.shuffleTracking.timeout": FOREVER,
        }


class Executors:
    """Those of one session."""

    def __init__(self, spark: SparkSession, bounds: Bounds | None = None) -> None:
        self._spark = spark
        self._is_elastic = bool(kernel.call(spark, "spark.executor.ExecutorPool.isElastic", spark))
        self._bounds = bounds if self._is_elastic else None
        self._asked = bounds.minimum if bounds and self._is_elastic else 0
        self._asked_ms = 0.0
        self._fewer_since: float | None = None
        self._started: deque[float] = deque(maxlen=SEEN)
        self._known: set[str] = set()

    def now(self) -> ExecutorsNow:
        """Which there are at this moment."""
        found = self._list()
        self._note_starts(found)
        bounds = self._bounds or Bounds(max(1, len(found)), max(1, len(found)))
        return ExecutorsNow(
            running=len(found),
            asked=self._asked or len(found),
            cores=sum(one["cores"] for one in found),
            minimum=bounds.minimum,
            maximum=bounds.maximum,
            elastic=self._bounds is not None and bounds.minimum < bounds.maximum,
            start_up_s=statistics.median(self._started) if self._started else None,
            memory=sum(one["memory"] for one in found),
        )

    def want(self, number: int) -> None:
        """Have so many, within the bounds; it takes its time in both directions."""
        if self._bounds is None:
            return
        allowed = max(self._bounds.minimum, min(number, self._bounds.maximum))
        if allowed == self._asked:
            return
        log.info("executors: %d in place of %d", allowed, self._asked)
        self._asked_ms = time.time() * 1000 if allowed > self._asked else 0.0
        self._asked = allowed
        self._fewer_since = None
        kernel.call(self._spark, "spark.executor.ExecutorPool.request", self._spark, allowed)

    def tend(self) -> None:
        """Let go of idle ones that are too many; to be called now and then."""
        if self._bounds is None or len(self._list()) <= self._asked:
            self._fewer_since = None
            return
        now = time.monotonic()
        self._fewer_since = self._fewer_since or now
        is_forced = now - self._fewer_since > PATIENCE_S
        release = "spark.executor.ExecutorPool.release"
        gone = kernel.call(self._spark, release, self._spark, self._asked, is_forced)
        if gone:
            log.info("executors: %d let go%s", gone, ", in the middle of tasks" * is_forced)

    def _list(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = json.loads(
            kernel.call(self._spark, "spark.executor.ExecutorPool.list", self._spark)
        )
        return listed

    def _note_starts(self, found: list[dict[str, Any]]) -> None:
        """Remember how long executors took that came since they were asked for.

        Once all are there, one that comes replaces one that died, and nobody knows since when it was awaited.
        """
        for one in found:
            if one["id"] not in self._known and self._asked_ms and one["since_ms"] > self._asked_ms:
                self._started.append((one["since_ms"] - self._asked_ms) / 1000)
        self._known = {one["id"] for one in found}
        if len(found) >= self._asked:
            self._asked_ms = 0.0
