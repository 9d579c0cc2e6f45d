"""A project whose storage is a bucket of a real server: with a changed address, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from weft.locations.location import locate
from weft.servers.hdfs import Hdfs
from weft.servers.process import free_port
from weft.servers.s3 import S3

pytestmark = pytest.mark.timeout(600)

LIMIT_S = 180.0
NOT_THERE = 3
REPOSITORY = Path(__file__).parents[2]
SOURCE = """
class Counted:
    def __init__(self):
        self._next = 0

    def position(self):
        return self._next

    def seek(self, position):
        self._next = position

    def read_batch(self, max_events):
        found = [{"n": n} for n in range(self._next, min(self._next + max_events, 10))]
        self._next += len(found)
        return found

    def close(self):
        pass
"""
PROJECT: dict[str, Any] = {
    "app_name": "bucketed",
    "processing": {"parallelism": 1},
    "watermarks": {"delay_seconds": 0},
    "streams": {
        "clicks": {
            "source": {"files": {"path": "in", "settle_ms": 100}},
            "schema": {"page": "string", "at": "timestamp"},
            "event_time": "at",
        },
        "counted": {"source": {"python": {"class": "counting:Counted"}}, "schema": {"n": "long"}},
    },
    "pipelines": {
        "views": {
            "from": "clicks",
            "window": {"type": "tumbling", "size_ms": 10_000},
            "by": "page",
            "aggregate": {"views": "count(*)"},
        }
    },
}


def click(page: str, second: int) -> str:
    return json.dumps({"page": page, "at": f"2026-01-01T00:00:{second:02d}Z"}) + "\n"


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "weft.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def rows(stream: str, storage: str, folder: Path) -> list[dict[str, Any]]:
    """The rows of a stream that may have no table yet."""
    said = run(*("stream", "rows", stream, "--storage", storage, "--output", "json"), folder=folder)
    if said.returncode == NOT_THERE and "stream.no-table" in said.stderr:
        return []
    assert said.returncode == 0, f"exit {said.returncode}: {said.stdout}{said.stderr}"
    found: list[dict[str, Any]] = json.loads(said.stdout)
    return found


def views(storage: str, folder: Path) -> set[tuple[str, int]]:
    return {(row["page"], row["views"]) for row in rows("views", storage, folder)}


def wait(so: Callable[[], bool], what: str, log: Path) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: {log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.2)


def test_the_commands_run_a_project_in_a_bucket(s3: S3, tmp_path: Path) -> None:
    storage = s3.address(tmp_path.name)
    project = tmp_path / "project"
    (project / "in").mkdir(parents=True)
    (project / "weft.yaml").write_text(yaml.safe_dump({**PROJECT, "storage": storage}))
    (project / "counting.py").write_text(SOURCE)
    (project / "in" / "1.json").write_text(click("a", 1) + click("b", 2))
    port = free_port()
    api = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, trust_env=False)

    def knot(stream: str) -> int:
        try:
            return api.get(f"/streams/{stream}").raise_for_status().json()["knot"] or 0
        except httpx.HTTPError:
            return 0

    log = tmp_path / "up.log"
    command = [sys.executable, "-m", "weft.cli", "up", "--port", str(port), "--metrics-port", "0"]
    with log.open("wb") as said:
        up = subprocess.Popen(
            [*command, "--master", "local[2]"], cwd=project, stdout=said, stderr=said
        )
    try:
        wait(lambda: knot("views") >= 1 and knot("counted") >= 1, "there are knots", log)
        for number, second in ((2, 25), (3, 45)):
            (project / "in" / f"{number}.json").write_text(click("c", second))
            wait(lambda n=number: knot("clicks") >= n, f"file {number} is there", log)
        wait(lambda: len(rows("counted", storage, project)) >= 10, "all are counted", log)
        assert [row["n"] for row in rows("counted", storage, project)] == [*range(10)]
        wait(lambda: ("b", 1) in views(storage, project), "panes come", log)
        before = views(storage, project)
        assert ("a", 1) in before
        answer = api.post("/rollbacks", json={"stream": "clicks", "to": 1}, timeout=120)
        assert answer.is_success, answer.text
        wait(lambda: knot("clicks") > 3, "the other files are read again", log)
        wait(lambda: views(storage, project) == before, "panes are made again", log)
        refused = api.post("/backups", json={"name": "copy"})
        assert refused.json()["code"] == "backup.refused", refused.text
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait(180)
        api.close()
    verified = run(*("verify", "--deep", "--storage", storage, "--output", "json"), folder=project)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    found = json.loads(verified.stdout)
    assert found["findings"] == [] and found["counts"]["checkpoints"] == 3
    assert sorted(os.listdir(project / ".weft")) == ["logs", "weaver"]
    table = locate(storage) / "streams" / "clicks"
    name = next(name for name in table.names() if name.endswith(".parquet"))
    (table / name).write(b"other bytes")
    damaged = run("verify", "--storage", storage, folder=project)
    assert damaged.returncode == 1 and name in damaged.stdout


@pytest.mark.parametrize("kind", ["folder", "s3", "hdfs"])
def test_of_two_writers_of_a_version_of_a_table_one_wins(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    server: S3 | Hdfs | None = None if kind == "folder" else request.getfixturevalue(kind)
    storage = server.address(tmp_path.name) if server else str(tmp_path)
    versions = 20
    done = subprocess.run(
        [sys.executable, "-m", "tests.stack.racing", storage, str(versions)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found["won"]) == versions
    assert found["won"] == found["kept"]
