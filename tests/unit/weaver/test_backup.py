"""Backups: what is copied, and what is told of it."""

from __future__ import annotations

from pathlib import Path

from weft.streams.storage import Storage
from weft.weaver.backup import copy_offline, put_back
from weft.weaver.identity import KEY, StoreRecord
from weft.weaver.store.records import put
from weft.weaver.store.rocks import RocksStore


def test_a_copy_counts_the_files_of_the_store_too(tmp_path: Path) -> None:
    source = Storage(str(tmp_path / "storage"))
    source.make()
    store = RocksStore(Path(source.store))
    store.apply([put(*KEY, value=StoreRecord("history", ("first",), "now", "life"))])
    store.close()
    copied = copy_offline(source, Storage(str(tmp_path / "copy")))
    files = [path for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert copied.files == len(files) > 0
    assert copied.bytes == sum(path.stat().st_size for path in files)
    assert put_back(Storage(copied.to), Storage(str(tmp_path / "again"))).files > 0
