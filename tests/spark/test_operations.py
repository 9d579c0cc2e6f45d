"""Operations: one at a time on a pipeline, retried, resumed, given up; and batches that must be ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.spark.projects import CLEAN, REVENUE, as_set, orders, shop
from tests.spark.stubborn import StubbornSink
from weft.errors import WeftError
from weft.lineage.knot import Status
from weft.runtime import fill as filling
from weft.runtime import work
from weft.runtime.worker import Worker
from weft.testing import Play, play
from weft.weaver import tasks
from weft.weaver.verification import verify_storage

PROJECT = shop(clean=CLEAN, revenue=REVENUE)
LONGEST_S = 60.0


def wait_for(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + LONGEST_S
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come to be so"
        time.sleep(0.02)
    return found


def beside(act: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Something done in another thread, and what came of it."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(act())
        except WeftError as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def operations(run: Play) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run.api.get("/operations").json()
    return found


def is_clean(run: Play) -> bool:
    return verify_storage(run.storage, deep=True).findings == []


def ids(run: Play, stream: str) -> list[int]:
    return sorted(row["id"] for row in run.rows(stream))


def test_of_two_rollbacks_at_once_one_is_refused_with_the_id_of_the_other(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        for number in range(6):
            run.feed("orders", orders(number * 4, 4))
        before = {stream: as_set(run.rows(stream)) for stream in ("clean-orders", "revenue")}
        asked = [("clean-orders", 2), ("clean-orders", 4), ("orders", 3), ("orders", 1)]
        started = [
            beside(lambda s=s, k=k: run.post("/rollbacks", {"stream": s, "to": k}))
            for s, k in asked
        ]
        for thread, _ in started:
            thread.join()
        results = [found for _, found in started]
        done = [one for [one] in results if isinstance(one, dict)]
        refused = [one for [one] in results if isinstance(one, WeftError)]
        assert done and all(one["status"] == "done" for one in done)
        assert {error.code for error in refused} <= {"operation.busy"}
        known = {one["id"] for one in operations(run)}
        assert all(error.ids["operation"] in known for error in refused)
        run.settle()
        assert {s: as_set(run.rows(s)) for s in before} == before
        assert all(one["status"] == "done" for one in operations(run)) and is_clean(run)


def test_a_queued_rollback_waits_for_the_one_that_is_under_way(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        for number in range(4):
            run.feed("orders", orders(number * 4, 4))
        threads = [
            beside(lambda k=k: run.post("/rollbacks", {"stream": "orders", "to": k, "queue": True}))
            for k in (3, 2, 1)
        ]
        for thread, _ in threads:
            thread.join()
        assert [found[0]["status"] for _, found in threads] == ["done"] * 3
        run.settle()
        assert ids(run, "orders") == list(range(16)) and is_clean(run)


def test_one_knot_that_breaks_two_guards_is_rolled_back_once(tmp_path: Path) -> None:
    guarded: dict[str, Any] = {"guards": ["filtered_share < 0.5"], "on_breach": "rollback"}
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.feed("orders", orders(1, 2))
        run.attach(stream="orders", id="one", steps=[{"filter": "id < 5"}], **guarded)
        run.feed("orders", orders(3, 2))
        run.attach(stream="orders", id="two", steps=[{"filter": "id <> 5"}], **guarded)
        run.feed("orders", orders(5, 1))
        wait_for(lambda: [one["status"] for one in operations(run)] == ["done"])
        run.settle()
        [rollback] = operations(run)
        assert rollback["request"]["to"] == 1 and "knot 3" in rollback["because"]
        assert ids(run, "orders") == [1, 2, 3, 4, 5]
        rules = run.api.get("/rules").json()
        assert [rule["status"] for rule in rules] == ["retired", "retired"] and is_clean(run)


def test_a_rollback_waits_for_a_worker_and_goes_on_when_one_comes(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("orders", orders(0, 4))
        run.feed("orders", orders(4, 4))
        run._drop_worker()
        thread, results = beside(lambda: run.post("/rollbacks", {"stream": "orders", "to": 1}))
        wait_for(lambda: operations(run) and operations(run)[0]["error"])
        [waiting] = operations(run)
        assert (waiting["status"], waiting["error"]["code"]) == ("running", "worker.none")
        run.resume()
        thread.join()
        assert results[0]["status"] == "done"
        run.settle()
        assert ids(run, "orders") == list(range(8)) and is_clean(run)


def stubborn(refusal: Path) -> dict[str, Any]:
    sink = {"python": {"class": "tests.spark.stubborn:StubbornSink", "refusal": str(refusal)}}
    return shop(clean={**CLEAN, "sinks": [sink]})


def test_a_sink_that_is_away_for_a_moment_delays_a_rollback(tmp_path: Path) -> None:
    refusal = tmp_path / "refusal"
    StubbornSink.kept.clear()
    with play(stubborn(refusal), storage=tmp_path / "s") as run:
        run.feed("orders", orders(1, 3))
        run.feed("orders", orders(4, 3))
        plan = run.api.post("/rollbacks?dry_run=true", json={"stream": "clean-orders", "to": 1})
        steps = plan.json()["plan"]["steps"]
        assert (
            "take knots 2 to 2 of clean-orders back from the sink tests.spark.stubborn:StubbornSink"
            in steps
        )
        refusal.write_text("for now")
        thread, results = beside(
            lambda: run.post("/rollbacks", {"stream": "clean-orders", "to": 1})
        )
        wait_for(lambda: operations(run) and operations(run)[0]["attempts"] > 1)
        refusal.unlink()
        thread.join()
        assert results[0]["status"] == "done"
        run.settle()
        assert sorted(one["id"] for one in StubbornSink.kept) == [1, 2, 3, 4, 5, 6]


def test_a_step_that_fails_for_good_waits_for_a_person_who_retries_or_aborts(
    tmp_path: Path,
) -> None:
    refusal = tmp_path / "refusal"
    with play(stubborn(refusal), storage=tmp_path / "s") as run:
        for number in range(3):
            run.feed("orders", orders(number * 3 + 1, 3))
        refusal.write_text("for good")
        found = run.post("/rollbacks", {"stream": "clean-orders", "to": 2})
        assert found["status"] == "failed"
        name = found["id"]
        shown = run.api.get(f"/operations/{name}").json()
        assert shown["error"]["code"] == "sinks.failed"
        with pytest.raises(WeftError) as busy:
            run.post("/rollbacks", {"stream": "orders", "to": 1})
        assert busy.value.code == "operation.busy" and busy.value.ids["operation"] == name
        run.post(f"/operations/{name}/retry", {})
        wait_for(lambda: run.api.get(f"/operations/{name}").json()["status"] == "failed")
        given_up = run.post(f"/operations/{name}/abort", {})
        assert given_up["status"] in ("done", "aborted")
        run.settle()
        assert ids(run, "clean-orders") == [1, 2, 3, 4, 5, 6, 8, 9] and is_clean(run)


def test_a_refused_rollback_holds_nothing(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("orders", orders(0, 4))
        for stream, to in (("orders", 99), ("orders", 1), ("nowhere", 1)):
            with pytest.raises(WeftError):
                run.rollback(stream, to=to)
        assert operations(run) == []
        run.feed("orders", orders(4, 4))
        assert ids(run, "orders") == list(range(8))


def slow(**processing: Any) -> dict[str, Any]:
    """A shop in which one order takes for ever as soon as a rule calls a function."""
    project = shop(clean={**CLEAN, "steps": [{"filter": "total >= 0"}]})
    other = {
        "from": "orders",
        "steps": [{"function": "stubborn:dawdle"}, {"filter": "false"}],
        "to": "none",
    }
    return {
        **project,
        "processing": {**project["processing"], **processing},
        "pipelines": {**project["pipelines"], "unused": other},
    }


def test_a_rule_that_hangs_is_retired_at_once_and_its_batch_is_pinned_anew(
    tmp_path: Path,
) -> None:
    with play(slow(), storage=tmp_path, folder=Path(__file__).parent) as run:
        run.api.post("/pipelines/unused/stop").raise_for_status()
        run.feed("orders", orders(10, 2))
        run.attach(stream="clean-orders", steps=[{"function": "stubborn:dawdle"}], id="slow")
        run.append("orders", orders(12, 3), partition=0)
        wait_for(lambda: run.knots("clean-orders", all=True)[-1].status is Status.IN_PROGRESS)
        retired = run.retire("slow", now=True)
        assert retired.status == "retired"
        run.settle()
        assert ids(run, "clean-orders") == [10, 11, 12, 13, 14]
        first, hung, anew = run.knots("clean-orders", all=True)
        assert hung.status is Status.ROLLED_BACK and "did not end" in (hung.reason or "")
        assert (anew.replaces, anew.rules, anew.previous) == (hung.number, (), first.number)
        assert is_clean(run)


def test_a_batch_that_runs_for_too_long_is_cancelled_and_its_knot_says_why(tmp_path: Path) -> None:
    project = slow(deadline_seconds=3)
    with play(project, storage=tmp_path, folder=Path(__file__).parent) as run:
        run.api.post("/pipelines/unused/stop").raise_for_status()
        run.attach(stream="clean-orders", steps=[{"function": "stubborn:dawdle"}], id="slow")
        run.append("orders", orders(12, 3), partition=0)
        failed = wait_for(
            lambda: next(
                (
                    knot
                    for knot in run.knots("clean-orders", all=True)
                    if knot.status is Status.FAILED
                ),
                None,
            )
        )
        assert "longer than 3 s" in (failed.reason or "")
        wait_for(
            lambda: (
                (run.api.get("/pipelines/clean").json()["error"] or {}).get("code")
                == "batch.cancelled"
            )
        )
        run.retire("slow")  # the batch keeps it until it is told otherwise
        run.retire("slow", now=True)
        wait_for(lambda: ids(run, "clean-orders") == [12, 13, 14])


def test_a_fill_goes_on_with_the_worker_that_comes(tmp_path: Path) -> None:
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        for number in range(8):
            run.feed("orders", orders(number * 2, 2))
        run._drop_worker()
        request = {"stream": "orders", "steps": [{"filter": "id > 3"}], "id": "late"}
        thread, _ = beside(lambda: run.post("/rules", {**request, "output": "big", "start": 0}))
        run.resume()
        thread.join()
        run.settle()
        assert ids(run, "big") == list(range(4, 16))
        assert [one["kind"] for one in operations(run)] == ["fill"] and is_clean(run)


@pytest.mark.parametrize(
    "given_up", ["before its last look", "behind its last look", "when all was committed"]
)
def test_nothing_is_left_of_a_fill_that_was_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given_up: str
) -> None:
    """A weaver that died forgets which worker fills: the abort undoes what is there while the worker still weaves."""
    looked = Worker.check_operation
    monkeypatch.setattr(tasks, "CALL_OFF_S", 1.0)  # the task that was forgotten is never answered
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        for number in range(4):
            run.feed("orders", orders(number * 2, 2))

        def give_up(name: str) -> None:
            run._server.weaver.tasks._tasks.clear()  # as a new weaver, which knows of no task
            run.api.post(f"/operations/{name}/abort").raise_for_status()
            wait_for(lambda: operations(run)[0]["status"] == "aborted")

        def look(worker: Worker, name: str, *, forward: bool = False) -> None:
            if forward and given_up == "before its last look":
                give_up(name)
            looked(worker, name, forward=forward)
            if forward and given_up == "behind its last look":
                give_up(name)

        monkeypatch.setattr(Worker, "check_operation", look)
        ended = threading.Event()

        def fill(*arguments: Any, **options: Any) -> Any:
            try:
                parts = filling.fill(*arguments, **options)
                if given_up == "when all was committed":
                    give_up(operations(run)[0]["id"])
                return parts
            finally:
                ended.set()

        monkeypatch.setattr(work, "fill", fill)
        request = {"stream": "orders", "steps": [{"filter": "id > 3"}], "id": "late"}
        beside(lambda: run.post("/rules", {**request, "output": "big", "start": 0}))
        assert ended.wait(LONGEST_S)
        run.feed("orders", orders(8, 2))
        assert run.rows("big") == [] and is_clean(run)
