"""A worker process that reads what tests feed, and obeys them: `kill write` on its standard input has it killed at
that point of the spine, `stop write` stopped. Cluster starts it: `python -m tests.faults.runner URL STORAGE MASTER`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from weft import logs
from weft.runtime import session
from weft.runtime.faults import Faults
from weft.runtime.worker import Worker
from weft.streams.storage import Storage

SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


class Obedience:
    """The faults of this process, planned by lines on standard input."""

    def __init__(self) -> None:
        self.faults = Faults(self._act)
        self._signal = signal.SIGKILL
        threading.Thread(target=self._listen, name="obedience", daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            act, point = line.split()
            self._signal = SIGNALS[act]
            self.faults.plan(point)

    def _act(self) -> None:
        os.kill(os.getpid(), self._signal)


def main() -> None:
    """Work until a signal comes."""
    address, root, master = sys.argv[1:]
    logs.set_up("worker")
    storage = Storage(root)
    spark = session.create(master, app="weft-faults", conf={"spark.driver.memory": "1g"})
    worker = Worker(
        spark,
        address,
        storage,
        faults=Obedience().faults,
        feeds=lambda stream: f"{storage.source(stream)}/feed",
    )
    signal.signal(signal.SIGTERM, lambda *_: worker.stop())
    try:
        worker.run()
    finally:
        session.stop(spark)


if __name__ == "__main__":
    main()
