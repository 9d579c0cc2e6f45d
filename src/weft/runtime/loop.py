"""The batches of a pipeline, one after the other: where each one ends is written down, it is run, that is written down.

Called by the thread of a pipeline, and by the replay of one with state. A batch that was begun and not
ended is run again first, from where it began to where it ended; whoever runs a batch makes that harmless.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

from weft import kernel
from weft.errors import WeftError
from weft.runtime import offsets
from weft.streams.intake import At, Intake

WAIT_MS = 5_000
"""So long a loop waits in the kernel before it looks whether it has ended; who ends it ends its wait too."""


class BatchLoop:
    """The batches of what an intake gives, with their log in a checkpoint directory."""

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: str,
        *,
        name: str,
        open: Callable[[], Intake],
        run: Callable[[int, At, At], None],
        gather: Callable[[], bool] = bool,
    ) -> None:
        """`run` is given each batch: its number, and from where to where it goes. `name` is for people.

        `gather` is called when something new is there. It may wait for what is better taken with it, and says whether
        it did.
        """
        self._spark = spark
        self._checkpoint = checkpoint
        self._name = name
        self._open = open
        self._run = run
        self._gather = gather
        self._id = str(uuid.uuid4())
        self._ended = threading.Event()
        self._intake: Intake | None = None
        self._at: At = ()

    @property
    def id(self) -> str:
        """The name of its jobs; no other run has it."""
        return self._id

    @property
    def at(self) -> At:
        """Where the last batch has ended."""
        return self._at

    @property
    def intake(self) -> Intake | None:
        """What it reads, once it is open."""
        return self._intake

    def work(self, *, every_s: float = 0.0, until_over: bool = False) -> None:
        """Run batches until it is ended, or until there is nothing new.

        Those of a source begin at whole multiples of `every_s`, as long as they take less.
        """
        spark = self._spark
        kernel.call(spark, "spark.Sessions.enter", spark, self._id, self._id, self._name)
        self._intake = self._open()
        try:
            self._batches(self._intake, every_s, until_over)
        finally:
            self._intake.close()
            kernel.call(spark, "spark.StateStores.forget", spark, self._id)

    def _batches(self, intake: Intake, every_s: float, until_over: bool) -> None:
        log = kernel.call(
            self._spark, "spark.stream.BatchLog", self._spark, self._checkpoint, offsets.KEPT
        )
        batch = self._recover(intake, log)
        due = 0.0
        while not self._ended.is_set():
            rest_ms = max(0, round((due - time.time()) * 1000))
            end = intake.next(self._at, rest_ms=rest_ms, wait_ms=0 if until_over else WAIT_MS)
            now = time.time()
            due = now - now % every_s + every_s if every_s else now
            if end is None and until_over:
                return
            if end is not None and self._gather():
                end = intake.next(self._at) or end
            if end is None or self._ended.is_set():
                continue
            log.plan(batch, json.dumps(end))
            self._one(intake, log, batch, end)
            batch += 1

    def _recover(self, intake: Intake, log: Any) -> int:
        """Run the batch again that has not ended, if there is one; says which is next."""
        checkpoint = self._checkpoint
        newest = offsets.newest(checkpoint)
        if newest is None:
            self._at = (None,) * intake.size
            return 0
        end = offsets.find_at(checkpoint, newest)
        assert end is not None
        if offsets.is_done(checkpoint, newest):
            self._at = end
            return newest + 1
        before = offsets.find_at(checkpoint, newest - 1) if newest else (None,) * intake.size
        if before is None:
            raise WeftError(
                f"Batch {newest} in {checkpoint} is to be run again, and where it begins is lost: batch {newest - 1} "
                "is not in its log.",
                code="checkpoint.batch-gone",
                domain="user",
                hint="Put the file back, or restore the storage with `weft restore`.",
                batch=newest,
            )
        self._at = before
        if self._ended.is_set():
            return newest
        self._one(intake, log, newest, end)
        return newest + 1

    def _one(self, intake: Intake, log: Any, batch: int, end: At) -> None:
        self._run(batch, self._at, end)
        log.done(batch)
        self._at = end
        intake.committed(end)

    def end(self) -> None:
        """Begin no more batches; the one in hand goes on."""
        self._ended.set()
        if self._intake is not None:
            self._intake.release()

    def cancel(self) -> None:
        """End the batch in hand too: its jobs are cancelled, and it waits for no source."""
        self.end()
        if self._intake is not None:
            self._intake.interrupt()
        kernel.call(self._spark, "spark.Sessions.cancel", self._spark, self._id)
