"""Backups: everything under a storage, copied while nothing writes to it, and put back as a life of its own."""

from __future__ import annotations

import re
import shutil
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError
from weft.operations.operation import Operation
from weft.streams.storage import Storage
from weft.weaver.book import PARTITION
from weft.weaver.identity import KEY, StoreRecord
from weft.weaver.store import Store, Write, key_range
from weft.weaver.store.records import Records, put, remove
from weft.weaver.store.rocks import RocksStore
from weft.weaver.store.snapshot import RocksSnapshot

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

FOLDERS = ("streams", "pipelines", "sources")
CHUNK = 1000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class BackupError(WeftError):
    """A backup that cannot be made or put back there; nothing was written."""

    code = "backup.refused"
    domain = "user"


@dataclass(frozen=True)
class Copied:
    """What a copy of a storage holds: all of its files, those of the store too."""

    to: str
    files: int
    bytes: int


def place_of(storage: Storage | None, name: str) -> Storage:
    """Where the backup of this name goes: beside the storage, so that no request can name another place."""
    if storage is None:
        raise BackupError(
            "This weaver keeps its store in memory, and there is nothing to copy.",
            hint="Start it with `--storage`.",
        )
    if not NAME.fullmatch(name):
        raise BackupError(
            f"'{name[:80]}' cannot be the name of a backup.",
            hint="Use letters, digits, dots, hyphens and underscores, at most 64, a letter or digit first.",
        )
    target = Storage(f"{storage.root}.backups/{name}")
    check_target(storage, target)
    return target


def back_up(weaver: Weaver, name: str) -> dict[str, Any]:
    """Copy the storage of a weaver whose pipelines stand still; the copy is one that nothing is under way in."""
    target = place_of(weaver.storage, name)
    assert weaver.storage is not None
    copied = _copy(weaver.storage, weaver.store, target)
    return {"to": copied.to, "files": copied.files, "bytes": copied.bytes}


def check_target(source: Storage, target: Storage) -> None:
    """Refuse a place for a copy that is taken, or inside of what is copied, and what is not in a folder."""
    for one in (source, target):
        if not one.is_local:
            raise BackupError(
                f"{one.root} is no folder, and only folders are copied.",
                hint="Copy the bucket with its own tools while Weft is stopped, and the folder of the weaver's store "
                "with it.",
            )
    place, home = Path(target.root), Path(source.root).resolve()
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise BackupError(f"{place} is there already.", hint="Name a folder that is not there yet.")
    if home in (place.resolve(), *place.resolve().parents):
        raise BackupError(
            f"{place} lies inside of the storage.", hint="Name a folder outside of it."
        )


def copy_offline(source: Storage, target: Storage) -> Copied:
    """Copy a storage that no weaver has open; opening its store here keeps others out meanwhile."""
    check_target(source, target)
    if not (Path(source.store) / "CURRENT").exists():
        raise BackupError(
            f"There is no weaver's store in {source.store}.",
            hint="One in Cassandra is copied by the weaver that leads: run `weft backup` without `--offline`.",
        )
    store = RocksStore(Path(source.store))
    try:
        return _copy(source, store, target)
    finally:
        store.close()


def put_back(backup: Storage, target: Storage) -> Copied:
    """Make a storage of a backup. It begins a new life: what sinks got after the backup was made is not counted on."""
    if not (Path(backup.store) / "CURRENT").exists():
        raise BackupError(
            f"There is no backup in {backup.root}: it has no store.",
            hint="Name the folder that `weft backup` was given.",
        )
    check_target(backup, target)
    with RocksSnapshot(Path(backup.store)) as kept:
        copied = _copy(backup, kept, target)
    store = RocksStore(Path(target.store))
    try:
        known = Records(store).get(StoreRecord, *KEY)
        store.apply([put(*KEY, value=replace(known, life=str(uuid.uuid4())))])
    finally:
        store.close()
    return copied


def _copy(source: Storage, store: Store, target: Storage) -> Copied:
    """Build a copy beside its place and give it its name when it is whole."""
    building = Storage(f"{target.root}.building")
    shutil.rmtree(building.root, ignore_errors=True)
    _copy_folders(source, building)
    _copy_store(store, building)
    sizes = [path.stat().st_size for path in Path(building.root).rglob("*") if path.is_file()]
    if Path(target.root).exists():
        Path(target.root).rmdir()  # an empty one, as `check_target` has seen
    Path(building.root).rename(target.root)
    return Copied(target.root, len(sizes), sum(sizes))


def _copy_folders(source: Storage, target: Storage) -> None:
    target.make()
    for name in FOLDERS:
        folder = Path(source.root) / name
        if folder.exists():
            shutil.copytree(folder, Path(target.root) / name, symlinks=True)
    owner = source.owner
    if owner is not None:
        target.own(owner.history)


def _copy_store(store: Store, target: Storage) -> None:
    """Copy every record; operations that are under way are over in the copy, and hold nothing there."""
    copy = RocksStore(Path(target.store))
    try:
        waiting: list[Write] = []
        for name, value in store.scan(b""):
            waiting.append(Write(name, value))
            if len(waiting) == CHUNK:
                copy.apply(waiting, durable=False)
                waiting = []
        copy.apply(waiting, durable=False)
        copy.apply(_ended(copy))
    finally:
        copy.close()


def _ended(copy: Store) -> list[Write]:
    records = Records(copy)
    holds = [Write(name, None) for name, _ in copy.scan(key_range(PARTITION, "hold"))]
    backups = [
        one
        for one in records.scan(Operation, PARTITION, "operation")
        if one.kind == "backup" and not one.is_over
    ]
    return [*holds, *(remove(PARTITION, "operation", one.id) for one in backups)]
