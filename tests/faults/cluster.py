"""Weft as real processes over one storage folder: a weaver and workers that can be killed, stopped and continued.

Used by the tests of this folder and by the fault benches.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import httpx
import psutil

from weft.lineage.finding import Finding
from weft.loading.load import load
from weft.locations.location import locate
from weft.sources.segment import Segments, encode
from weft.streams.delta import open_table
from weft.streams.storage import Storage
from weft.weaver.verification import verify_storage

REPOSITORY = Path(__file__).parents[2]
LIMIT_S = 240.0


class Process:
    """A process with its children, in a group of its own."""

    def __init__(self, name: str, command: list[str], log: Path) -> None:
        self.name = name
        self._log = log
        paths = (str(REPOSITORY), str(REPOSITORY / "src"), os.environ.get("PYTHONPATH"))
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
                cwd=log.parent,
                text=True,
            )

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it runs or is stopped."""
        return self._process.poll() is None

    @property
    def is_stopped(self) -> bool:
        """Whether a signal has stopped it."""
        return psutil.Process(self._process.pid).status() == psutil.STATUS_STOPPED

    def plan(self, act: str, point: str) -> None:
        """Have it killed or stopped when its spine is at a point next."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{act} {point}\n")
        self._process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it and its children."""
        os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """End it and its children at once, if they run."""
        if self.is_alive:
            self.signal(signal.SIGKILL)
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()

    def terminate(self, *, timeout: float = LIMIT_S) -> int:
        """Ask it to stop, as a supervisor does, and return its exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(timeout)

    def tail(self) -> str:
        """The end of what it said."""
        return self._log.read_text(errors="replace")[-3000:]


class Cluster:
    """A project run by processes; sources read what `feed` is given. With storage elsewhere than in a folder, `home` is
    the folder of the store and of what processes say."""

    def __init__(
        self,
        project: Mapping[str, Any] | str | Path,
        storage: Path | str,
        *,
        home: Path | None = None,
        lease_s: float = 2.0,
        master: str = "local[1]",
        executors: str | None = None,
        conf: Mapping[str, str] | None = None,
        store: str | None = None,
    ) -> None:
        self.project = load(project)
        self._home = Path(storage).absolute() if home is None else home
        self.storage = Storage(
            str(self._home) if home is None else str(storage),
            apart=store if home is None or store else str(home / "weaver"),
        )
        self.workers: list[Process] = []
        self._lease_s = lease_s
        self._master = master
        self._spark = json.dumps({"executors": executors, "conf": dict(conf or {})})
        self._port = _free_port()
        self._fed: dict[str, int] = {}
        self._started = 0
        self._home.mkdir(parents=True, exist_ok=True)
        self.api = httpx.Client(base_url=self.address, timeout=60, trust_env=False)
        self.start_weaver()
        self.api.put("/project", json=self.project.to_dict()).raise_for_status()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in [*self.workers, self.weaver]:
            process.kill()
        self.api.close()

    @property
    def address(self) -> str:
        """Where the weaver answers, also after it was started again."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def for_workers(self) -> str:
        """The address, or addresses, at which workers ask."""
        return self.address

    def start_weaver(self) -> None:
        """Start the weaver and wait until it answers."""
        self.weaver = self.weaver_at(self._port)
        self.wait(self._answers, "the weaver answers")

    def weaver_at(self, port: int, name: str = "weaver") -> Process:
        """A weaver that will answer at a port."""
        command = [sys.executable, "-m", "weft.cli", "weaver", "--storage", self.storage.root]
        command += ["--port", str(port), "--metrics-port", "0"]
        command += ["--lease-seconds", str(self._lease_s), "--store", self.storage.store]
        return Process(name, command, self._log(name))

    def start_worker(self) -> Process:
        """Start one more worker; it takes pipelines as soon as Spark is up."""
        self._started += 1
        name = f"worker-{self._started}"
        module = "tests.faults.runner"
        command = [sys.executable, "-m", module, self.for_workers, self.storage.root, self._master]
        command.append(self._spark)
        worker = Process(name, command, self._log(name))
        self.workers.append(worker)
        return worker

    def feed(self, stream: str, records: Iterable[Any], *, partitions: int = 1) -> int:
        """Append one micro-batch, spread over partitions, and return its number without waiting for it."""
        segments = Segments(f"{self.storage.source(stream)}/feed")
        spread = [(n % partitions, encode(record)) for n, record in enumerate(records)]
        number = self._fed.get(stream, 0) + 1
        self._fed[stream] = segments.append(spread, number=number, stated={})
        return self._fed[stream]

    def settle(self, *, timeout: float = LIMIT_S) -> None:
        """Wait until everything that was fed has gone all the way."""
        self.wait(self.is_idle, "everything fed has gone all the way", timeout=timeout)

    def is_idle(self) -> bool:
        """Whether everything that was fed has gone all the way."""
        try:
            if any(self.consumed(stream) < fed for stream, fed in self._fed.items()):
                return False
            pipelines = self.api.get("/pipelines").raise_for_status().json()
        except httpx.TransportError:
            return False
        return not any(p["operation"] or any(p["behind"].values()) for p in pipelines)

    def consumed(self, stream: str) -> int:
        """The last fed micro-batch that has become a live knot of its stream."""
        knot = self.head(stream)
        position = knot["offsets"]["to"][0] if knot else None
        return int(position["segment"]) if position else 0

    def head(self, stream: str) -> dict[str, Any] | None:
        """The newest live knot of a stream; after a rollback, many with higher numbers may be rolled back."""
        number = self.api.get(f"/streams/{stream}").raise_for_status().json()["knot"]
        if number is None:
            return None
        found: dict[str, Any] = self.api.get(f"/knots/{stream}/{number}").raise_for_status().json()
        return found

    def knots(self, stream: str, *, limit: int = 1000) -> list[dict[str, Any]]:
        """The knots of a stream, newest first."""
        answer = self.api.get("/knots", params={"stream": stream, "limit": limit})
        found: list[dict[str, Any]] = answer.raise_for_status().json()
        return found

    def all_knots(self, stream: str) -> list[dict[str, Any]]:
        """Every knot of a stream, newest first."""
        found = self.knots(stream)
        while found and found[-1]["number"] > 1:
            params = {"stream": stream, "limit": 1000, "before": found[-1]["number"]}
            found += self.api.get("/knots", params=params).raise_for_status().json()
        return found

    def rows(self, stream: str) -> list[dict[str, Any]]:
        """The rows of a stream as its table has them, without `_weft`."""
        folder = locate(self.storage.table(stream))
        if not (folder / "_delta_log").exists():
            return []
        table = open_table(folder.address).to_pyarrow_table()
        rows: list[dict[str, Any]] = table.drop_columns(["_weft"]).to_pylist()
        return rows

    def verify(self) -> list[Finding]:
        """What `weft verify --deep` finds."""
        return verify_storage(self.storage, deep=True).findings

    def wait(self, so: Callable[[], bool], what: str, *, timeout: float = LIMIT_S) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + timeout
        while not so():
            if time.monotonic() > deadline:
                said = "\n".join(f"--- {p.name}\n{p.tail()}" for p in [self.weaver, *self.workers])
                raise TimeoutError(f"Not in {timeout:.0f} s: {what}.\n{said}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        if not self.weaver.is_alive:
            raise RuntimeError(f"The weaver ended: {self.weaver.tail()}")
        try:
            return self.api.get("/health").is_success
        except httpx.TransportError:
            return False

    def _log(self, name: str) -> Path:
        return self._home / f"{name}.log"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
