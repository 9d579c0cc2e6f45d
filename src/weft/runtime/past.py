"""What a recorded knot had before it: its rows once more, and whether they are what they were."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from weft.errors import WeftError
from weft.lineage.pin import Pinned
from weft.replays.report import Mismatch
from weft.runtime.replayed import ReplayedPipeline, Workspace
from weft.schema.schema import literal, quoted
from weft.schema.weft import WEFT, stored_form
from weft.sources.options import Again
from weft.sources.stream import open_again
from weft.streams.note import TableKnot
from weft.streams.rows import Chunk, chunks, read_stored

BLOCK = 1 << 20
ALL_ROWS = 2**62


class AddedRecordError(WeftError):
    """A record that is to be added does not fit its stream."""

    code = "replay.added"
    domain = "user"


def frame_of(run: ReplayedPipeline, pinned: Pinned) -> DataFrame:
    """The rows that a knot was woven from, as its shape prepares them."""
    if run.leg.edits:
        return _edited(run, pinned)
    if run.spec is None:
        return _from_source(run, pinned)
    frames = [_consumed(run, pinned, stream) for stream in run.inputs]
    frame = frames[0]
    for other in frames[1:]:
        frame = frame.unionByName(other)
    return frame


def check_files(run: ReplayedPipeline) -> Iterator[Mismatch]:
    """The recorded rows that a leg reads and that are not what was written, by the hashes of their files."""
    assert isinstance(run.storage, Workspace)
    for pinned in run.pins:
        recorded = pinned.knot.steps[0].input_hash if pinned.knot.steps else None
        if set(run.inputs) <= run.storage.recorded and recorded is not None:
            found = run.input_hash(pinned.knot)
            if found != recorded:
                yield _mismatch(
                    run, pinned, "the knots that it consumed are others now", recorded, found
                )
        for parent in pinned.knot.parents:
            if parent.stream not in run.storage.recorded:
                continue
            table = run.tables.open(parent.stream)
            for knot in table.knots(parent.first - 1, parent.last):
                yield from _altered(run, pinned, parent.stream, table.path, knot)


def _altered(
    run: ReplayedPipeline, pinned: Pinned, stream: str, folder: str, knot: TableKnot
) -> Iterator[Mismatch]:
    for file in knot.files:
        path = Path(folder, file.path)
        found = _sum(path) if path.exists() else None
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


def _sum(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def _from_source(run: ReplayedPipeline, pinned: Pinned) -> DataFrame:
    offsets = pinned.knot.offsets
    asked = Again(
        start=offsets.start[0] if offsets.start else None,
        end=offsets.end[0] if offsets.end else None,
        checkpoint=Path(run.storage.source(run.stream.name)),
        processing=run.project.processing,
    )
    return open_again(run.spark, run.stream, asked, feed_dir=run.feed)


def _consumed(run: ReplayedPipeline, pinned: Pinned, stream: str) -> DataFrame:
    """The rows of the knots of an input that a knot consumed, with the columns that are declared."""
    columns = StructType.fromJson(stored_form(run.project.schema_of(stream)))
    parent = next((one for one in pinned.knot.parents if one.stream == stream), None)
    found = (
        list(chunks(run.tables.open(stream), stream, parent.first - 1, parent.last, rows=ALL_ROWS))
        if parent is not None and run.tables.open(stream).exists()
        else []
    )
    return read_stored(run.spark, found[0] if found else None, columns)


def _edited(run: ReplayedPipeline, pinned: Pinned) -> DataFrame:
    """The recorded rows of a knot of the stream itself, and those that are added to the first one."""
    table, number = run.live_table(), pinned.knot.number
    columns = StructType.fromJson(table.schema())
    found: list[Chunk] = list(chunks(table, run.stream.name, number - 1, number, rows=ALL_ROWS))
    frame = read_stored(run.spark, found[0] if found else None, columns)
    first = next(one.knot.number for one in run.pins if one.knot.number > run.leg.after)
    added = run.what_if.added.get(run.stream.name, ()) if number == first else ()
    return frame.unionByName(_added(run, added, columns)) if added else frame


def _added(run: ReplayedPipeline, records: Any, columns: StructType) -> DataFrame:
    """Records that somebody adds, as rows of the stream."""
    user = StructType([field for field in columns if field.name != WEFT])
    texts = [(f"what-if/{number}", json.dumps(one)) for number, one in enumerate(records, start=1)]
    frame = run.spark.createDataFrame(texts, "id string, text string")
    ddl = ", ".join(f"{quoted(field.name)} {field.dataType.simpleString()}" for field in user)
    parsed = frame.selectExpr(
        "id", f"from_json(text, {literal(ddl)}, map('mode', 'FAILFAST')) AS record"
    )
    time = run.stream.event_time
    at = f"CAST(record.{quoted(time)} AS TIMESTAMP)" if time else "CAST(NULL AS TIMESTAMP)"
    weft = (
        "named_struct('id', id, 'knot', CAST(0 AS BIGINT), 'at', CAST(NULL AS TIMESTAMP), 'source', "
        f"{literal(run.stream.name)}, 'partition', 0, 'event_time', {at}, "
        "'watermark', CAST(NULL AS TIMESTAMP))"
    )
    return parsed.selectExpr(
        *(f"record.{quoted(field.name)} AS {quoted(field.name)}" for field in user),
        f"{weft} AS {WEFT}",
    )
