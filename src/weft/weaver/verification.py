"""What the weaver's store holds, as a verification reads it: record by record, also where some are damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from weft.canonical import digest
from weft.lineage.facts import FilledPart, Output
from weft.lineage.finding import Finding, Verification
from weft.lineage.knot import Knot
from weft.lineage.since import Since
from weft.locations.location import locate
from weft.operations.operation import Hold
from weft.project.definition import Project
from weft.sources.kept import damage
from weft.streams.presence import PipelineRecord
from weft.streams.rehash import Rehash, plain
from weft.streams.storage import Storage
from weft.streams.verify import StreamRecord, verify
from weft.weaver.catalog import Pipeline, Stream
from weft.weaver.expiring import ExpiredRows
from weft.weaver.identity import KEY, StoreRecord
from weft.weaver.knots import Head, KnotFloor, line
from weft.weaver.store.opening import read_store
from weft.weaver.store.records import is_intact, open_record, value_of
from weft.weaver.store.rocks import StoreDamagedError
from weft.weaver.store.snapshot import StoreMissingError
from weft.weaver.store.store import Store, key, key_range
from weft.weaving.rule import content_hash

T = TypeVar("T")


class StoredRecords:
    """The records of a store; those that cannot be read are left out, and told by `damage`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._size = 0

    def damage(self) -> Iterator[Finding]:
        """Every record whose checksum is not that of its content."""
        self._size = 0
        try:
            for name, value in self._store.scan(b""):
                self._size += 1
                if not is_intact(name, value):
                    where = name.decode(errors="replace").replace("\x00", "/")
                    yield Finding("store.altered", f"record {where}", "it is not what was written")
        except StoreDamagedError as error:
            yield Finding("store.damaged", "the weaver's store", error.message)

    def size(self) -> int:
        """How many records `damage` read."""
        return self._size

    def streams(self) -> list[StreamRecord]:
        """All streams."""
        held = {
            hold.pipeline: hold.operation
            for hold in self._scan(Hold, "operations", "hold")
            if hold.grip == "stopped"
        }
        return [
            StreamRecord(
                *(stream.name, stream.origin, held.get(stream.pipeline)),
                expired=self._expired(stream.name),
            )
            for stream in self._scan(Stream, "catalog", "stream")
        ]

    def _expired(self, stream: str) -> int:
        known = self._find(ExpiredRows, line(stream), "expired")
        return known.upto if known is not None else 0

    def pipelines(self) -> list[PipelineRecord]:
        """The pipelines that the project declares."""
        held = {hold.pipeline for hold in self._scan(Hold, "operations", "hold")}
        known = self._find(StoreRecord, *KEY)
        return [
            PipelineRecord(
                one.name,
                one.stream,
                one.epoch,
                is_settled=one.name not in held,
                history=known.history if known else None,
                generations=known.generations if known else (),
            )
            for one in self._scan(Pipeline, "catalog", "pipeline")
            if not one.removed
        ]

    def owner(self) -> str | None:
        """The history that the store keeps, or None when it does not say."""
        known = self._find(StoreRecord, *KEY)
        return known.history if known else None

    def head(self, stream: str) -> tuple[int | None, int]:
        """The newest live knot of a stream, and the highest number given out."""
        head = self._find(Head, line(stream), "head") or Head()
        return head.number, head.last

    def knots(self, stream: str) -> Iterator[Knot]:
        """All knots of a stream, oldest first."""
        return self._scan(Knot, line(stream), "knot")

    def floor(self, stream: str) -> tuple[int, str | None]:
        """The first knot of a stream that is kept, 0 where all are, and the hash of the one before it."""
        known = self._find(KnotFloor, line(stream), "floor")
        return (known.number, known.before) if known is not None else (0, None)

    def fills(self, stream: str) -> dict[int, Output]:
        """What a stream was filled with from recorded rows, by the last knot of each part."""
        return {part.knot: part.output for part in self._scan(FilledPart, line(stream), "fill")}

    def has_rule(self, name: str, version: str) -> bool:
        """Whether a rule with this id is known, and this version of it, unchanged."""
        form = self._form("rules", "version", name, version)
        return form is not None and content_hash(form) == version

    def projects(self) -> Iterator[tuple[str, Project]]:
        """Every version of the project that was deployed, with the hash that it is stored under."""
        for name, project in self._entries(Project, "projects"):
            yield name.rpartition(b"\x00")[2].decode(errors="replace"), project

    def _find(self, kind: type[T], *parts: str | int) -> T | None:
        form = self._form(*parts)
        return None if form is None else value_of(kind, form)

    def _form(self, *parts: str | int) -> Any | None:
        name = key(*parts)
        try:
            value = self._store.get(name)
        except StoreDamagedError:
            return None
        if value is None or not is_intact(name, value):
            return None
        return open_record(name, value)

    def _scan(self, kind: type[T], *parts: str | int) -> Iterator[T]:
        return (value for _, value in self._entries(kind, *parts))

    def _entries(self, kind: type[T], *parts: str | int) -> Iterator[tuple[bytes, T]]:
        try:
            for name, value in self._store.scan(key_range(*parts)):
                if is_intact(name, value):
                    yield name, value_of(kind, open_record(name, value))
        except StoreDamagedError:
            return  # `damage` has told of it


def verify_storage(
    storage: Storage,
    *,
    deep: bool = False,
    rehash: Rehash = plain,
    since: Since | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Verification:
    """Verify everything below a storage folder, whether its weaver runs or not; `deep` hashes every row again.

    With `since` only the files of knots from there on are read, and a published head is looked for in the chain.
    """
    way = rehash if deep else None
    found = _look(storage, way, since, progress)
    # What runs is seen in the middle of a batch; what is wrong stays so.
    return found if found.is_clean else found.confirmed_by(_look(storage, way, since, progress))


def _look(
    storage: Storage,
    rehash: Rehash | None,
    since: Since | None,
    progress: Callable[[str], None],
) -> Verification:
    try:
        with read_store(storage.store) as store:
            recorded = StoredRecords(store)
            report = verify(recorded, storage, rehash=rehash, since=since, progress=progress)
            _check_owner(storage, recorded, report)
            _check_code(recorded, report)
            _check_sources(storage, recorded, report)
            return report
    except StoreDamagedError as error:
        return Verification([Finding(error.code, "the weaver's store", error.message)])
    except StoreMissingError as error:
        if storage.owner is None:
            raise
        return Verification([Finding(error.code, "the weaver's store", error.message)])


def _check_owner(storage: Storage, recorded: StoredRecords, report: Verification) -> None:
    """The storage belongs to the history that the store keeps."""
    owner, keeps = storage.owner, recorded.owner()
    report.expect(
        owner is None or owner.history == keeps,
        "storage.other-history",
        "the weaver's store",
        f"it keeps history {keeps}, and the storage belongs to {owner.history if owner else None}",
    )


def _check_code(recorded: StoredRecords, report: Verification) -> None:
    """Every version of the project has the hash that it is known by, and the functions in it have theirs."""
    seen: set[str] = set()
    for name, project in recorded.projects():
        where = f"project {name[:10]}"
        report.expect(project.hash == name, "project.altered", where, "it has another hash")
        for function in project.functions.values():
            # The same function is in most of them, and its sources take a while to read.
            known = digest([function.version, dict(function.modules)])
            if known not in seen:
                seen.add(known)
                report.expect(
                    function.is_intact(),
                    "function.altered",
                    f"function {function.ref} of {where}",
                    "its sources are not those that its version was made of",
                )


def _check_sources(storage: Storage, recorded: StoredRecords, report: Verification) -> None:
    """What sources keep is as it was written, and reaches as far as was read."""
    for stream in {record.origin for record in recorded.streams()}:
        folder = locate(storage.source(stream))
        if not folder.exists():
            continue
        head, _ = recorded.head(stream)
        knot = next((knot for knot in recorded.knots(stream) if knot.number == head), None)
        position = knot.offsets.end[0] if knot is not None and knot.offsets.end else None
        report.counts["sources"] += 1
        for what in damage(folder, position):
            report.add("source.altered", f"source of {stream}", what)
