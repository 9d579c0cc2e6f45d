"""A record found in its stream's files, and the proof that it is there, read from a storage: no worker is needed.

In come the folder of a storage and the id of a record, out comes its proof. Called by `weft record prove`, also while a
weaver runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from weft.errors import WeftError
from weft.lineage.chain import live_numbers
from weft.lineage.facts import DataFile
from weft.lineage.fingerprint import former, hasher, user_columns
from weft.lineage.knot import Knot
from weft.lineage.proof import Proof, ProofError, make_proof
from weft.locations.location import Location, locate
from weft.locations.parquet import open_parquet
from weft.schema.schema import Schema
from weft.streams.compacted import Compactions, place_of
from weft.streams.log import compactions
from weft.streams.rehash import records_of, spark_schema
from weft.streams.storage import Storage
from weft.weaver.catalog import NameMissingError
from weft.weaver.store.opening import read_store
from weft.weaver.verification import StoredRecords

ID = "_weft.id"
HASH = re.compile(r"[0-9a-f]{8,64}")


class RecordMissingError(WeftError):
    """A stream has no record of this id."""

    code = "record.missing"
    domain = "missing"


@dataclass(frozen=True)
class RowPlace:
    """Where a record lies: the knot that wrote it, the file that it wrote, and which of its rows it is."""

    knot: Knot
    file: DataFile
    row: int
    path: Location
    """The file in which the rows of that file lie now."""
    first: int = 0
    """The first of them in it."""


def prove(
    storage: Storage, stream: str, id: str, *, knot: int | None = None, head: str | None = None
) -> Proof:
    """The proof of the newest row with this id, or of the one that a knot wrote; `head` is that of a later knot.

    1. Find the live knots of the stream's line, from the store.
    2. Find the row in the files that they wrote, newest first.
    3. Hash the rows of its file again, in their order, for the way up to the file's root.
    """
    with read_store(storage.store) as store:  # 1
        recorded = StoredRecords(store)
        origin, expired = _place(recorded, stream)
        knots = {one.number: one for one in recorded.knots(origin)}
        newest, _ = recorded.head(origin)
    live = [knots[number] for number in sorted(live_numbers(knots, newest))]
    folder = locate(storage.table(stream))
    held = [one for one in live if one.number > expired]
    place = _find(folder, stream, id, held, knot)  # 2
    chain = _chain(live, place.knot, head)
    with open_parquet(place.path) as parquet:  # 3
        schema = spark_schema(parquet)
        hashed, formed = hasher(schema), former(schema)
        hashes, record = [], b""
        written = islice(records_of(parquet), place.first, place.first + place.file.rows)
        for number, row in enumerate(written):
            hashes.append(hashed(row))
            if number == place.row:
                record = formed(row)
    return make_proof(
        stream,
        id,
        record=record,
        hashes=hashes,
        place=place.row,
        file=place.file,
        columns=Schema.from_json({**schema, "fields": user_columns(schema)}),
        knots=chain,
    )


def _place(recorded: StoredRecords, stream: str) -> tuple[str, int]:
    """The stream whose knots a stream shares, and the last of them whose rows are gone."""
    streams = {one.name: one for one in recorded.streams()}
    if stream not in streams:
        raise NameMissingError("stream", stream, list(streams))
    return streams[stream].origin, streams[stream].expired


def _find(
    folder: Location, stream: str, id: str, live: Sequence[Knot], knot: int | None
) -> RowPlace:
    shared = compactions(folder)
    looked: dict[str, list[int]] = {}
    for one in reversed(live):
        if knot not in (None, one.number) or stream not in one.outputs:
            continue
        for path, file, first in _files(folder, one, stream, shared):
            if path.address not in looked:
                looked[path.address] = _rows_of(path, id)
            found = looked[path.address]
            rows = [row - first for row in found if first <= row < first + file.rows]
            if rows:
                return _rooted(RowPlace(one, file, max(rows), path, first), stream)
    among = "any live knot" if knot is None else f"knot {knot}"
    raise RecordMissingError(
        f"Stream '{stream}' has no record '{id}' that {among} wrote.",
        hint="Ids are in the column _weft.id. What was filled in from recorded rows, was rolled back, or is "
        "no longer kept (`weft history`) cannot be proven.",
        stream=stream,
        knot=knot,
    )


def _files(
    folder: Location, knot: Knot, stream: str, shared: Compactions
) -> Iterator[tuple[Location, DataFile, int]]:
    """The files that a knot wrote, each with the one in which its rows lie now, and the first of them there."""
    files = knot.outputs[stream].files
    found = shared.find(knot.number)
    if found is None:
        yield from ((folder / file.path, file, 0) for file in files)
        return
    path = folder / found.path
    with _opened(path) as parquet:
        first, _ = place_of(parquet, knot.number)
    for file in files:
        yield path, file, first
        first += file.rows


def _rooted(place: RowPlace, stream: str) -> RowPlace:
    if place.file.root is None:
        raise ProofError(
            f"Knot {place.knot.number} of stream '{stream}' was tied before files had roots: its hash proves what "
            "all of its records add up to, and not one alone.",
            code="proof.no-root",
            hint="Records that were written since can be proven. `weft verify --deep` compares this one with its knot.",
            stream=stream,
            knot=place.knot.number,
        )
    return place


def _rows_of(path: Location, id: str) -> list[int]:
    """The rows with this id in a file; row groups that cannot have it are not read."""
    with _opened(path) as parquet:
        return list(_rows(parquet, id))


@contextmanager
def _opened(path: Location) -> Iterator[pq.ParquetFile]:
    try:
        with open_parquet(path) as parquet:
            yield parquet
    except (OSError, pa.ArrowException) as error:
        raise ProofError(
            f"File {path.name}, in which the record may be, cannot be read: {type(error).__name__}.",
            code="proof.no-file",
            hint="Without its rows nothing can be proven; `weft verify` lists what is missing or was changed.",
        ) from error


def _rows(parquet: pq.ParquetFile, id: str) -> Iterator[int]:
    first = 0
    for group in range(parquet.num_row_groups):
        if _may_have(parquet.metadata.row_group(group), id):
            ids = parquet.read_row_group(group, columns=[ID]).column("_weft").combine_chunks()
            wanted = pa.scalar(id.encode(errors="replace").decode())
            found = pc.equal(pc.struct_field(ids, "id"), wanted)
            yield from (first + at for at, same in enumerate(found.to_pylist()) if same)
        first += parquet.metadata.row_group(group).num_rows


def _may_have(group: pq.RowGroupMetaData, id: str) -> bool:
    for number in range(group.num_columns):
        column = group.column(number)
        if column.path_in_schema == ID and column.statistics and column.statistics.has_min_max:
            return bool(column.statistics.min <= id <= column.statistics.max)
    return True


def _chain(live: Sequence[Knot], first: Knot, head: str | None) -> list[Knot]:
    """The knots from one to the head, or to the one with the hash that was published."""
    chain = [one for one in live if one.number >= first.number]
    if head is None:
        return chain
    if not HASH.fullmatch(head):
        raise ProofError(
            "A head is the hash of a knot, of which at least the first 8 digits are needed.",
            code="proof.bad-head",
            domain="user",
            hint=f"`weft stream head {first.stream}` prints the newest.",
        )
    found = [place for place, one in enumerate(chain) if str(one.hash).startswith(head)]
    if not found:
        is_older = any(str(one.hash).startswith(head) for one in live)
        why = (
            "is older than the record" if is_older else "is not among the live knots of its stream"
        )
        raise ProofError(
            f"The knot with hash {head[:16]} {why}.",
            code="proof.other-head",
            hint="A record is proven by a knot that was tied after it. `weft verify --since` says what became of a "
            "published head.",
            stream=first.stream,
        )
    return chain[: found[0] + 1]
