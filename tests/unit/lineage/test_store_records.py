"""What a verification reads of the weaver's store, also where its files are damaged."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from weft.weaver.events import Event
from weft.weaver.store import Write, key
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.records import put
from weft.weaver.store.rocks import RocksStore, StoreDamagedError
from weft.weaver.store.snapshot import RocksSnapshot, StoreMissingError
from weft.weaver.verification import StoredRecords

RECORDS = 60


def fill(store: MemoryStore | RocksStore) -> None:
    for number in range(RECORDS):
        event = Event(number, "x" * random.Random(number).randrange(400), "now")
        store.apply([put("events", number, value=event)])


def flip(path: Path, chance: random.Random) -> bytes:
    """Change one bit of a file; returns what it held."""
    content = path.read_bytes()
    place = chance.randrange(len(content))
    changed = bytearray(content)
    changed[place] ^= 1 << chance.randrange(8)
    path.write_bytes(changed)
    return content


def has_damage(folder: Path) -> bool:
    """Whether reading the store finds anything, from its opening on."""
    try:
        with RocksSnapshot(folder) as snapshot:
            return bool(list(StoredRecords(snapshot).damage()))
    except StoreDamagedError:
        return True


def test_a_record_that_was_changed_is_found_by_its_key() -> None:
    store = MemoryStore()
    fill(store)
    name = key("events", 7)
    value = store.get(name)
    assert value is not None
    store.apply([Write(name, value[:-2] + b"?" + value[-1:])])
    (finding,) = StoredRecords(store).damage()
    assert (finding.code, finding.where) == ("store.altered", f"record events/{7:020d}")


def test_a_record_under_another_key_is_found() -> None:
    store = MemoryStore()
    fill(store)
    store.apply([Write(key("events", 8), store.get(key("events", 7)))])
    assert [finding.code for finding in StoredRecords(store).damage()] == ["store.altered"]


def test_a_store_is_read_beside_the_process_that_has_it(tmp_path: Path) -> None:
    owner = RocksStore(tmp_path)
    fill(owner)
    with RocksSnapshot(tmp_path) as snapshot:
        records = StoredRecords(snapshot)
        assert list(records.damage()) == []
        assert records.size() == RECORDS
    owner.close()


@pytest.mark.parametrize("closed", [True, False], ids=["in tables", "in the log of writes"])
def test_one_changed_bit_in_the_files_of_a_store_is_found(tmp_path: Path, closed: bool) -> None:
    owner = RocksStore(tmp_path / "store")
    fill(owner)
    if closed:
        owner.close()
    copy = shutil.copytree(tmp_path / "store", tmp_path / "copy")
    assert not has_damage(copy)
    chance = random.Random(closed)
    pattern = "*.sst" if closed else "*.log"
    (path,) = (file for file in copy.glob(pattern) if file.stat().st_size)
    for _ in range(40):
        content = flip(path, chance)
        assert has_damage(copy)
        path.write_bytes(content)
    if not closed:
        owner.close()


def test_a_store_whose_log_of_writes_was_changed_is_not_opened_as_if_it_ended_there(
    tmp_path: Path,
) -> None:
    owner = RocksStore(tmp_path / "store")
    fill(owner)
    chance = random.Random(3)
    for number in range(40):
        copy = shutil.copytree(tmp_path / "store", tmp_path / f"copy-{number}")
        (path,) = (file for file in copy.glob("*.log") if file.stat().st_size)
        flip(path, chance)
        with pytest.raises(StoreDamagedError):
            RocksStore(copy)
    owner.close()


def test_a_changed_or_broken_off_manifest_is_found_and_the_store_is_not_opened(
    tmp_path: Path,
) -> None:
    for _ in range(2):
        owner = RocksStore(tmp_path / "store")
        fill(owner)
        owner.close()
    chance = random.Random(5)
    for number in range(40):
        copy = shutil.copytree(tmp_path / "store", tmp_path / f"copy-{number}")
        (path,) = copy.glob("MANIFEST-*")
        if number % 2:
            flip(path, chance)
        else:
            path.write_bytes(path.read_bytes()[: -chance.randrange(1, 7)])
        assert has_damage(copy)
        with pytest.raises(StoreDamagedError):
            RocksStore(copy)
        assert list(copy.glob("*.sst"))


def test_a_write_that_a_crash_cut_off_does_not_keep_a_store_closed(tmp_path: Path) -> None:
    owner = RocksStore(tmp_path / "store")
    fill(owner)
    copy = shutil.copytree(tmp_path / "store", tmp_path / "copy")
    (path,) = (file for file in copy.glob("*.log") if file.stat().st_size)
    path.write_bytes(path.read_bytes()[:-3])
    opened = RocksStore(copy)
    assert len(list(opened.scan(b""))) == RECORDS - 1
    opened.close()
    owner.close()


def test_a_scan_that_meets_damage_does_not_end_as_if_there_were_no_more(tmp_path: Path) -> None:
    owner = RocksStore(tmp_path)
    fill(owner)
    owner.close()
    (path,) = tmp_path.glob("*.sst")
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    damaged = RocksStore(tmp_path)
    with pytest.raises(StoreDamagedError):
        list(damaged.scan(b""))
    damaged.close()


def test_a_folder_without_a_store_is_said_to_have_none(tmp_path: Path) -> None:
    with pytest.raises(StoreMissingError):
        RocksSnapshot(tmp_path)
