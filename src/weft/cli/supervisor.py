"""Child processes that should live: started, watched, started again with back-off when they die, stopped in order.

`weft up` and the demo run a weaver and a worker with it. A child whose supervisor is gone stops by itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from weft.errors import WeftError
from weft.logs import get_logger

log = get_logger(__name__)

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
HEALTHY_AFTER_S = 60.0
STOP_S = 90.0


class ChildFailedError(WeftError):
    """A child ended before it was of any use."""

    code = "up.failed"
    domain = "external"


@dataclass
class Child:
    """One process to keep alive: the `weft` command that it is."""

    name: str
    arguments: Sequence[str]
    folder: Path | None = None
    log: IO[bytes] | None = None
    process: subprocess.Popen[bytes] | None = None
    deaths: int = 0
    started: float = 0.0
    again_at: float = 0.0

    def start(self) -> None:
        """Start the process in a session of its own, so that Ctrl-C reaches its supervisor only."""
        command = [sys.executable, "-m", "weft.cli", self.name, *self.arguments, "--supervised"]
        self.process = subprocess.Popen(
            command,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        self.started = time.monotonic()

    @property
    def pid(self) -> int | None:
        """The number of the process, while there is one."""
        return self.process.pid if self.process else None

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self.process is not None and self.process.poll() is None

    def tend(self) -> None:
        """Start the process again if it died, the later the more often it did in a row."""
        if self.process is None or self.is_alive:
            return
        now = time.monotonic()
        if not self.again_at:
            self.deaths = 1 if now - self.started > HEALTHY_AFTER_S else self.deaths + 1
            wait = min(FIRST_WAIT_S * 2 ** (self.deaths - 1), LONGEST_WAIT_S)
            self.again_at = now + wait
            log.warning(
                "the %s %s; it is started again in %.1f s", self.name, self.how_it_ended(), wait
            )
        if now >= self.again_at:
            self.again_at = 0.0
            self.start()

    def stop(self) -> None:
        """Ask the process to stop and wait until it has; one that does not is killed."""
        if self.process is None:
            return
        if self.is_alive:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            log.warning("the %s did not stop in %.0f s and is killed", self.name, STOP_S)
            self.process.kill()
            self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()
        self.process = None

    def how_it_ended(self) -> str:
        """The end of the process in words."""
        assert self.process is not None
        code = self.process.returncode
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with status {code}"


def end_with_parent(*, after_s: float = 0.0) -> None:
    """Stop this process when the one that started it is gone: standard input ends with it."""

    def watch() -> None:
        while os.read(0, 1024):
            pass
        time.sleep(after_s)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(STOP_S)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()
