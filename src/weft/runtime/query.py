"""One pipeline as one Spark streaming query: started, watched, ticked, stopped after the batch in hand."""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Callable
from typing import Any

from pyspark.errors.exceptions.base import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from weft.errors import WeftError
from weft.logs import get_logger
from weft.operations.operation import PATIENCE_S
from weft.reason import told
from weft.runtime.batch import weave_batch
from weft.runtime.drift import ColumnDrift
from weft.runtime.faults import CrashError
from weft.runtime.pipeline import RunningPipeline
from weft.sources.spark import failures
from weft.sources.stream import tick
from weft.streams import read

log = get_logger(__name__)

SLOW_SOURCE = "pipeline.slow-source"
UNCONNECTED = "Python worker failed to connect back"
"""What Spark says when the Python process of a source has not started after ten seconds, which no setting changes."""
CANCEL_S = 60.0
COUNTING = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"


class DrainingError(Exception):
    """A batch began after its pipeline was told to stop; it will run when the pipeline is started again."""


class FailedBatchError(Exception):
    """What Spark is told of a batch that failed: one line. On a whole traceback its error handling overflows."""


class Query:
    """The running query of a pipeline."""

    def __init__(self, run: RunningPipeline) -> None:
        self.run = run
        self.has_crashed = False
        self.is_stopping = False
        self._failure: BaseException | None = None
        self._cancelled: str | None = None
        self._began: float | None = None
        self._batch: int | None = None
        self._drift = ColumnDrift(run)
        self._query = self._start()

    def _start(self) -> StreamingQuery:
        run = self.run
        session = run.spark
        session.conf.set("spark.sql.shuffle.partitions", str(run.streamed.partitions))
        session.conf.set(COUNTING, str(run.streamed.counts_state).lower())
        # Sources set the pace, and what reads streams is woken by what they add: a relay may take only one knot a
        # batch, and at the pace of its source it would never catch up after a rollback.
        interval = 0.0 if run.inputs else run.project.processing.checkpoint_interval
        writer = (
            run.streamed.open()
            .writeStream.queryName(run.query)
            .option("checkpointLocation", run.checkpoint)
            .foreachBatch(_batch_of(weakref.ref(self)))
            .trigger(processingTime=f"{int(interval * 1000)} milliseconds")
        )
        return writer.start()

    def weave(self, frame: DataFrame, batch: int) -> None:
        """Run one batch, and remember why if it fails."""
        if self.run.draining.is_set():
            raise DrainingError
        self._began, self._batch = time.monotonic(), batch
        try:
            self._drift.check()
            weave_batch(self.run.streamed.taken(frame, batch), batch, run=self.run)
        except CrashError:
            self.has_crashed = True
            raise
        except BaseException as error:
            self._failure = error
            if not isinstance(error, WeftError) and self._cancelled is None:
                log.error("batch %d of pipeline %s failed", batch, self.run.name, exc_info=error)
            raise FailedBatchError(_said(error)) from None
        finally:
            self._began = None

    @property
    def id(self) -> str:
        """How Spark names it; the same as long as its checkpoint lives."""
        return str(self._query.id)

    def progress(self) -> dict[str, Any] | None:
        """What Spark says of its last batch."""
        last = self._query.lastProgress
        return None if last is None else json.loads(last.json)

    @property
    def is_active(self) -> bool:
        """Whether Spark still runs it."""
        return bool(self._query.isActive)

    def failure(self) -> WeftError | None:
        """Why it stopped by itself, or None."""
        if self.is_active:
            return None
        if self._cancelled is not None:
            return self._cancellation(self._cancelled)
        if isinstance(self._failure, WeftError):
            return self._failure
        if self.run.draining.is_set():
            return None
        source = failures.take(self.run.storage.source(self.run.stream.name))
        if source is not None:
            return source
        cause = self._query.exception()
        if cause is None and self._failure is None:
            return None
        if self._failure is None and UNCONNECTED in str(cause):
            return WeftError(
                f"The Python process of pipeline '{self.run.name}' did not start within Spark's ten seconds.",
                code=SLOW_SOURCE,
                domain="external",
                retryable=True,
                hint="The machine may be too busy. If it stays so, see whether Python starts there at all.",
                pipeline=self.run.name,
            )
        return WeftError(
            f"Pipeline '{self.run.name}' failed: {_said(self._failure or cause)}",
            code="pipeline.failed",
            hint="Its batch is kept and runs again; the worker's log has the details.",
            pipeline=self.run.name,
        )

    def tick(self) -> None:
        """Have it run a batch now, data or not."""
        for position in range(len(self.run.inputs)):
            read.tick(self.run.spark, self.run.reader(position))
        if not self.run.inputs:
            tick(self.run.spark, self.run.name)

    def stop(self, *, patience: float = PATIENCE_S) -> None:
        """Stop after the batch in hand, whose knot is tied; a batch that only begins is left for later.

        One that goes on for longer than `patience` is cancelled.
        """
        self.is_stopping = True
        self.run.draining.set()
        read.release(self.run.spark, self.run.query)
        deadline = time.monotonic() + patience
        while self.is_active and self._is_busy():
            if time.monotonic() > deadline:
                self.cancel(f"it did not end within {patience:g} s when its pipeline was stopped")
                break
            time.sleep(0.005)
        self._halt()
        self._close()

    def is_overdue(self) -> bool:
        """Whether its batch in hand has been running for longer than a batch may.

        The first one of a product has all rows of its tables, and takes as long as these are many.
        """
        if self._batch == 0 and self.run.spec is not None and self.run.spec.product is not None:
            return False
        began = self._began
        deadline = self.run.project.processing.deadline_seconds
        return began is not None and time.monotonic() - began > deadline

    def cancel(self, reason: str) -> None:
        """End the batch in hand now: its jobs are cancelled, it waits for nothing any longer, and the query ends."""
        self._cancelled = reason
        self.run.draining.set()
        self.run.client.close()
        # Spark cancels the jobs of a query that is stopped, and interrupts their tasks.
        self._halt()
        deadline = time.monotonic() + CANCEL_S
        while self.is_active and time.monotonic() < deadline:
            time.sleep(0.01)

    def _cancellation(self, reason: str) -> WeftError:
        return WeftError(
            f"The batch in hand of pipeline '{self.run.name}' was cancelled: {reason}.",
            code="batch.cancelled",
            domain="external",
            retryable=True,
            hint="It runs again. If a rule makes it so slow, `weft rule retire RULE --now` takes the rule out; "
            "else raise `processing.deadline_seconds`.",
            pipeline=self.run.name,
        )

    @property
    def was_cancelled(self) -> bool:
        """Whether its batch in hand was ended before it was done."""
        return self._cancelled is not None

    def _is_busy(self) -> bool:
        return bool(self._query.status["isTriggerActive"])

    def abandon(self) -> None:
        """Stop at once, as a process that is killed does: nothing is finished, nothing is given back."""
        self.run.client.close()
        self._halt()

    def _halt(self) -> None:
        try:
            self._query.stop()
        except PySparkException as error:
            log.warning("query %s did not stop cleanly: %s", self.run.name, _said(error))

    def _close(self) -> None:
        for sink in self.run.sinks:
            sink.close()


def _batch_of(query: weakref.ref[Query]) -> Callable[[DataFrame, int], None]:
    """What Spark calls for each batch.

    Spark keeps it as long as it keeps the query, and the query is kept by what this one would keep. Two processes
    that hold each other's objects never let go, so a query that is over would stay for good: a megabyte each.
    """

    def batch(frame: DataFrame, number: int) -> None:
        running = query()
        if running is None:
            raise DrainingError
        running.weave(frame, number)

    return batch


def _said(error: Any) -> str:
    return told(str(error)) or type(error).__name__
