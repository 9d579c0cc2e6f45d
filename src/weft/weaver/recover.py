"""A store that was lost, damaged or is older than its tables, brought up to them: the whole of `weft store rebuild`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weft.clock import Clock, SystemClock
from weft.locations.location import locate
from weft.operations.cut import Cut, Reach
from weft.runtime import checkpoints
from weft.streams.storage import Storage
from weft.streams.told import read_tables
from weft.weaver.rebuild import Rebuild, RebuildError
from weft.weaver.store import Store, Write
from weft.weaver.store.intact import IntactStore
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.opening import is_shared
from weft.weaver.store.records import Records
from weft.weaver.store.rocks import RocksStore, StoreDamagedError

CHUNK = 1000
CutTable = Callable[[str, Cut], None]
"""Takes the knots that a cut names out of the table of a stream."""


@dataclass(frozen=True)
class Recovered:
    """What a rebuilt store knows, and what had to be done for it."""

    history: str
    streams: int
    knots: int
    new_knots: int
    rules: int
    pipelines: tuple[str, ...]
    cut_tables: tuple[str, ...]
    """Streams of which rows of a batch that was not finished were taken out; it runs again."""
    kept_as: str | None
    """Where the old store is now."""


def recover(storage: Storage, cut_table: CutTable, *, clock: Clock | None = None) -> Recovered:
    """Make the store of a storage anew from its tables.

    1. Read what the tables tell, and what can be read of the old store.
    2. Cut checkpoints to the newest knots, into new epochs, and tables where a batch was not finished.
    3. Write the new store beside the old one, and put it in its place.
    """
    if is_shared(storage.store):
        raise RebuildError(
            "A store in Cassandra is not made anew in its place.",
            hint="Leave out `--store`: that makes one in the storage, from the tables. Then put it into an empty "
            "keyspace with `weft store copy`.",
        )
    tables = read_tables(locate(storage.streams))  # 1
    if not tables:
        raise RebuildError(
            f"There are no tables in {storage.streams}, and nothing to make a store from.",
            hint="Name the folder that `weft up` or `weft weaver` was given as `--storage`.",
        )
    with _old(storage) as (old, is_there):
        rebuild = Rebuild(Records(old), tables, storage, clock or SystemClock())
        cuts = rebuild.cuts(_reach(storage, rebuild))  # 2
        identity = rebuild.identity.identity
        for cut in cuts:
            stateful = rebuild.project.is_stateful(cut.pipeline)
            checkpoints.cut_as(cut, storage, identity, stateful=stateful)
        unfinished = tuple(
            stream
            for cut in cuts
            for stream in cut.streams
            if rebuild.is_live(stream, cut.cut_after)
        )
        for cut in cuts:
            for stream in cut.streams:
                if stream in unfinished:
                    cut_table(stream, cut)
        building = Path(f"{storage.store}.building")  # 3
        _write(building, old, rebuild.writes(cuts))
        summary = Recovered(
            history=identity.history,
            streams=len(tables),
            knots=sum(map(len, rebuild.lines.knots.values())),
            new_knots=rebuild.new_knots(),
            rules=len(list(rebuild.rules())),
            pipelines=tuple(cut.pipeline for cut in cuts),
            cut_tables=unfinished,
            kept_as=str(_place_beside(storage)) if is_there else None,
        )
    if summary.kept_as is not None:
        Path(storage.store).rename(summary.kept_as)
    building.rename(storage.store)
    storage.own(identity.history)
    return summary


@contextmanager
def _old(storage: Storage) -> Iterator[tuple[Store, bool]]:
    """What can be read of the old store; one that a weaver has open is refused."""
    folder = Path(storage.store)
    store: Store = MemoryStore()
    if (folder / "CURRENT").exists():
        try:
            opened = IntactStore(folder)
            list(opened.scan(b""))
            store = opened
        except StoreDamagedError:
            pass  # the tables tell what it held
    try:
        yield store, folder.exists()
    finally:
        store.close()


def _reach(storage: Storage, rebuild: Rebuild) -> dict[str, Reach]:
    """How far back the state of each pipeline that has any is kept."""
    found = {}
    for pipeline in rebuild.pipelines():
        if rebuild.project.is_stateful(pipeline.name):
            earliest = {
                epoch: checkpoints.earliest_state(locate(storage.checkpoint(pipeline.name, epoch)))
                for epoch in range(pipeline.last_epoch + 1)
            }
            frames = frozenset(checkpoints.keyframes(storage.pipeline(pipeline.name)))
            found[pipeline.name] = Reach(frames, earliest)
    return found


def _write(folder: Path, old: Store, writes: Iterator[Write]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    store = RocksStore(folder)
    try:
        for group in _groups(Write(name, value) for name, value in old.scan(b"")):
            store.apply(group, durable=False)
        for group in _groups(writes):
            store.apply(group, durable=False)
        store.flush()
    finally:
        store.close()


def _groups(writes: Iterator[Write]) -> Iterator[list[Write]]:
    group: list[Write] = []
    for write in writes:
        group.append(write)
        if len(group) == CHUNK:
            yield group
            group = []
    yield group


def _place_beside(storage: Storage) -> Path:
    number = 1
    while (place := Path(f"{storage.store}.before-rebuild-{number}")).exists():
        number += 1
    return place
