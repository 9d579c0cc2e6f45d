"""Weft on one machine: a weaver and a worker as child processes over one storage folder.

Run by `weft up` and the demo.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from weft.cli.supervisor import Child, ChildFailedError
from weft.project.definition import Project
from weft.runtime.client import WeaverAwayError, WeaverClient

TEND_S = 0.2
WEAVER_START_S = 60.0
LOOPBACK = "127.0.0.1"


class Local:
    """A weaver and a worker that are kept alive; `folder` has the project's Python and its relative paths."""

    def __init__(
        self,
        storage: Path,
        *,
        folder: Path,
        port: int,
        metrics_port: int = 0,
        worker_metrics_port: int = 0,
        master: str,
        conf: Sequence[str] = (),
        debug: bool = False,
        log: IO[bytes] | None = None,
    ) -> None:
        self.address = f"http://{LOOPBACK}:{port}"
        self.client = WeaverClient(self.address)
        shared = ["--storage", str(storage), *(["--debug"] if debug else [])]
        settings = [part for setting in conf for part in ("--conf", setting)]
        ports = ["--port", str(port), "--metrics-port", str(metrics_port)]
        line = ["--weaver", self.address, "--master", master]
        sinks = ["--worker-metrics-port", str(worker_metrics_port)]
        self.weaver = Child("weaver", [*shared, *ports], folder, log)
        self.worker = Child("worker", [*shared, *line, *sinks, *settings], folder, log)

    def start(self, project: Project) -> dict[str, list[str]]:
        """Start the weaver, deploy the project to it, start the worker; says what the deployment changed."""
        self.weaver.start()
        self._await_weaver()
        changes: dict[str, list[str]] = self.client.call("PUT", "/project", project.to_dict())
        self.worker.start()
        return changes

    def tend(self) -> None:
        """Start again what died; to be called now and then."""
        self.weaver.tend()
        self.worker.tend()

    def wait_for(self, ready: Callable[[], bool], *, seconds: float) -> bool:
        """Keep both alive until something is so; False when it is not in time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.tend()
            try:
                if ready():
                    return True
            except WeaverAwayError:
                pass  # it is being started again
            time.sleep(TEND_S)
        return False

    def is_running(self) -> bool:
        """Whether every pipeline that should run does."""
        pipelines: list[dict[str, Any]] = self.client.call("GET", "/pipelines")
        return all(p["state"] == "running" for p in pipelines if p["desired"] == "running")

    def stop(self) -> None:
        """Stop the worker, which ties its last knots, then the weaver."""
        self.worker.stop()
        self.weaver.stop()
        self.client.close()

    def _await_weaver(self) -> None:
        deadline = time.monotonic() + WEAVER_START_S
        while True:
            try:
                self.client.call("GET", "/health")
                return
            except WeaverAwayError:
                if not self.weaver.is_alive:
                    raise ChildFailedError(
                        f"The weaver could not be started: it {self.weaver.how_it_ended()}.",
                        hint="What it said above is the reason.",
                    ) from None
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.05)
