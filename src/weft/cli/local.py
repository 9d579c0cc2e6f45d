"""Weft on one machine: a weaver and a worker as child processes over one storage folder.

Run by `weft up` and the demo.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.cli.journal import PARTS, journal_of, last_lines, open_journal
from weft.cli.supervisor import Child, ChildFailedError
from weft.errors import WeftError
from weft.project.definition import Project
from weft.runtime import jars
from weft.runtime.client import WeaverAwayError, WeaverClient
from weft.streams.storage import Storage

TEND_S = 0.2
WEAVER_START_S = 60.0
DEPLOY_S = 300.0
LOOPBACK = "127.0.0.1"


class Local:
    """A weaver and a worker that are kept alive; `folder` has the project's Python and its relative paths."""

    def __init__(
        self,
        storage: Storage,
        *,
        folder: Path,
        port: int,
        metrics_port: int = 0,
        worker_metrics_port: int = 0,
        master: str,
        executors: str | None = None,
        conf: Sequence[str] = (),
        debug: bool = False,
    ) -> None:
        self.address = f"http://{LOOPBACK}:{port}"
        self.client = WeaverClient(self.address)
        shared = ["--storage", storage.root, *(["--debug"] if debug else [])]
        store = ["--store", storage.apart] if storage.apart else []
        settings = [part for setting in conf for part in ("--conf", setting)]
        ports = ["--port", str(port), "--metrics-port", str(metrics_port)]
        line = ["--weaver", self.address, "--master", master]
        line += ["--executors", executors] if executors else []
        sinks = ["--worker-metrics-port", str(worker_metrics_port)]
        self._storage = storage
        journals = {part: open_journal(storage.home, part) for part in PARTS}
        self.weaver = Child("weaver", [*shared, *store, *ports], folder, journals["weaver"])
        self.worker = Child(
            "worker", [*shared, *line, *sinks, *settings], folder, journals["worker"]
        )

    def fetch(self) -> None:
        """Bring the jars that the worker needs, with a bar: later nobody would see how far it is."""
        jars.find_for(self._storage.root)

    def start(
        self, project: Project, *, recompute: bool = False, rename: bool = False
    ) -> dict[str, Any]:
        """Start weaver and worker and deploy the project to them; says what the deployment changed."""
        self.weaver.start()
        self._await_weaver()
        # Before the project: what an earlier life left under way needs a worker, and may stand in the way.
        self.worker.start()
        said = {"recompute": str(recompute).lower(), "rename": str(rename).lower()}
        changes: dict[str, Any] = self._deploy(project, said)
        return changes

    def _deploy(self, project: Project, said: Mapping[str, str]) -> Any:
        deadline = time.monotonic() + DEPLOY_S
        while True:
            try:
                return self.client.call("PUT", "/project", project.to_dict(), **said)
            except WeftError as error:
                if not error.retryable or time.monotonic() > deadline:
                    raise
            self.tend()
            time.sleep(TEND_S)

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

    def starting(self) -> list[str]:
        """The pipelines that should run and do not yet."""
        wanted = [found for found in self.pipelines() if found["desired"] == "running"]
        return [found["id"] for found in wanted if found["state"] != "running"]

    def pipelines(self) -> list[dict[str, Any]]:
        """The pipelines as they are now."""
        found: list[dict[str, Any]] = self.client.call("GET", "/pipelines")
        return found

    def stop(self) -> None:
        """Stop the worker, which ties its last knots, then the weaver."""
        self.worker.stop()
        self.weaver.stop()
        self.client.close()

    def _await_weaver(self) -> None:
        """Wait until our own weaver answers; another project's on the same port is none of ours."""
        deadline = time.monotonic() + WEAVER_START_S
        while True:
            health = self._health()
            if health is not None and health["pid"] == self.weaver.pid:
                return
            if not self.weaver.is_alive:
                raise self._not_started(health)
            if time.monotonic() > deadline:
                raise WeaverAwayError(f"The weaver does not answer at {self.address}.")
            time.sleep(0.05)

    def _health(self) -> dict[str, Any] | None:
        try:
            health: dict[str, Any] = self.client.call("GET", "/health")
        except WeaverAwayError:
            return None
        return health

    def _not_started(self, health: dict[str, Any] | None) -> ChildFailedError:
        if health is None:
            return ChildFailedError(
                f"The weaver could not be started: it {self.weaver.how_it_ended()}.",
                hint="It said: "
                + " ".join(last_lines(journal_of(self._storage.home, "weaver"), 3)),
            )
        whose = f"project '{health['project']}'" if health["project"] else "another project"
        return ChildFailedError(
            f"{self.address} is the address of a weaver that runs {whose} already; nothing was changed there.",
            code="up.port-taken",
            domain="conflict",
            hint="Stop it, or choose another address with `--port` and `--metrics-port`.",
        )
