"""One pipeline that runs: its loop in a thread, watched, ticked, stopped after the batch in hand."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from weft.errors import WeftError
from weft.logs import get_logger
from weft.operations.operation import PATIENCE_S
from weft.reason import told
from weft.runtime.batch import weave_batch
from weft.runtime.drift import ColumnDrift
from weft.runtime.faults import CrashError
from weft.runtime.loop import BatchLoop
from weft.runtime.pipeline import RunningPipeline
from weft.runtime.rota import Rota
from weft.sources.spark import failures
from weft.streams.intake import At

log = get_logger(__name__)

SLOW_SOURCE = "pipeline.slow-source"
UNCONNECTED = "Python worker failed to connect back"
"""What Spark says when the Python process of a source has not started after ten seconds, which no setting changes."""
CANCEL_S = 60.0
FEW = 10_000
"""For so many records nobody waits."""
LOADING = "its inputs are being loaded"
COUNTING = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"


class PipelineThread:
    """The running loop of a pipeline."""

    def __init__(self, run: RunningPipeline, rota: Rota) -> None:
        self.run = run
        self._rota = rota
        self._turn = rota.join(run, self._is_loading)
        self.has_crashed = False
        self.is_stopping = False
        self._failure: BaseException | None = None
        self._cancelled: str | None = None
        self._began: float | None = None
        self._batch: int | None = None
        self._drift = ColumnDrift(run)
        run.spark.conf.set("spark.sql.shuffle.partitions", str(run.streamed.partitions))
        run.spark.conf.set(COUNTING, str(run.streamed.counts_state).lower())
        self._loop = BatchLoop(
            run.spark,
            run.checkpoint,
            name=run.label,
            open=run.streamed.open,
            run=self._weave,
            gather=self._gather,
        )
        self._thread = threading.Thread(target=self._work, name=f"thread {run.label}", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        run = self.run
        try:
            # Sources set the pace, and what reads streams is woken by what they add: a relay may take only one knot a
            # batch, and at the pace of its source it would never catch up after a rollback.
            every_s = 0.0 if run.inputs else run.project.processing.checkpoint_interval
            self._loop.work(every_s=every_s)
        except CrashError:
            self.has_crashed = True
        except BaseException as error:
            self._failure = error
            if not isinstance(error, WeftError) and not self._is_ending:
                log.error("pipeline %s failed", run.name, exc_info=error)
        finally:
            self._rota.leave(self._turn)

    @property
    def _is_ending(self) -> bool:
        return self._cancelled is not None or self.run.draining.is_set()

    def _weave(self, batch: int, after: At, upto: At) -> None:
        """Run one batch."""
        self._began, self._batch = time.monotonic(), batch
        self.run.plan(batch, after, upto)
        try:
            self._drift.check()
            with self._rota.batch(self._turn):
                weave_batch(self.run.streamed.taken(batch), batch, run=self.run)
        finally:
            self._began = None

    def _gather(self) -> bool:
        """Wait for what is better taken with what is there."""
        run, has_waited = self.run, False
        if self._turn.is_current and not any(self._loop.at):
            run.waits = LOADING
            has_waited = self._rota.wait_for_inputs(self._turn, run.draining)
            run.waits = ""
        return self._rota.wait(self._turn) or has_waited

    def _is_loading(self) -> bool:
        """Whether more than a tenth of what its topics have has yet to come."""
        intake = self._loop.intake
        known = () if intake is None else intake.known()
        for latest, taken in zip(known, self._loop.at, strict=False):
            if latest is not None:
                records, so_far = _records(latest), 0 if taken is None else _records(taken)
                return records - so_far > max(FEW, so_far // 10)
        return False

    @property
    def id(self) -> str:
        """How Spark names its jobs."""
        return self._loop.id

    def counts(self) -> tuple[int | None, int | None]:
        """How many records its topics have had, and how many of them it has taken, where its source counts them."""
        intake = self._loop.intake
        known = () if intake is None else intake.known()
        counted = [
            (latest, taken)
            for latest, taken in zip(known, self._loop.at, strict=False)
            if latest is not None and taken is not None
        ]
        if not counted:
            return None, None
        return sum(_records(one) for one, _ in counted), sum(_records(one) for _, one in counted)

    @property
    def is_active(self) -> bool:
        """Whether it still runs."""
        return self._thread.is_alive()

    def failure(self) -> WeftError | None:
        """Why it stopped by itself, or None."""
        if self.is_active:
            return None
        if self._cancelled is not None:
            return self._cancellation(self._cancelled)
        if isinstance(self._failure, WeftError):
            return self._failure
        if self._failure is None or self.run.draining.is_set():
            return None
        source = failures.take(self.run.storage.source(self.run.stream.name))
        if source is not None:
            return source
        if self._batch is None and UNCONNECTED in str(self._failure):
            return WeftError(
                f"The Python process of pipeline '{self.run.name}' did not start within Spark's ten seconds.",
                code=SLOW_SOURCE,
                domain="external",
                retryable=True,
                hint="The machine may be too busy. If it stays so, see whether Python starts there at all.",
                pipeline=self.run.name,
            )
        return WeftError(
            f"Pipeline '{self.run.name}' failed: {_said(self._failure)}",
            code="pipeline.failed",
            hint="Its batch is kept and runs again; the worker's log has the details.",
            pipeline=self.run.name,
        )

    def tick(self) -> None:
        """Have it run a batch now, data or not."""
        if self._loop.intake is not None:
            self._loop.intake.tick()

    def stop(self, *, patience: float = PATIENCE_S) -> None:
        """Stop after the batch in hand, whose knot is tied.

        One that goes on for longer than `patience` is cancelled.
        """
        self.is_stopping = True
        self.run.draining.set()
        self._loop.end()
        self._thread.join(patience)
        if self.is_active:
            self.cancel(f"it did not end within {patience:g} s when its pipeline was stopped")
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
        """End the batch in hand now: its jobs are cancelled, it waits for nothing any longer, and the thread ends."""
        self._cancelled = reason
        self.run.draining.set()
        self.run.client.close()
        self._loop.cancel()
        self._thread.join(CANCEL_S)

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

    def abandon(self) -> None:
        """Stop at once, as a process that is killed does: nothing is finished, nothing is given back."""
        self.run.client.close()
        self._loop.cancel()
        self._thread.join(CANCEL_S)

    def _close(self) -> None:
        for sink in self.run.sinks:
            sink.close()


def _records(offset: str) -> int:
    """The sum of the offsets of all partitions."""
    topics = json.loads(offset)
    return sum(count for partitions in topics.values() for count in partitions.values())


def _said(error: Any) -> str:
    return told(str(error)) or type(error).__name__
