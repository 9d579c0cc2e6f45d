"""A worker process that reads what tests feed, and obeys them: `kill write` on its standard input has it killed at
that point of the spine, `stop write` stopped, `executors 3` has it want three. Cluster starts it: `python -m
tests.faults.runner URL STORAGE MASTER SPARK`, where SPARK is JSON with bounds of executors and settings.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

from weft import logs
from weft.runtime import session
from weft.runtime.executors import Bounds
from weft.runtime.faults import Faults
from weft.runtime.worker import Worker
from weft.streams.storage import Storage

SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


class Obedience:
    """The faults of this process, planned by lines on standard input."""

    def __init__(self) -> None:
        self.faults = Faults(self._act)
        self.worker: Worker | None = None
        self._signal = signal.SIGKILL
        threading.Thread(target=self._listen, name="obedience", daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            act, point = line.split()
            if act == "executors":
                assert self.worker is not None
                self.worker.executors.want(int(point))
                continue
            self._signal = SIGNALS[act]
            self.faults.plan(point)

    def _act(self) -> None:
        os.kill(os.getpid(), self._signal)


def main() -> None:
    """Work until a signal comes."""
    address, root, master, said = sys.argv[1:]
    asked = json.loads(said)
    bounds = Bounds.parse(asked["executors"]) if asked["executors"] else None
    logs.set_up("worker")
    storage = Storage(root)
    conf = {"spark.driver.memory": "1g", **(bounds.settings() if bounds else {}), **asked["conf"]}
    spark = session.create(master, app="weft-faults", conf=conf, storage=root)
    obedience = Obedience()
    worker = obedience.worker = Worker(
        spark,
        address,
        storage,
        faults=obedience.faults,
        feeds=lambda stream: f"{storage.source(stream)}/feed",
        executors=bounds,
    )
    signal.signal(signal.SIGTERM, lambda *_: worker.stop())
    try:
        worker.run()
    finally:
        session.stop(spark)


if __name__ == "__main__":
    main()
