"""Old rows go while everything runs: what is left is exact and verifies, what would need the rest is refused."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.spark.test_replay import PROJECT, orders, replay
from weft.errors import WeftError
from weft.lineage.finding import Verification
from weft.streams.storage import Storage
from weft.testing import Play, play
from weft.weaver.backup import copy_offline, put_back
from weft.weaver.recover import recover
from weft.weaver.verification import verify_storage

NOTHING = {"history": {"keep_mb": 0}}
RELAY: dict[str, Any] = {
    **PROJECT,
    "streams": {"orders": {**PROJECT["streams"]["orders"], **NOTHING}, "clean-orders": NOTHING},
    "pipelines": {"clean": PROJECT["pipelines"]["clean"]},
}
WINDOWED: dict[str, Any] = {**RELAY, "pipelines": PROJECT["pipelines"]}


def trim(run: Play, stream: str, **query: Any) -> dict[str, Any]:
    response = run.api.post(f"/history/{stream}/trim", params=query)
    answer: dict[str, Any] = response.json()
    if response.is_error:
        raise WeftError.from_dict(answer)
    return answer


def verify(folder: Path, *, deep: bool = True) -> Verification:
    return verify_storage(Storage(str(folder)), deep=deep)


def rows_of(run: Play, stream: str) -> list[int]:
    return sorted(row["id"] for row in run.rows(stream))


def fed(*batches: int) -> list[int]:
    return [batch * 10 + n for batch in batches for n in range(4)]


def refused(run: Play, path: str, **body: Any) -> dict[str, Any]:
    response = run.api.post(path, json=body)
    assert response.is_error, response.json()
    answer: dict[str, Any] = response.json()
    return answer


def ask(run: Play, path: str, body: dict[str, Any], answers: list[Any]) -> None:
    answers.append(run.api.post(path, json=body).json())


def ask_in_vain(run: Play, path: str) -> None:
    with contextlib.suppress(httpx.HTTPError):
        run.api.post(path)


def test_old_rows_go_while_feeding_and_everything_else_stays(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(5):
            run.feed("orders", orders(batch))
        clean = run.rows("clean-orders")
        planned = trim(run, "orders", dry_run=True)
        assert (planned["status"], len(planned["steps"])) == ("planned", 1)
        assert rows_of(run, "orders") == fed(*range(5))
        done = trim(run, "orders")
        assert (done["status"], done["result"]["upto"]) == ("done", 4)
        assert done["result"]["files"] > 0
        assert trim(run, "orders")["status"] == "nothing"
        # The newest knot of the reader was made of knot 5, which is kept for it.
        assert rows_of(run, "orders") == fed(4)
        assert run.rows("clean-orders") == clean
        found = verify(tmp_path / "s")
        assert (found.findings, found.counts["expired"]) == ([], 4)
        run.feed("orders", orders(5))
        assert trim(run, "orders")["result"]["upto"] == 5
        run.resume()  # a reader that is started again goes on
        run.feed("orders", orders(6))
        assert rows_of(run, "orders") == fed(5, 6)
        assert len(run.rows("clean-orders")) == 7 * 2
        assert [knot.number for knot in run.knots("orders")] == list(range(1, 8))
        assert verify(tmp_path / "s").findings == []
    with play(RELAY, storage=tmp_path / "s") as run:
        run.feed("orders", orders(7))
        assert trim(run, "orders")["result"]["upto"] == 7
        assert len(run.rows("clean-orders")) == 8 * 2
        assert verify(tmp_path / "s").findings == []


def test_what_is_left_is_replayed_and_what_is_gone_is_refused(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(6):
            run.feed("orders", orders(batch))
        run.api.post("/history/clean-orders/trim")
        trim(run, "orders")
        # Its own rows are gone, and what it was made of is there: the hashes prove it.
        assert replay(run, "clean-orders", after=5)["verified"]
        assert replay(run, "orders", after=0)["verified"]
        gone = refused(run, "/replays", stream="clean-orders", after=2)
        assert (gone["code"], gone["ids"]["knot"]) == ("history.rows-gone", 6)
        assert replay(run, "clean-orders", after=gone["ids"]["knot"] - 1)["verified"]
        changed = {"leave_out": {"clean-orders": "id = 1"}}
        gone = refused(run, "/replays", stream="clean-orders", after=2, change=changed)
        assert gone["code"] == "history.rows-gone"
        assert verify(tmp_path / "s").findings == []


def test_records_whose_rows_are_gone_are_said_to_be(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(4):
            run.feed("orders", orders(batch))
        ids = {row["id"]: row["_weft"]["id"] for row in run.rows("orders", weft=True)}
        trim(run, "orders")
        shown = run.api.get(f"/records/clean-orders/{ids[3]}").json()["explained"]
        assert (shown["knot"], shown["parents"]) == (1, [])
        assert "kept from knot 4 on" in shown["note"]
        missing = run.api.get(f"/records/orders/{ids[3]}").json()
        assert missing["code"] == "record.missing" and "up to knot 3 are gone" in missing["message"]
        [told] = run.api.get("/absences/clean-orders", params={"id": ids[0]}).json()
        assert told["cause"] == "expired"
        [told] = run.api.get("/absences/clean-orders", params={"id": ids[30]}).json()
        assert told["cause"] == "filtered"


def test_a_rollback_reaches_no_further_than_what_is_kept(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(4):
            run.feed("orders", orders(batch))
        assert trim(run, "orders")["result"]["upto"] == 3
        run.feed("orders", orders(4))
        for stream, to in (("orders", 3), ("orders", 0), ("clean-orders", 2), ("clean-orders", 0)):
            gone = refused(run, "/rollbacks", stream=stream, to=to)
            assert (gone["code"], gone["ids"]["knot"]) == ("history.rows-gone", 4)
        # So does what is filled from recorded rows.
        odd = {
            "stream": "orders",
            "steps": [{"filter": "id % 2 = 1"}],
            "output": "odd",
            "id": "odd",
        }
        gone = refused(run, "/rules", **odd, start=1)
        assert (gone["code"], gone["ids"]["knot"]) == ("history.rows-gone", 4)
        run.attach(**{**odd, "id": "odd-2", "output": "odd-2"}, start=3)
        assert rows_of(run, "odd-2") == [n for n in fed(3, 4) if n % 2]
        run.retire("odd-2")
        assert run.rollback("clean-orders", to=4)["status"] == "done"
        assert run.rollback("orders", to=4)["status"] == "done"
        assert rows_of(run, "orders") == fed(3, 4)
        assert len(run.rows("clean-orders")) == 5 * 2
        assert verify(tmp_path / "s").findings == []


def test_a_new_pipeline_begins_with_what_is_kept(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(4):
            run.feed("orders", orders(batch))
        trim(run, "orders")
        copied = {"from": "orders", "to": "copied"}
        run.apply({**RELAY, "pipelines": {**RELAY["pipelines"], "copy": copied}})
        run.feed("orders", orders(4))
        assert rows_of(run, "copied") == fed(3, 4)
        assert run.knots("copied")[0].parents[0].first == 4
        assert replay(run, "copied", after=0)["verified"]
        run.resume()
        run.feed("orders", orders(5))
        assert rows_of(run, "copied") == fed(3, 4, 5)
        assert verify(tmp_path / "s").findings == []


def test_what_a_window_can_go_back_to_is_kept_for_it(tmp_path: Path) -> None:
    with play(WINDOWED, storage=tmp_path / "s") as run:
        for batch in range(5):
            run.feed("orders", orders(batch))
        # Spark keeps the state of every knot so far, so every row is needed.
        assert trim(run, "clean-orders")["status"] == "nothing"
        [told] = run.api.get("/history", params={"stream": "clean-orders"}).json()
        assert told["next"]["held_by"] == "pipeline revenue"
        assert trim(run, "orders")["result"]["upto"] == 4
        assert replay(run, "revenue", after=1)["verified"]
        assert run.rollback("revenue", to=2)["status"] == "done"
        assert verify(tmp_path / "s").findings == []
        told = {one["stream"]: one for one in run.api.get("/history").json()}
        assert (told["orders"]["first"], told["orders"]["expired"]) == (5, 4)
        assert told["revenue"]["states"]["bytes"] > 0


def test_a_worker_that_dies_before_files_are_deleted_deletes_them_later(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(4):
            run.feed("orders", orders(batch))
        run.crash("expired")
        asking = threading.Thread(target=trim, args=(run, "orders"))
        asking.start()
        run.wait_for_crash()
        files = list((tmp_path / "s/streams/orders").glob("*.parquet"))
        assert verify(tmp_path / "s").findings == []
        run.resume()
        asking.join(timeout=60)
        assert len(list((tmp_path / "s/streams/orders").glob("*.parquet"))) < len(files)
        run.feed("orders", orders(4))
        assert rows_of(run, "orders") == fed(3, 4)
        [done] = run.api.get("/operations").json()
        assert (done["kind"], done["status"]) == ("expire", "done")
        assert verify(tmp_path / "s").findings == []


def test_a_weaver_that_dies_meanwhile_is_gone_on_for_by_the_next(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(4):
            run.feed("orders", orders(batch))
        run.crash("expired")
        asking = threading.Thread(target=ask_in_vain, args=(run, "/history/orders/trim"))
        asking.start()
        run.wait_for_crash()
        files = list((tmp_path / "s/streams/orders").glob("*.parquet"))
    asking.join(timeout=60)
    with play(RELAY, storage=tmp_path / "s") as run:
        deadline = time.monotonic() + 60
        while run.api.get("/operations", params={"open": True}).json():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        run.feed("orders", orders(4))
        assert rows_of(run, "orders") == fed(3, 4)
        assert len(list((tmp_path / "s/streams/orders").glob("*.parquet"))) < len(files)
        assert verify(tmp_path / "s").findings == []


def test_what_an_open_replay_reads_is_kept_for_it(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(6):
            run.feed("orders", orders(batch))
        asked = {"stream": "clean-orders", "after": 0, "wait_s": 0}
        begun = run.api.post("/replays", json=asked).json()
        assert begun["status"] == "running"
        # Either it is over by now, or nothing of what it reads goes.
        trim(run, "orders")
        deadline = time.monotonic() + 60
        while (found := run.api.get(f"/replays/{begun['id']}").json())["status"] == "running":
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert (found["status"], found["verified"]) == ("done", True)
        trim(run, "orders")
        assert rows_of(run, "orders") == fed(5)
        assert verify(tmp_path / "s").findings == []


def test_expiry_and_rollback_at_once_leave_rows_exact(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(8):
            run.feed("orders", orders(batch))
        for to in (7, 6, 5):
            answers: list[Any] = []
            asked = {"/history/orders/trim": {}, "/rollbacks": {"stream": "orders", "to": to}}
            threads = [
                threading.Thread(target=ask, args=(run, path, body, answers))
                for path, body in asked.items()
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for answer in answers:
                code = answer.get("code", "done")
                assert code in ("done", "operation.busy", "history.rows-gone"), answer
            run.settle()
        expired = run.api.get("/history", params={"stream": "orders"}).json()[0]["expired"]
        kept = [knot for knot in run.knots("orders") if knot.number > expired]
        assert len(run.rows("orders")) == sum(knot.outputs["orders"].rows for knot in kept)
        assert len(run.rows("clean-orders")) == 8 * 2
        assert run.api.get("/operations", params={"open": True}).json() == []
        assert verify(tmp_path / "s").findings == []


def test_the_newest_dead_letter_stays_whatever_its_age(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(3):
            run.feed("orders", [f"bad {batch}", *orders(batch)])
        run.feed("orders", orders(3))
        assert trim(run, "orders.dead")["status"] == "done"
        assert [row["raw"] for row in run.rows("orders.dead")] == [b"bad 2"]
        run.rollback("orders", to=2)
        run.feed("orders", orders(4))
        assert trim(run, "orders.dead")["status"] == "done"
        assert [row["raw"] for row in run.rows("orders.dead")] == [b"bad 2"]
    assert verify(tmp_path / "s").is_clean


def test_a_fill_from_rows_that_are_gone_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(4):
            run.feed("orders", orders(batch))
        trim(run, "orders")
        body = {"stream": "orders", "id": "side", "steps": [{"filter": "id > 0"}], "output": "side"}
        assert refused(run, "/rules", **body, start=0)["code"] == "history.rows-gone"
        assert run.api.get("/rules").json() == []
        assert "side" not in {one["name"] for one in run.api.get("/streams").json()}
        run.post("/rules", {**body, "start": 3})
        run.settle()
        assert rows_of(run, "side") == fed(3)


def test_a_file_that_is_missing_without_being_expired_is_found(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(4):
            run.feed("orders", orders(batch))
        trim(run, "orders")
    table = tmp_path / "s/streams/orders"
    next(table.glob("*.parquet")).unlink()
    assert {one.code for one in verify(tmp_path / "s").findings} == {"file.missing"}


def test_a_rebuilt_store_and_a_restored_backup_know_what_is_gone(tmp_path: Path) -> None:
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(4):
            run.feed("orders", orders(batch))
        trim(run, "orders")
        backed = run.api.post("/backups", json={"name": "b"}).json()
        assert backed["status"] == "done"
    put_back(Storage(backed["result"]["to"]), Storage(str(tmp_path / "back")))
    copy_offline(Storage(str(tmp_path / "s")), Storage(str(tmp_path / "lost")))
    for file in (tmp_path / "lost/weaver").iterdir():
        file.unlink()
    recover(Storage(str(tmp_path / "lost")), lambda stream, cut: pytest.fail(stream))
    for place in (tmp_path / "back", tmp_path / "lost"):
        with play(RELAY, storage=place) as run:
            run.feed("orders", orders(4))
            assert rows_of(run, "orders") == fed(3, 4)
            assert len(run.rows("clean-orders")) == 5 * 2
            assert refused(run, "/rollbacks", stream="orders", to=2)["code"] == "history.rows-gone"
            assert verify(place).findings == []


def test_a_stream_that_keeps_everything_says_so(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path / "s") as run:
        run.feed("orders", orders(0))
        with pytest.raises(WeftError) as caught:
            trim(run, "orders")
        assert caught.value.code == "history.unlimited"
        run.apply({**PROJECT, "streams": RELAY["streams"]})
        assert run.knots("orders")[-1].epoch == 0
        deadline = time.monotonic() + 30
        assert trim(run, "orders")["status"] == "nothing"
        assert time.monotonic() < deadline
