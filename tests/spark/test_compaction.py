"""Files of old knots put together while everything runs: rows, hashes, proofs and rollbacks are what they were."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.spark.test_history import RELAY, ask, fed, rows_of, trim, verify
from tests.spark.test_replay import PROJECT, orders, replay
from weft.streams.kernel_rehash import KernelRehash
from weft.streams.storage import Storage
from weft.testing import Play, play, shared_session
from weft.weaver.exporting import export
from weft.weaver.proving import prove
from weft.weaver.recover import recover
from weft.weaver.verification import verify_storage

EAGER: dict[str, Any] = {
    "parallelism": 2,
    "compaction": {"every": 0, "apart": 1, "grace_seconds": 0},
}
SHOP: dict[str, Any] = {**PROJECT, "processing": EAGER}
STREAMS = ("orders", "clean-orders", "revenue")


def compact(run: Play, stream: str, **query: Any) -> dict[str, Any]:
    response = run.api.post(f"/history/{stream}/compact", params=query)
    answer: dict[str, Any] = response.raise_for_status().json()
    return answer


def files(folder: Path, stream: str) -> list[Path]:
    return list((folder / "streams" / stream).glob("*.parquet"))


def vacuumed(run: Play, stream: str) -> None:
    """Put files together, and delete those that were replaced."""
    assert compact(run, stream)["status"] == "done"
    assert compact(run, stream)["status"] == "done"


def test_everything_that_is_asked_of_old_knots_is_answered_as_before(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with play(SHOP, storage=folder) as run:
        for batch in range(8):
            run.feed("orders", orders(batch))
        before = {name: run.rows(name, weft=True) for name in STREAMS}
        assert compact(run, "orders", dry_run=True)["status"] == "planned"
        done = compact(run, "orders")
        assert (done["status"], done["result"]["made"]) == ("done", 1)
        assert done["result"]["replaced"] >= 7
        for name in STREAMS:
            vacuumed(run, name)
            assert len(files(folder, name)) <= 3
        assert {name: run.rows(name, weft=True) for name in STREAMS} == before
        [told] = run.api.get("/history", params={"stream": "orders"}).json()
        assert (told["files"], told["knots"]) == (len(files(folder, "orders")), 8)
        assert verify(folder).findings == []
        fast = verify_storage(
            Storage(str(folder)), deep=True, rehash=KernelRehash(shared_session())
        )
        assert fast.findings == []
        assert replay(run, "orders", after=0)["verified"]
        assert replay(run, "clean-orders", after=2)["verified"]
        assert replay(run, "revenue", after=1)["verified"]
        for row in before["clean-orders"]:
            mark = row["_weft"]
            shown = run.api.get(f"/records/clean-orders/{mark['id']}").json()
            assert shown["explained"]["knot"] == mark["knot"]
            prove(Storage(str(folder)), "clean-orders", mark["id"])
        made = export(Storage(str(folder)), "clean-orders", 2, 4, tmp_path / "out")
        assert [one.rows for one in made.knots] == [2, 2, 2]
        # A pipeline that is declared now reads all of it for the first time, a knot at a time or in one batch.
        copied = {"from": "orders", "to": "copied"}
        run.apply({**SHOP, "pipelines": {**SHOP["pipelines"], "copy": copied}})
        run.feed("orders", orders(8))
        assert rows_of(run, "copied") == fed(*range(9))
        assert verify(folder).findings == []


def test_a_rollback_into_what_was_put_together_cuts_exactly(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with play(SHOP, storage=folder) as run:
        for batch in range(8):
            run.feed("orders", orders(batch))
        for name in STREAMS:
            vacuumed(run, name)
        assert run.rollback("orders", to=3)["status"] == "done"
        assert rows_of(run, "orders") == fed(*range(8))  # the source gives the rest again
        assert verify(folder).findings == []
        for name in STREAMS:
            vacuumed(run, name)
        # The knots that were rolled back are read again where they lie now.
        assert run.rollback("orders", to=7)["status"] == "done"
        assert verify(folder).findings == []
        assert rows_of(run, "orders") == fed(*range(8))
        assert len(run.rows("clean-orders")) == 8 * 2
        run.feed("orders", orders(8))
        for name in STREAMS:
            vacuumed(run, name)
        assert rows_of(run, "orders") == fed(*range(9))
        assert verify(folder).findings == []
    for file in (folder / "weaver").iterdir():
        file.unlink()
    recover(Storage(str(folder)), lambda stream, cut: pytest.fail(stream))
    with play(SHOP, storage=folder) as run:
        run.feed("orders", orders(9))
        assert rows_of(run, "orders") == fed(*range(10))
        assert verify(folder).findings == []


@pytest.mark.parametrize("point", ["compacting", "compacted"])
def test_a_worker_that_dies_meanwhile_leaves_nothing_half_done(tmp_path: Path, point: str) -> None:
    folder = tmp_path / "s"
    with play(SHOP, storage=folder) as run:
        for batch in range(6):
            run.feed("orders", orders(batch))
        run.crash(point)
        asking = threading.Thread(target=compact, args=(run, "orders"))
        asking.start()
        run.wait_for_crash()
        assert verify(folder).findings == []
        run.resume()
        asking.join(timeout=60)
        run.feed("orders", orders(6))
        vacuumed(run, "orders")
        assert rows_of(run, "orders") == fed(*range(7))
        # A file that nobody put into the table lies there a day longer: it may be the work of another worker.
        assert len(files(folder, "orders")) <= 4
        assert verify(folder).findings == []


def test_at_once_with_rollbacks_replays_expiry_and_itself(tmp_path: Path) -> None:
    limited = {name: {**spec} for name, spec in RELAY["streams"].items()}
    settings = {**EAGER, "compaction": {**EAGER["compaction"], "grace_seconds": 3}}
    project = {**RELAY, "processing": settings, "streams": limited}
    folder = tmp_path / "s"

    def at_once(run: Play, *asked: tuple[str, dict[str, Any]]) -> list[Any]:
        answers: list[Any] = []
        threads = [threading.Thread(target=ask, args=(run, *one, answers)) for one in asked]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        run.settle()
        return answers

    together: tuple[str, dict[str, Any]] = ("/history/orders/compact", {})
    others: list[Callable[[int], tuple[str, dict[str, Any]]]] = [
        lambda _: together,
        lambda head: ("/rollbacks", {"stream": "orders", "to": head - 3}),
        lambda head: ("/replays", {"stream": "clean-orders", "after": head - 2}),
        lambda _: ("/history/orders/trim", {}),
        lambda head: ("/rollbacks", {"stream": "orders", "to": head - 1}),
    ]
    with play(project, storage=folder) as run:
        fed_so_far = 0
        for other in others:
            for _ in range(5):
                batch = orders(fed_so_far % 14)
                run.feed(
                    "orders", [{**one, "id": fed_so_far * 10 + n} for n, one in enumerate(batch)]
                )
                fed_so_far += 1
            head = run.knots("orders")[-1].number
            for answer in at_once(run, together, other(head), together):
                code = answer.get("code", "done")
                assert code in ("done", "operation.busy", "history.rows-gone"), answer
            assert len(run.rows("clean-orders")) == fed_so_far * 2
            assert verify(folder).findings == []
        assert trim(run, "orders")["status"] in ("done", "nothing")
        assert run.api.get("/operations", params={"open": True}).json() == []
        assert rows_of(run, "orders") == fed(fed_so_far - 1)
        assert verify(folder).findings == []
