"""The load of a worker, measured: what its pipelines took in and gave, and how long tasks worked for them.

Called by the worker every few seconds. What was measured is kept until the weaver has heard it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from weft import kernel
from weft.runtime.executors import Executors
from weft.runtime.thread import PipelineThread
from weft.scaling.measured import PipelineWork, WorkerLoad

EVERY_S = 5.0


@dataclass(frozen=True)
class Meters:
    """What had been counted of a thread at a moment."""

    at: float
    rows_in: int = 0
    rows_out: int = 0
    batches: int = 0
    batch_s: float = 0.0
    run_s: float = 0.0
    cpu_s: float = 0.0
    latest: int | None = None
    taken: int | None = None

    @property
    def counts(self) -> tuple[float, ...]:
        """What only grows while a thread runs; one that begins anew may soon have more of some, and less of others."""
        return (
            self.rows_in,
            self.rows_out,
            self.batches,
            self.batch_s,
            self.run_s,
            self.cpu_s,
        )


class LoadMeter:
    """Measures the threads of one session."""

    def __init__(self, spark: SparkSession, executors: Executors) -> None:
        self._meter = kernel.call(spark, "spark.executor.WorkMeter.start", spark)
        self._executors = executors
        self._heard: dict[str, Meters] = {}
        self._read: dict[str, Meters] = {}
        self._due = 0.0

    def measure(self, threads: Mapping[str, PipelineThread]) -> WorkerLoad | None:
        """What was done since the weaver last heard, or None when it heard just now."""
        now = time.monotonic()
        if now < self._due:
            return None
        spent = json.loads(self._meter.report())
        self._read = {name: _read(thread, spent, now) for name, thread in threads.items()}
        return WorkerLoad(
            self._executors.now(),
            {
                name: between(self._heard[name], read)
                for name, read in self._read.items()
                if name in self._heard
            },
        )

    def heard(self) -> None:
        """The weaver has what was measured last."""
        self._heard, self._due = self._read, time.monotonic() + EVERY_S

    def forget(self, thread: PipelineThread) -> None:
        """A thread is over."""
        self._meter.forget(thread.id)


def _read(thread: PipelineThread, spent: Mapping[str, Mapping[str, float]], now: float) -> Meters:
    counted = thread.run.counted
    tasks = spent.get(thread.id, {})
    latest, taken = thread.counts()
    return Meters(
        now,
        counted.rows_in,
        counted.rows_out,
        counted.batches,
        counted.seconds,
        tasks.get("run_s", 0.0),
        tasks.get("cpu_s", 0.0),
        latest,
        taken,
    )


def between(before: Meters, now: Meters) -> PipelineWork:
    """What was done from one reading to the next; of a thread that began anew, all that it did."""
    if any(count < known for count, known in zip(now.counts, before.counts, strict=True)):
        before = Meters(before.at, latest=before.latest, taken=before.taken)
    arrived = backlog = None
    if now.latest is not None and now.taken is not None:
        backlog = max(0, now.latest - now.taken)
        arrived = max(0, now.latest - before.latest) if before.latest is not None else None
    return PipelineWork(
        seconds=now.at - before.at,
        rows_in=now.rows_in - before.rows_in,
        rows_out=now.rows_out - before.rows_out,
        batches=now.batches - before.batches,
        batch_s=now.batch_s - before.batch_s,
        run_s=now.run_s - before.run_s,
        cpu_s=now.cpu_s - before.cpu_s,
        arrived=arrived,
        backlog=backlog,
    )
