"""Replays beside other things: rollbacks, deployments, a weaver that ends, and each other."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from tests.spark.test_replay import PROJECT, orders
from weft.testing import Play, play
from weft.weaver.verification import verify_storage

OVER = ("done", "aborted", "failed")


def finished(run: Play, name: str) -> dict[str, Any]:
    deadline = time.monotonic() + 120
    while True:
        found: dict[str, Any] = run.api.get(f"/replays/{name}").json()
        if found["status"] in OVER:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def begin(run: Play, **asked: Any) -> str:
    found = run.api.post("/replays", json={"wait_s": 0, **asked}).json()
    return str(found["id"])


def test_two_replays_a_rollback_and_a_deployment_together(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path / "s") as run:
        for batch in range(5):
            run.feed("orders", orders(batch))
        before = sorted(map(str, run.rows("revenue")))
        begun: list[str] = []
        asked = [
            lambda: begun.append(begin(run, stream="revenue", after=0, source="orders")),
            lambda: begun.append(
                begin(run, stream="revenue", after=1, change={"leave_out": {"orders": "id = 1"}})
            ),
            lambda: run.api.post("/rollbacks", json={"stream": "clean-orders", "to": 2}),
        ]
        threads = [threading.Thread(target=one) for one in asked]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        marked = {**PROJECT["pipelines"]["clean"]}
        marked["steps"] = [*marked["steps"], {"set": {"country": "country"}}]
        run.apply({**PROJECT, "pipelines": {**PROJECT["pipelines"], "clean": marked}})
        for name in begun:
            found = finished(run, name)
            # What it reads may have been cut from under it: then it says so, and nothing else happens.
            assert found["status"] == "done" or found["error"], found
        run.settle()
        assert sorted(map(str, run.rows("revenue"))) == before
        left = run.api.get("/operations", params={"open": True}).json()
        assert left == []
        name = begin(run, stream="revenue", after=0)
        assert finished(run, name)["verified"] is True
    assert verify_storage(run.storage).findings == []


def test_a_replay_goes_on_with_the_weaver_that_comes(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path / "s") as run:
        for batch in range(5):
            run.feed("orders", orders(batch))
        name = begin(run, stream="revenue", after=0, source="orders")
    with play(PROJECT, storage=tmp_path / "s") as run:
        assert finished(run, name)["verified"] is True


def test_a_replay_that_is_given_up_leaves_no_workspace(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path / "s") as run:
        for batch in range(5):
            run.feed("orders", orders(batch))
        name = begin(run, stream="revenue", after=0, source="orders")
        aborted = run.api.post(f"/operations/{name}/abort")
        assert aborted.status_code in (200, 409)  # it may have been quicker
        found = finished(run, name)
        assert found["status"] == "done" or not Path(found["workspace"]).exists()
        assert run.api.delete(f"/replays/{name}").status_code == 200


def test_a_python_function_that_raises_is_run_again_as_it_was(tmp_path: Path) -> None:
    code = "def check(record):\n    if record['id'] == 7:\n        raise ValueError('seven')\n    return record\n"
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "shop.py").write_text(code)
    clean = {"from": "orders", "steps": [{"function": "shop:check"}], "to": "clean-orders"}
    project = {**PROJECT, "pipelines": {"clean": clean}}
    with play(project, storage=tmp_path / "s", folder=folder) as run:
        run.feed("orders", [{**orders(0)[0], "id": number} for number in (6, 7, 8)])
        (folder / "shop.py").unlink()  # the version that ran is kept
        found = run.api.post("/replays", json={"stream": "clean-orders", "after": 0}).json()
        assert found["verified"] is True
        assert found["legs"][0]["rows"] == 3
        [dead] = run.rows("clean-orders.dead")
        assert "seven" in dead["reason"]
