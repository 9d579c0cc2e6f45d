"""`weft up` as people run it, for tests: real processes, and a line to the weaver."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

LIMIT_S = 300.0

Running = tuple[subprocess.Popen[bytes], httpx.Client]


@contextmanager
def running_up(folder: Path, *project: str) -> Iterator[Running]:
    """`weft up` in a folder, and a client of its weaver; afterwards all of its processes are gone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "weft.cli", "up", *project, "--port", str(port)]
    command += ["--metrics-port", "0", "--master", "local[2]", "--conf", "spark.driver.memory=1g"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=address, trust_env=False, timeout=30) as api:
            yield process, api
    finally:
        if is_running(process):
            for one in (*psutil.Process(process.pid).children(recursive=True), process):
                one.kill()
        process.wait()


def is_running(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has not ended."""
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
