"""`weft up` as people run it: real processes, real signals."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.up import Running, running_up, wait_for
from weft.loading.init import write
from weft.streams.storage import Storage
from weft.weaver.verification import verify_storage


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Running]:
    """A project that `weft up` runs, and a line to its weaver."""
    write(tmp_path / "shop")
    with running_up(tmp_path, "shop") as running:
        yield running


def test_a_worker_that_is_killed_is_started_again_and_nothing_is_lost(
    up: Running, tmp_path: Path
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
