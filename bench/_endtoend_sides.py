"""The sides of the end-to-end bench: each a tree of processes that reads events in files and keeps panes in a table.

A side is started, waited for until its last result is durable, and stopped. What it took is counted from its start to
that result, over all processes that it started, the ended ones too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyarrow import csv

from bench._cpu import cpu_seconds
from bench._endtoend_data import checksum
from bench._window_data import DELAY_MS, FAR_KEY, Case
from weft.locations.location import locate
from weft.servers.process import free_port
from weft.streams.log import commits
from weft.streams.storage import Storage

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 3600.0
LOOK_S = 0.1
STOP_S = 30.0
PANES = "panes"
COLUMNS = ["start", "key", "n", "s"]
CHECKPOINTS = "10 s"
BATCH = 500_000
"""Records of a batch on our side: as many as a file has, which is a batch of the job by hand."""


class SideError(Exception):
    """A side could not be run, or gave a wrong result."""


@dataclass(frozen=True)
class Spent:
    """What a run took from its start to its last result."""

    cpu_s: float
    wall_s: float


class Side(Protocol):
    """One way to do the job in a folder of its own."""

    def command(self, root: Path, events: Path, case: Case) -> list[str]:
        """What is started."""

    def is_done(self, root: Path, said: Path, panes: int) -> bool:
        """Whether the last of so many panes is durable; `said` is what the process has written so far."""

    def panes(self, root: Path) -> pa.Table:
        """Start, key, count and sum of each pane."""


class Weft:
    """A project with a source and a window, run by `weft up` as it comes."""

    def command(self, root: Path, events: Path, case: Case) -> list[str]:
        (root / "weft.yaml").write_text(json.dumps(_project(events, case)))
        return [sys.executable, "-m", "weft.cli", "up", str(root), "--port", str(free_port())]

    def is_done(self, root: Path, said: Path, panes: int) -> bool:
        table = locate(_storage(root).table(PANES))
        return sum(file.rows for one in commits(table) for file in one.adds) >= panes

    def panes(self, root: Path) -> pa.Table:
        table = DeltaTable(_storage(root).table(PANES)).to_pyarrow_table()
        start = pc.struct_field(table["window"], "start")
        return table.append_column("start", start).select(COLUMNS)


class Stock:
    """The same by hand in PySpark and Delta."""

    def command(self, root: Path, events: Path, case: Case) -> list[str]:
        asked = {**_job(root, case), "events": str(events)}
        return [sys.executable, "-m", "bench._endtoend_stock", json.dumps(asked)]

    def is_done(self, root: Path, said: Path, panes: int) -> bool:
        return has_said_done(said)

    def panes(self, root: Path) -> pa.Table:
        return DeltaTable(str(root / PANES)).to_pyarrow_table().select(COLUMNS)


class Flink:
    """The same in Flink SQL, with checkpoints and files of text, which its package can write."""

    def __init__(self, python: str, backend: str) -> None:
        self._python = python
        self._backend = backend

    def command(self, root: Path, events: Path, case: Case) -> list[str]:
        # Flink takes files in any order, and finds events of an earlier one late: it gets the same lines in one.
        together = root / "events.json"
        with together.open("wb") as lines:
            lines.writelines(path.read_bytes() for path in sorted(events.iterdir()))
        asked = {
            **_job(root, case),
            "backend": self._backend,
            "checkpoints": CHECKPOINTS,
            "events": {
                "connector": "filesystem",
                "path": together.as_uri(),
                "format": "json",
                "json.timestamp-format.standard": "ISO-8601",
            },
            "panes": {
                "connector": "filesystem",
                "path": (root / PANES).as_uri(),
                "format": "csv",
                "csv.disable-quote-character": "true",
            },
        }
        return [self._python, str(ROOT / "bench" / "_endtoend_flink.py"), json.dumps(asked)]

    def is_done(self, root: Path, said: Path, panes: int) -> bool:
        return has_said_done(said)

    def panes(self, root: Path) -> pa.Table:
        read = csv.ReadOptions(column_names=COLUMNS)
        parts = [
            csv.read_csv(path, read_options=read)
            for path in sorted((root / PANES).iterdir())
            # What begins with a dot or an underscore belongs to no checkpoint.
            if path.name[0] not in "._" and path.stat().st_size
        ]
        return pa.concat_tables(parts)


def run_side(side: Side, root: Path, events: Path, case: Case, wanted: tuple[int, int]) -> Spent:
    """Run a side in a new folder; raises when its panes are not those that are wanted."""
    root.mkdir()
    command = side.command(root, events, case)
    said = root / "said"
    began = time.monotonic()
    process = start(command, said)
    try:
        while not side.is_done(root, said, wanted[0]):
            if process.poll() is not None or time.monotonic() - began > LIMIT_S:
                raise SideError(f"{command} did not end well: {said.read_text()[-2000:]}")
            time.sleep(LOOK_S)
        spent = Spent(cpu_seconds(process.pid), time.monotonic() - began)
    finally:
        stop(process)
    found = _summed(side.panes(root))
    if found != wanted:
        raise SideError(f"{command} gave {found}, not {wanted}")
    return spent


def start(command: list[str], said: Path) -> subprocess.Popen[bytes]:
    """Start a side; what it says goes into a file."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "src")))
    with said.open("wb") as out:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": path},
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a side and all that it started."""
    tree = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    if process.stdin is not None:
        process.stdin.close()
    process.terminate()
    _, left = psutil.wait_procs([psutil.Process(process.pid), *tree] if tree else [], STOP_S)
    for one in left:
        one.kill()
    process.wait()


def has_said_done(said: Path) -> bool:
    """Whether a script has said that its last result is there."""
    return "done" in said.read_text().splitlines()


def _summed(panes: pa.Table) -> tuple[int, int]:
    """The number of panes and their checksum, without that of the event which closes all windows."""
    panes = panes.filter(pc.field("key") != FAR_KEY)
    starts = panes["start"].cast(pa.timestamp("us")).cast(pa.int64()).to_numpy() // 1000
    columns = [panes[name].cast(pa.int64()).to_numpy().astype(np.int64) for name in COLUMNS[1:]]
    return panes.num_rows, checksum(starts, *columns)


def _storage(root: Path) -> Storage:
    return Storage(str(root / ".weft"))


def _job(root: Path, case: Case) -> dict[str, Any]:
    lengths = {"size_ms": case.size_ms, "slide_ms": case.slide_ms, "delay_ms": DELAY_MS}
    return {"root": str(root), **lengths}


def _project(events: Path, case: Case) -> dict[str, Any]:
    """What a user would write."""
    tumbling = {"type": "tumbling", "size_ms": case.size_ms}
    sliding = {"type": "sliding", "size_ms": case.size_ms, "slide_ms": case.slide_ms}
    return {
        "app_name": "bench",
        "processing": {"queue_size": BATCH},
        "streams": {
            "events": {
                "source": {"files": {"path": str(events)}},
                "schema": {"key": "long", "value": "long", "at": "timestamp"},
                "event_time": "at",
                "watermarks": {"delay_seconds": DELAY_MS / 1000},
            }
        },
        "pipelines": {
            "windows": {
                "from": "events",
                "window": tumbling if case.size_ms == case.slide_ms else sliding,
                "by": ["key"],
                "aggregate": {"n": "count(*)", "s": "sum(value)"},
                "to": PANES,
            }
        },
    }
