"""An intake that is read batch by batch in a thread, as a pipeline's is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from weft.runtime.loop import BatchLoop
from weft.streams.intake import At, Intake

LIMIT_S = 60.0
WAIT_MS = 20


class Watched(Intake):
    """An intake that counts how often there was nothing new."""

    idle = 0

    def next(self, at: At, **_: Any) -> At | None:
        found = super().next(at, wait_ms=WAIT_MS)
        self.idle += found is None
        return found


class Looped:
    """Batches run in a thread until one fails or they are stopped."""

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: Path,
        *,
        open: Callable[[], Watched],
        take: Callable[[Intake, int, At, At], None],
    ) -> None:
        self.error: BaseException | None = None
        self._open = open
        self._take = take
        self._intake: Watched | None = None
        self._loop = BatchLoop(
            spark, str(checkpoint), name="test", open=self._opened, run=self._run
        )
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _opened(self) -> Intake:
        self._intake = self._open()
        return self._intake

    def _run(self, batch: int, after: At, upto: At) -> None:
        assert self._intake is not None
        self._take(self._intake, batch, after, upto)

    def _work(self) -> None:
        try:
            self._loop.work()
        except BaseException as error:  # noqa: BLE001 - it is raised by `drain`
            self.error = error

    @property
    def is_active(self) -> bool:
        """Whether it still runs."""
        return self._thread.is_alive()

    def drain(self) -> None:
        """Wait until everything that is there was read; raises what ended it."""
        end = time.monotonic() + LIMIT_S
        before = self._idle
        while self.is_active and self._idle < before + 2:
            if time.monotonic() > end:
                raise TimeoutError("there is always more")
            time.sleep(0.01)
        if self.error is not None:
            raise self.error

    @property
    def _idle(self) -> int:
        return 0 if self._intake is None else self._intake.idle

    def tick(self) -> None:
        """Have one more batch come."""
        while self._intake is None and self.is_active:
            time.sleep(0.01)
        assert self._intake is not None
        self._intake.tick()

    def stop(self) -> None:
        """Let the batch in hand end, and stop."""
        self._loop.end()
        self._thread.join(LIMIT_S)
