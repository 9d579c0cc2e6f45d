"""`weft verify` finds everything that is not as it was recorded, and nothing where all is well."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.projects import CLEAN, REVENUE, orders, shop
from weft.lineage.finding import Verification
from weft.sources.admission import LOG, AdmissionLog, Admitted
from weft.streams import rehash
from weft.streams.kernel_rehash import KernelRehash
from weft.streams.rehash import plain
from weft.streams.storage import Storage
from weft.testing import play
from weft.weaver.store.rocks import RocksStore
from weft.weaver.verification import verify_storage

FLIPS = 60
PARTS = {
    "data": "streams/*/*.parquet",
    "log": "streams/*/_delta_log/*.json",
    "store": "weaver/*",
}
NO_RECORDS = ("LOG", "LOCK", "IDENTITY", "OPTIONS", "rocksdict")


def verify(folder: Path, *, deep: bool = False) -> Verification:
    return verify_storage(Storage(str(folder)), deep=deep)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Streams with dead letters, a rule, a crash, a rollback and a window, and their weaver stopped."""
    folder = tmp_path_factory.mktemp("history")
    with play(shop(clean=CLEAN, revenue=REVENUE), storage=folder) as run:
        run.feed("orders", [*orders(0, 12), "no order"])
        run.attach(stream="clean-orders", steps=[{"filter": "total > 3"}], output="large-orders")
        run.feed("orders", orders(12, 12))
        run.crash(at="between")
        run.feed("orders", orders(24, 12))
        run.resume()
        run.attach(stream="orders", steps=[{"filter": "total > 100"}], id="bad")
        run.feed("orders", orders(36, 12))
        run.rollback("orders", to=3)
        run.feed("orders", orders(48, 12))
        assert verify(folder, deep=True).findings == []  # beside a weaver that runs
    return folder


@pytest.fixture
def copy(history: Path, tmp_path: Path) -> Path:
    """What happened, to be damaged."""
    return shutil.copytree(history, tmp_path / "copy")


def files(folder: Path, part: str) -> list[Path]:
    found = (path for path in folder.glob(PARTS[part]) if not path.name.startswith(NO_RECORDS))
    return sorted(path for path in found if path.stat().st_size)


def recorded(folder: Path) -> set[str]:
    """The data files that are in a table, or were: a try that crashed leaves files that are in none."""
    logs = "".join(path.read_text() for path in files(folder, "log"))
    return {path.name for path in files(folder, "data") if path.name in logs}


def test_a_history_of_rules_crashes_and_rollbacks_is_clean(history: Path) -> None:
    found = verify(history, deep=True)
    assert found.findings == []
    assert found.counts["streams"] == 5
    assert found.counts["knots"] > 10
    assert found.counts["rows"] > 100


def test_the_kernel_and_python_hash_every_file_alike(history: Path, spark: SparkSession) -> None:
    paths = [str(path) for path in sorted(history.glob("streams/*/*.parquet"))]
    kernel = {one.path: (one.rows, one.total) for one in KernelRehash(spark)(paths)}
    python = {one.path: (one.rows, one.total) for one in plain(paths)}
    assert kernel == python and set(kernel) == set(paths)
    assert verify_storage(Storage(str(history)), deep=True, rehash=KernelRehash(spark)).is_clean


def test_files_are_hashed_alike_on_several_processes(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(path) for path in sorted(history.glob("streams/*/*.parquet"))]
    alone = {one.path: one for one in plain(paths)}
    monkeypatch.setattr(rehash, "POOLED_BYTES", 0)
    assert {one.path: one for one in plain(paths)} == alone


def test_what_a_source_keeps_is_looked_at_too(copy: Path) -> None:
    path = copy / "sources" / "orders" / LOG
    AdmissionLog(path).admit([Admitted("/data/a.json", size=10, mtime_ns=1)])
    assert verify(copy).is_clean
    path.write_text(path.read_text().replace("a.json", "b.json"))
    assert [finding.code for finding in verify(copy).findings] == ["source.altered"]


@pytest.mark.parametrize("part", PARTS)
def test_one_changed_bit_is_found_wherever_it_is(copy: Path, part: str) -> None:
    chance = random.Random(part)
    names = recorded(copy)
    candidates = [p for p in files(copy, part) if part != "data" or p.name in names]
    for _ in range(FLIPS):
        path = chance.choice(candidates)
        content = path.read_bytes()
        place, bit = chance.randrange(len(content)), 1 << chance.randrange(8)
        path.write_bytes(
            content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :],
        )
        assert verify(copy).findings, f"bit {bit} of byte {place} of {path}"
        path.write_bytes(content)
    assert verify(copy).is_clean


def test_a_data_file_that_is_gone_is_found(copy: Path) -> None:
    name = sorted(recorded(copy))[-1]
    next(copy.glob(f"streams/*/{name}")).unlink()
    assert "file.missing" in {finding.code for finding in verify(copy).findings}


def test_a_commit_that_is_gone_is_found(copy: Path) -> None:
    (copy / "streams/orders/_delta_log/00000000000000000002.json").unlink()
    codes = {finding.code for finding in verify(copy).findings}
    assert {"table.gap", "table.missing-knot"} <= codes


def test_a_table_that_is_gone_is_found(copy: Path) -> None:
    shutil.rmtree(copy / "streams/clean-orders")
    assert "table.missing-knot" in {finding.code for finding in verify(copy).findings}


def test_a_table_that_no_stream_names_is_found(copy: Path) -> None:
    shutil.copytree(copy / "streams/orders", copy / "streams/stray")
    assert "table.unnamed" in codes(copy)


def test_a_store_that_lost_its_records_is_not_clean(copy: Path, tmp_path: Path) -> None:
    shutil.rmtree(copy / "weaver")
    assert codes(copy) == {"store.missing"}
    RocksStore(copy / "weaver").close()
    assert {"storage.other-history", "table.unnamed"} <= codes(copy)


def test_a_checkpoint_that_is_gone_is_found(copy: Path) -> None:
    shutil.rmtree(newest(copy, "clean"))
    assert codes(copy) == {"checkpoint.gone"}


def test_a_checkpoint_of_another_pipeline_is_found(copy: Path) -> None:
    shutil.rmtree(newest(copy, "clean"))
    shutil.copytree(newest(copy, "revenue"), copy / "pipelines/clean/1")
    assert {"checkpoint.foreign"} <= codes(copy)


@pytest.mark.parametrize("part", ["offsets/*", "commits/*", "state/**/*.changelog"])
def test_a_changed_file_of_a_checkpoint_is_found(copy: Path, part: str) -> None:
    path = sorted(p for p in newest(copy, "revenue").glob(part) if p.is_file())[-1]
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert "checkpoint.altered" in codes(copy), path


@pytest.mark.parametrize("part", ["offsets", "commits"])
def test_a_file_that_is_missing_in_the_middle_of_a_checkpoint_is_found(
    copy: Path, part: str
) -> None:
    folder = newest(copy, "orders") / part
    first, *_ = sorted(int(path.name) for path in folder.glob("[0-9]*"))
    (folder / str(first + 1)).unlink()
    assert "checkpoint.altered" in codes(copy)


def codes(folder: Path) -> set[str]:
    return {finding.code for finding in verify(folder).findings}


def newest(folder: Path, pipeline: str) -> Path:
    """The checkpoint directory that a pipeline is in."""
    epochs = (folder / "pipelines" / pipeline).glob("[0-9]*")
    return max(epochs, key=lambda path: int(path.name))
