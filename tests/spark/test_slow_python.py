"""A Python process that is slow to start, as on a busy machine: it is waited for, and no batch fails."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyspark.sql import SparkSession

from weft.loading.load import load
from weft.runtime.worker import Worker
from weft.streams.storage import Storage
from weft.weaver.serve import make_server

SLOW = """#!/bin/sh
# The first process of a source comes too late for Spark.
case "$*" in *streaming_source_runner*) mkdir "{folder}/started" 2>/dev/null && sleep 12 ;; esac
exec "{python}" "$@"
"""
PROJECT = {
    "app_name": "slow",
    "processing": {"parallelism": 1, "checkpoint_interval": 0.2},
    "streams": {"events": {"source": {"mock": {"rate": 100}}}},
}
LIMIT_S = 120


def test_a_source_that_is_slow_to_start_fails_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text(SLOW.format(folder=tmp_path, python=sys.executable))
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    storage = Storage(str(tmp_path / "storage"))
    server = make_server(storage, port=0)
    server.start()
    worker = Worker(spark, server.address, storage)
    thread = threading.Thread(target=worker.run, daemon=True)
    failures: list[Any] = []
    with httpx.Client(base_url=server.address, trust_env=False, timeout=60) as api:
        api.put("/project", json=load(PROJECT).to_dict()).raise_for_status()
        thread.start()
        deadline = time.monotonic() + LIMIT_S
        while not server.weaver.knots.head("events").number and time.monotonic() < deadline:
            failures += worker.failures().values()
            time.sleep(0.05)
        tied = server.weaver.knots.head("events").number
        kinds = {event["kind"] for event in api.get("/events", params={"stream": False}).json()}
    worker.stop()
    thread.join(timeout=60)
    server.stop()
    assert (tmp_path / "started").exists()
    assert tied
    assert failures == []
    assert not {kind for kind in kinds if "fail" in kind}
