"""The worker's heartbeat: its leases stay its own while its loop is busy starting or stopping a pipeline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from weft.errors import WeftError
from weft.logs import get_logger
from weft.runtime.client import WeaverClient

log = get_logger(__name__)

BEATS = 4
"""Beats in the life of a lease: one may fail, and one may be slow."""
LONGEST_SILENCE_S = 900.0
"""A loop that has not synced for so long is stuck, and another worker had better take over."""


class Heartbeat(threading.Thread):
    """Renews the leases of a worker until it is ended."""

    def __init__(
        self, line: WeaverClient, worker: str, held: Callable[[], Mapping[str, int]]
    ) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._line = line
        self._worker = worker
        self._held = held
        self._ended = threading.Event()
        self._lease_s = 1.0
        self._synced = time.monotonic()

    def synced(self, lease_s: float) -> None:
        """The loop has heard from the weaver, and how long leases live."""
        self._lease_s = lease_s
        self._synced = time.monotonic()

    def run(self) -> None:
        while not self._ended.wait(self._lease_s / BEATS):
            leases = dict(self._held())
            if not leases or time.monotonic() - self._synced > LONGEST_SILENCE_S:
                continue
            try:
                self._line.call("POST", f"/workers/{self._worker}/renew", {"leases": leases})
            except WeftError as error:
                log.debug("no heartbeat: %s", error.message)  # the loop says so too, and waits

    def end(self) -> None:
        """Renew no more."""
        self._ended.set()
