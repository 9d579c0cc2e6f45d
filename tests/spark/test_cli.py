"""`weft up` as people run it: real processes, real signals."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from weft.loading.init import write
from weft.streams.storage import Storage
from weft.weaver.verification import verify_storage

LIMIT_S = 200.0


@pytest.fixture
def up(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client]]:
    """A project that `weft up` runs, and a line to its weaver."""
    write(tmp_path / "shop")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "weft.cli", "up", "shop", "--port", str(port)]
    command += ["--metrics-port", "0", "--master", "local[2]", "--conf", "spark.driver.memory=1g"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as api:
        yield process, api
    for one in (
        (*psutil.Process(process.pid).children(recursive=True), process) if running(process) else ()
    ):
        one.kill()
    process.wait()


def running(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is None


def wait_for(what: Callable[[], Any]) -> Any:
    """What a call returns once it is true; a weaver that does not answer yet is asked again."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        try:
            if found := what():
                return found
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise TimeoutError


def test_a_worker_that_is_killed_is_started_again_and_nothing_is_lost(
    up: tuple[subprocess.Popen[bytes], httpx.Client], tmp_path: Path
) -> None:
    process, api = up

    def newest() -> int:
        found = api.get("/streams/clean-orders")
        return (found.json()["knot"] or 0) if found.is_success else 0

    def connected() -> set[int]:
        return {worker["pid"] for worker in api.get("/workers").json() if worker["connected"]}

    wait_for(lambda: newest() >= 2)
    (pid,) = connected()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: connected() - {pid})
    last = api.get("/streams/clean-orders").json()["last_number"]
    wait_for(lambda: newest() > last)

    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 0
    assert psutil.wait_procs(children, timeout=10)[1] == []

    storage = Storage(str(tmp_path / "shop" / ".weft"))
    found = verify_storage(storage, deep=True)
    assert found.findings == []
    assert found.counts["knots"] > 6
