"""A history knows itself: what does not belong together is told, and a lost store is made anew from its tables."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.spark.projects import CLEAN, REVENUE, as_set, orders, shop
from weft.clock import iso
from weft.errors import WeftError
from weft.loading.load import load
from weft.streams.storage import Storage
from weft.streams.table import Table
from weft.testing import Play, play, shared_session
from weft.weaver.backup import copy_offline, put_back
from weft.weaver.deploy import deploy
from weft.weaver.recover import Recovered, recover
from weft.weaver.store.rocks import RocksStore
from weft.weaver.verification import verify_storage
from weft.weaver.weaver import Weaver
from weft.weaver.workers import WorkerReport

PROJECT = shop(clean=CLEAN, revenue=REVENUE)
STREAMS = ("orders", "clean-orders", "revenue", "large")


def contents(run: Play) -> dict[str, list[str]]:
    return {stream: as_set(run.rows(stream)) for stream in STREAMS}


def knots(run: Play) -> dict[str, list[tuple[int, str | None, str]]]:
    streams = STREAMS[:3]
    return {s: [(k.number, k.hash, str(k.status)) for k in run.knots(s, all=True)] for s in streams}


def live(run: Play) -> None:
    """Two batches, a rule, a rollback, and a batch after it."""
    run.feed("orders", orders(0, 12))
    run.attach(stream="clean-orders", steps=[{"filter": "total > 3"}], output="large", id="large")
    run.feed("orders", orders(12, 12))
    run.attach(stream="orders", steps=[{"filter": "false"}], id="bad")
    run.feed("orders", orders(24, 6))
    run.rollback("orders", to=2)
    run.attach(stream="orders", steps=[{"set": {"email": "upper(email)"}}], id="loud", percent=50)
    run.feed("orders", orders(30, 6))


def rebuild(folder: Path) -> Recovered:
    storage = Storage(str(folder))

    def cut(stream: str, cut: Any) -> None:
        table = Table(shared_session(), storage.table(stream))
        table.cut(cut.gone.after, cut.gone.upto, {"operation": "rebuild"})

    return recover(storage, cut)


def is_clean(folder: Path) -> bool:
    return verify_storage(Storage(str(folder)), deep=True).findings == []


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    with play(PROJECT, storage=tmp_path_factory.mktemp("undisturbed")) as run:
        live(run)
        run.feed("orders", orders(36, 12))
        return contents(run)


def lose(folder: Path, backup: Path) -> None:
    shutil.rmtree(folder / "weaver")


def go_back(folder: Path, backup: Path) -> None:
    shutil.rmtree(folder / "weaver")
    shutil.copytree(backup, folder / "weaver")


def damage(folder: Path, backup: Path) -> None:
    for path in (folder / "weaver").glob("*.sst"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("accident", [lose, go_back, damage])
def test_a_store_that_is_gone_old_or_damaged_stops_pipelines_and_is_rebuilt_without_loss(
    tmp_path: Path,
    undisturbed: dict[str, list[str]],
    accident: Callable[[Path, Path], None],
) -> None:
    folder = tmp_path / "s"
    with play(PROJECT, storage=folder):
        pass
    shutil.copytree(folder / "weaver", tmp_path / "backup")
    with play(PROJECT, storage=folder) as run:
        live(run)
        before, known = contents(run), knots(run)
    accident(folder, tmp_path / "backup")
    with pytest.raises(WeftError) as refused, play(PROJECT, storage=folder) as run:
        run.feed("orders", [])
    assert "weft store rebuild" in (refused.value.hint or "")
    found = rebuild(folder)
    assert found.new_knots > 0 and is_clean(folder)
    with play(PROJECT, storage=folder) as run:
        assert contents(run) == before
        assert knots(run) == known
        rules = {rule["id"]: rule["status"] for rule in run.api.get("/rules").json()}
        assert rules["large"] == rules["loud"] == "active"
        assert rules["bad"] == "retired"
        run.feed("orders", orders(36, 12))
        assert contents(run) == undisturbed
    assert is_clean(folder)


@pytest.mark.parametrize("point", ["between", "written", "deliver"])
def test_a_batch_that_was_in_hand_when_the_store_was_lost_is_there_once(
    tmp_path: Path, undisturbed: dict[str, list[str]], point: str
) -> None:
    folder = tmp_path / "s"
    with play(PROJECT, storage=folder) as run:
        live(run)
        run.crash(at=point)
        run.feed("orders", orders(36, 12))
    shutil.rmtree(folder / "weaver")
    rebuild(folder)
    assert is_clean(folder)
    with play(PROJECT, storage=folder) as run:
        run.feed("orders", [])
        assert contents(run) == undisturbed
    assert is_clean(folder)


def test_a_backup_is_gone_on_from_as_if_nothing_had_happened_since(
    tmp_path: Path, undisturbed: dict[str, list[str]]
) -> None:
    with play(PROJECT, storage=tmp_path / "s") as run:
        live(run)
        done = run.post("/backups", {"name": "before"})
        assert done["status"] == "done" and done["result"]["files"] > 0
        backup = Path(done["result"]["to"])
        assert backup == tmp_path / "s.backups/before"
        for name in ("before", "../elsewhere", "/tmp/x", ""):
            with pytest.raises(WeftError) as refused:
                run.post("/backups", {"name": name})
            assert refused.value.code == "backup.refused"
        run.feed("orders", orders(100, 6))  # this is not in the backup
    assert is_clean(backup)
    put_back(Storage(str(backup)), Storage(str(tmp_path / "again")))
    assert is_clean(tmp_path / "again")
    with play(PROJECT, storage=tmp_path / "again") as run:
        assert [one["status"] for one in run.api.get("/operations").json()] == ["done"]
        run.feed("orders", orders(36, 12))
        assert contents(run) == undisturbed


def test_a_storage_at_rest_is_copied_without_a_weaver(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path / "s") as run:
        live(run)
        before = contents(run)
        with pytest.raises(WeftError) as busy:
            copy_offline(run.storage, Storage(str(tmp_path / "copy")))
        assert busy.value.code == "store.busy"
    copy_offline(Storage(str(tmp_path / "s")), Storage(str(tmp_path / "copy")))
    for place in ("copy", "s", "s/inside"):
        with pytest.raises(WeftError) as taken:
            copy_offline(Storage(str(tmp_path / "s")), Storage(str(tmp_path / place)))
        assert taken.value.code == "backup.refused"
    with play(PROJECT, storage=tmp_path / "copy") as run:
        assert contents(run) == before


def test_a_table_of_another_history_stops_its_pipeline(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with play(shop(clean=CLEAN), storage=tmp_path / name) as run:
            run.feed("orders", orders(0, 4))
    shutil.rmtree(tmp_path / "a/streams/clean-orders")
    shutil.copytree(tmp_path / "b/streams/clean-orders", tmp_path / "a/streams/clean-orders")
    with (
        pytest.raises(WeftError) as refused,
        play(shop(clean=CLEAN), storage=tmp_path / "a") as run,
    ):
        run.feed("orders", orders(4, 4))
    assert refused.value.code == "table.foreign" and refused.value.ids["stream"] == "clean-orders"


def take_away(folder: Path, other: Path) -> None:
    shutil.rmtree(folder)


def exchange(folder: Path, other: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(other, folder)


def unmark(folder: Path, other: Path) -> None:
    for mark in folder.glob("*/weft.json"):
        mark.unlink()


@pytest.mark.parametrize("accident", [take_away, exchange, unmark])
def test_a_checkpoint_that_cannot_be_gone_on_from_is_made_anew_where_its_newest_knot_stood(
    tmp_path: Path, accident: Callable[[Path, Path], None]
) -> None:
    storages = [tmp_path / name for name in ("a", "b")]
    for number, storage in enumerate(storages):
        with play(shop(clean=CLEAN), storage=storage) as run:
            for batch in range(3 + number):
                run.feed("orders", orders(batch * 4, 4))
    folder, other = storages
    with play(shop(clean=CLEAN), storage=folder) as run:
        before = as_set(run.rows("clean-orders"))
    accident(folder / "pipelines/clean", other / "pipelines/clean")
    with pytest.raises(WeftError) as refused, play(shop(clean=CLEAN), storage=folder) as run:
        run.feed("orders", orders(12, 4))
    assert "weft store rebuild" in (refused.value.hint or "")
    rebuild(folder)
    with play(shop(clean=CLEAN), storage=folder) as run:
        run.feed("orders", [])  # what was fed before is still there
        found = as_set(run.rows("clean-orders"))
        assert len(found) == len(set(found)), "nothing is there twice"
        assert set(before) < set(found)
    assert is_clean(folder)


def test_a_rebuilt_project_waits_until_it_is_deployed(tmp_path: Path) -> None:
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.feed("orders", orders(0, 4))
    shutil.rmtree(tmp_path / "weaver")
    rebuild(tmp_path)
    weaver = Weaver(RocksStore(tmp_path / "weaver"), storage=Storage(str(tmp_path)))
    try:
        worker = WorkerReport("worker-1", "here", 1, "local[1]", iso(weaver.clock.now()))
        weaver.workers.note(worker)
        assert weaver.workers.assign(worker) == {}
        project = load(shop(clean=CLEAN))
        asyncio.run(deploy(weaver, project))
        assert set(weaver.workers.assign(worker)) == {"orders", "clean"}
    finally:
        weaver.store.close()


@pytest.mark.parametrize(
    ("gone", "code"),
    [("streams/clean-orders", "table.gone"), ("pipelines/clean", "checkpoint.gone")],
)
def test_what_is_gone_stops_its_pipeline_and_is_not_begun_anew(
    tmp_path: Path, gone: str, code: str
) -> None:
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.feed("orders", orders(0, 4))
    shutil.rmtree(tmp_path / gone)
    with pytest.raises(WeftError) as refused, play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.feed("orders", orders(4, 4))
    assert refused.value.code == code


def test_a_checkpoint_of_another_life_stops_its_pipeline(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with play(shop(clean=CLEAN), storage=tmp_path / name) as run:
            run.feed("orders", orders(0, 4))
    shutil.rmtree(tmp_path / "a/pipelines/clean")
    shutil.copytree(tmp_path / "b/pipelines/clean", tmp_path / "a/pipelines/clean")
    with (
        pytest.raises(WeftError) as refused,
        play(shop(clean=CLEAN), storage=tmp_path / "a") as run,
    ):
        run.feed("orders", orders(4, 4))
    assert refused.value.code == "checkpoint.other-life"
