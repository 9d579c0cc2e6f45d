"""A Spark cluster on loopback: a master and workers from PySpark's own jars, each a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import httpx
import psutil
import pyspark

from weft.servers.process import LOOPBACK, JavaServer, free_port

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
EXECUTOR = "CoarseGrainedExecutorBackend"
SCALA = "2.13"


class SparkCluster:
    """A standalone master with some workers; executors are as large as the application says."""

    def __init__(
        self, folder: Path, *, workers: int = 2, cores: int = 2, memory: str = "2g"
    ) -> None:
        self.folder = folder
        port, self._page = free_port(), free_port()
        self.address = f"spark://{LOOPBACK}:{port}"
        self.master = _daemon(folder, "master")
        self.workers = [_daemon(folder, f"worker-{place}") for place in range(workers)]
        self._port = port
        self._cores, self._memory = cores, memory

    def __enter__(self) -> Self:
        self.master.start_main(
            MASTER,
            *("--host", LOOPBACK, "--port", str(self._port), "--webui-port", str(self._page)),
        )
        self.master.wait_for(lambda: self.count_workers() is not None)
        for place in range(len(self.workers)):
            self.start_worker(place)
        self.master.wait_for(lambda: self.count_workers() == len(self.workers))
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.kill()
        self.master.stop()

    def start_worker(self, place: int) -> None:
        """Start a worker, also after it was killed."""
        worker = self.workers[place]
        worker.start_main(
            WORKER,
            *("--host", LOOPBACK, "--webui-port", "0"),
            *("--cores", str(self._cores), "--memory", self._memory),
            *("--work-dir", str(worker.folder / "work")),
            self.address,
        )

    def count_workers(self) -> int | None:
        """How many workers the master knows, or None while it does not answer."""
        try:
            state = httpx.get(f"http://{LOOPBACK}:{self._page}/json/", timeout=2).json()
        except (httpx.HTTPError, ValueError):
            return None
        return len([one for one in state["workers"] if one["state"] == "ALIVE"])

    def executors(self) -> list[int]:
        """The process ids of the executors that run now."""
        started = (
            child
            for worker in self.workers
            if worker.running and worker.pid is not None
            for child in psutil.Process(worker.pid).children(recursive=True)
        )
        return [child.pid for child in started if _is_executor(child)]


def _is_executor(process: psutil.Process) -> bool:
    try:
        return any(EXECUTOR in part for part in process.cmdline())
    except psutil.Error:  # it has just ended
        return False


def _daemon(folder: Path, name: str) -> JavaServer:
    home = Path(pyspark.__file__).parent
    # Daemons look for their own jars by a home and a version of Scala, and bind where they are told.
    environment = {
        "SPARK_HOME": str(home),
        "SPARK_SCALA_VERSION": SCALA,
        "SPARK_LOCAL_IP": LOOPBACK,
    }
    jars = [home / "jars" / "*"]
    return JavaServer(name, folder / name, classpath=jars, heap="512m", environment=environment)
