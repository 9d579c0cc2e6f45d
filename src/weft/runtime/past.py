"""What a recorded knot had before it: its rows once more, and whether they are what they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from weft.errors import WeftError
from weft.lineage.knot import Knot
from weft.lineage.pin import Pinned
from weft.locations.location import Location, locate
from weft.project.settings import RAW
from weft.replays.leg import Phase
from weft.replays.report import Mismatch
from weft.runtime.ingest import arrived
from weft.runtime.replayed import ReplayedPipeline, Workspace
from weft.schema.path import find_path
from weft.schema.schema import Schema, quoted
from weft.schema.weft import WEFT, stored_form
from weft.sources.options import Again, RecordAt
from weft.sources.parse import Parsing, parse
from weft.sources.raw import FIELDS
from weft.sources.segment import encode
from weft.sources.stream import open_again
from weft.streams.log import sha256_of
from weft.streams.note import TableKnot
from weft.streams.rows import read_stored, whole
from weft.streams.table import Table

BLOCK = 1 << 20


class AddedRecordError(WeftError):
    """A record that is to be added does not fit its stream."""

    code = "replay.added"
    domain = "user"


def frame_of(run: ReplayedPipeline, pinned: Pinned, *, only: str | None = None) -> DataFrame:
    """The rows that a knot was woven from, as its shape prepares them; others may be left out than the one with an id
    that alone is wanted."""
    if run.leg.edits:
        return _edited(run, pinned)
    if run.spec is None:
        return _from_source(run, pinned, only)
    frames = [_consumed(run, pinned, stream) for stream in run.inputs]
    frame = frames[0]
    for other in frames[1:]:
        frame = frame.unionByName(other)
    return frame


def check_files(run: ReplayedPipeline, phase: Phase) -> Iterator[Mismatch]:
    """The recorded rows that a phase reads and that are not what was written, by the hashes of their files."""
    assert isinstance(run.storage, Workspace)
    sums: dict[str, str | None] = {}  # knots may share a file, which is read once
    for pinned in run.pins:
        if pinned.knot.number <= phase.after:
            continue
        recorded = pinned.knot.steps[0].input_hash if pinned.knot.steps else None
        if set(run.inputs) <= run.storage.recorded and recorded is not None:
            found = run.input_hash(pinned.knot)
            if found != recorded:
                yield _mismatch(
                    run, pinned, "the knots that it consumed are others now", recorded, found
                )
        for parent in pinned.knot.parents:
            if parent.stream in run.storage.recorded:
                table = run.tables.open(parent.stream)
                for knot in table.knots(parent.first - 1, parent.last):
                    yield from _altered(run, pinned, parent.stream, table, sums, knot)
        kept = _given(run, pinned.knot) if run.spec is None else None
        if kept is not None:
            stream = f"{run.stream.name}{RAW}"
            yield from _altered(run, pinned, stream, kept.table, sums, kept.knot)


def _altered(
    run: ReplayedPipeline,
    pinned: Pinned,
    stream: str,
    table: Table,
    sums: dict[str, str | None],
    knot: TableKnot,
) -> Iterator[Mismatch]:
    for file in knot.files:
        where = f"{stream}/{file.path}"
        if where not in sums:
            sums[where] = _sum(locate(table.path) / file.path)
        found = sums[where]
        if found != file.sha256:
            what = "is not what was written" if found else "is gone"
            text = (
                f"file {file.path} of knot {knot.note.knot} of {stream}, which it consumed, {what}"
            )
            yield _mismatch(run, pinned, text, file.sha256, found)


def _mismatch(
    run: ReplayedPipeline, pinned: Pinned, text: str, before: Any, after: Any
) -> Mismatch:
    return Mismatch(run.stream.name, pinned.knot.number, "input", text, before, after)


def _sum(file: Location) -> str | None:
    try:
        return sha256_of(file)
    except FileNotFoundError:
        return None


def _from_source(run: ReplayedPipeline, pinned: Pinned, only: str | None) -> DataFrame:
    """What a source gave: as it was kept, if all of it was, else from the source once more."""
    recorded = run.recorded(pinned.knot.number)
    kept = _given(run, recorded)
    if kept is not None:
        return _as_given(run, kept, recorded.number)
    if run.stream.history.raw is not None and not recorded.ledger.rows_in:
        return run.spark.createDataFrame([], StructType([*FIELDS]))
    offsets = pinned.knot.offsets
    asked = Again(
        start=offsets.start[0] if offsets.start else None,
        end=offsets.end[0] if offsets.end else None,
        checkpoint=locate(run.storage.source(run.stream.name)),
        processing=run.project.processing,
        only=None if only is None else _at(only, run.stream.name),
    )
    return open_again(run.spark, run.stream, asked, feed_dir=run.feed)


def _at(id: str, stream: str) -> RecordAt | None:
    """Where a record came from. An id is source/partition/position, and a position may have slashes of its own."""
    partition, _, position = id.removeprefix(f"{stream}/").partition("/")
    return RecordAt(int(partition), position) if partition.isdecimal() else None


@dataclass(frozen=True)
class _Given:
    """The raw records of a knot, as they were kept."""

    table: Table
    knot: TableKnot


def _given(run: ReplayedPipeline, knot: Knot) -> _Given | None:
    """The raw records of a recorded knot that kept all of them, while they are there."""
    stream = f"{knot.stream}{RAW}"
    output = knot.outputs.get(stream)
    if output is None or output.rows < knot.ledger.rows_in:
        return None
    assert isinstance(run.storage, Workspace)
    table = Table(run.spark, run.storage.live.table(stream))
    found = table.find(knot.number)
    return _Given(table, found) if found is not None and found.files else None


def _as_given(run: ReplayedPipeline, given: _Given, number: int) -> DataFrame:
    """Raw records in the form in which their source gave them."""
    stream = f"{run.stream.name}{RAW}"
    found = whole(given.table, stream, number - 1, number)
    rows = read_stored(run.spark, found, StructType.fromJson(given.table.schema()))
    place = "length(_weft.source) + length(string(_weft.partition)) + 3"
    return rows.selectExpr(
        *("value", "_weft.partition", f"substring(_weft.id, {place}) AS position", "timestamp"),
        *("header", "bad"),
    )


def _consumed(run: ReplayedPipeline, pinned: Pinned, stream: str) -> DataFrame:
    """The rows of the knots of an input that a knot consumed, with the columns that are declared."""
    columns = StructType.fromJson(stored_form(run.project.schema_of(stream)))
    parent = next((one for one in pinned.knot.parents if one.stream == stream), None)
    if parent is None:
        return read_stored(run.spark, None, columns)
    found = whole(run.tables.open(stream), stream, parent.first - 1, parent.last)
    return read_stored(run.spark, found, columns)


def _edited(run: ReplayedPipeline, pinned: Pinned) -> DataFrame:
    """The recorded rows of a knot of the stream itself, and those that are added to the first one."""
    table, number = run.live_table(), pinned.knot.number
    columns = StructType.fromJson(table.schema())
    frame = read_stored(run.spark, whole(table, run.stream.name, number - 1, number), columns)
    first = next(one.knot.number for one in run.pins if one.knot.number > run.leg.after)
    added = run.what_if.added.get(run.stream.name, ()) if number == first else ()
    return frame.unionByName(_added(run, added, columns)) if added else frame


def _added(run: ReplayedPipeline, records: Sequence[Any], columns: StructType) -> DataFrame:
    """Records that somebody adds, read as those of a source are; refuses one that does not fit."""
    form = StructType([field for field in columns if field.name != WEFT]).jsonValue()
    schema, time = Schema.from_json(form), run.stream.event_time
    parsing = Parsing(schema, event_time=find_path(time, schema) if time else None)
    texts = [(encode(one), 0, str(place), None) for place, one in enumerate(records, start=1)]
    raw = run.spark.createDataFrame(texts, StructType([*FIELDS]))
    rows = parse(raw, parsing, source="what-if").cache()
    bad = rows.where("_bad IS NOT NULL").first()
    if bad is not None:
        raise AddedRecordError(
            f"Record {bad['_position']} that is to be added to '{run.stream.name}' does not fit: {bad['_bad']}.",
            hint="Write it as the source of the stream would.",
            stream=run.stream.name,
        )
    return rows.selectExpr(*map(quoted, schema.names), f"{arrived(run.stream.name)} AS {WEFT}")
