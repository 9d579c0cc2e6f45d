"""Knots without rows are forgotten: logs and stores begin later, and everything that is left verifies and goes on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import deltalake
import pytest

from tests.spark.test_compaction import EAGER, compact
from tests.spark.test_history import fed, refused, rows_of, trim, verify
from tests.spark.test_replay import PROJECT, orders, replay
from weft.streams.storage import Storage
from weft.testing import Play, play
from weft.weaver.recover import recover

LITTLE = {"history": {"keep_mb": 0, "keep_knots": 3}}
SHORT: dict[str, Any] = {
    **PROJECT,
    "processing": {**EAGER, "keyframes": {"every": 2}},
    "streams": {"orders": {**PROJECT["streams"]["orders"], **LITTLE}, "clean-orders": LITTLE},
    "pipelines": {"clean": PROJECT["pipelines"]["clean"]},
}


def versions(folder: Path, stream: str) -> list[int]:
    log = folder / "streams" / stream / "_delta_log"
    return sorted(int(path.stem) for path in log.glob("*.json") if path.stem.isdigit())


def numbers(run: Play, stream: str) -> list[int]:
    return [knot.number for knot in run.knots(stream, all=True)]


def test_the_oldest_knots_go_with_their_logs_and_the_rest_verifies(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with play(SHORT, storage=folder) as run:
        run.attach(stream="orders", steps=[{"set": {"total": "total + 1"}}], id="more")
        for batch in range(8):
            run.feed("orders", orders(batch))
        compact(run, "orders")
        done = trim(run, "orders")
        assert (done["status"], done["result"]["first"]) == ("done", 5)
        assert numbers(run, "orders") == [5, 6, 7, 8]
        assert versions(folder, "orders")[0] >= 5
        assert rows_of(run, "orders") == fed(7)
        assert deltalake.DeltaTable(str(folder / "streams/orders")).to_pyarrow_table().num_rows == 4
        assert verify(folder).findings == []
        assert trim(run, "clean-orders")["result"]["first"] == 5
        assert verify(folder).findings == []
        assert replay(run, "clean-orders", after=7)["verified"]
        assert run.api.get("/lineage", params={"stream": "clean-orders", "knot": 6}).is_success
        refused(run, "/rollbacks", stream="orders", to=3)
        run.resume()
        run.feed("orders", orders(8))
        assert rows_of(run, "orders") == fed(7, 8)
        assert run.rollback("orders", to=8)["status"] == "done"
        run.settle()
        assert rows_of(run, "orders") == fed(7, 8)
        for stream in ("orders", "clean-orders"):
            trim(run, stream)
        assert verify(folder).findings == []
        copied = {"from": "orders", "to": "copied"}
        run.apply({**SHORT, "pipelines": {**SHORT["pipelines"], "copy": copied}})
        run.feed("orders", orders(9))
        assert rows_of(run, "copied")[-4:] == fed(9)
        assert verify(folder).findings == []
    for file in (folder / "weaver").iterdir():
        file.unlink()
    recover(Storage(str(folder)), lambda stream, cut: pytest.fail(stream))
    with play(SHORT, storage=folder) as run:
        assert [rule["id"] for rule in run.api.get("/rules").json()] == ["more"]
        run.feed("orders", orders(10))
        assert rows_of(run, "orders")[-4:] == fed(10)
        assert verify(folder).findings == []


def wait_for(folder: Path) -> None:
    """Wait until there is something in it: the worker keeps states between two looks at the weaver."""
    deadline = time.monotonic() + 60
    while not (folder.is_dir() and any(folder.iterdir())):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_states_of_forgotten_knots_go_and_windows_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    streams = {**SHORT["streams"], "revenue": LITTLE}
    project = {**SHORT, "streams": streams, "pipelines": PROJECT["pipelines"]}
    with play(project, storage=folder) as run:
        keyframes = folder / "pipelines/revenue/keyframes"
        for batch in range(9):
            run.feed("orders", orders(batch))
            if batch == 2:
                wait_for(keyframes)
        before = run.rows("revenue")
        assert min(int(one.name) for one in keyframes.iterdir()) < 5
        done = trim(run, "revenue")
        assert done["status"] == "done"
        first = done["result"]["first"]
        assert min(int(one.name) for one in keyframes.iterdir()) >= first
        assert numbers(run, "revenue")[0] == first
        assert verify(folder).findings == []
        run.feed("orders", orders(9))
        assert run.rollback("revenue", to=numbers(run, "revenue")[-2])["status"] == "done"
        run.settle()
        assert verify(folder).findings == []
        assert len(run.rows("revenue")) < len(before)


def test_a_floor_that_was_changed_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with play(SHORT, storage=folder) as run:
        for batch in range(6):
            run.feed("orders", orders(batch))
        assert trim(run, "orders")["status"] == "done"
    file = folder / "streams/orders/_delta_log/_weft_floor.json"
    file.write_text(file.read_text().replace('"expired":', '"expired":1'))
    assert "table.altered" in {one.code for one in verify(folder).findings}
