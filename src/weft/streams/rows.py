"""Rows that a stream has recorded, as frames: what rules are tried on, filled from, and compared by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from weft.errors import WeftError
from weft.gate.spark import select
from weft.locations.location import locate
from weft.schema.schema import Schema, quoted
from weft.schema.weft import WEFT, stored_form
from weft.sinks.rows import FilePart
from weft.streams.note import TableKnot
from weft.streams.pieces import parts_of, read_parts
from weft.streams.table import EVERYTHING, Table

NOTHING_BAD = (("_weft_bad", "CAST(NULL AS STRING)"), ("_weft_raw", "CAST(NULL AS BINARY)"))
"""The columns that say of rows which could not be read why, for rows that were."""


class InputGoneError(WeftError):
    """Recorded rows that are asked for are no longer kept."""

    code = "stream.rows-gone"
    domain = "user"


@dataclass(frozen=True)
class Chunk:
    """Some live knots in a row of one stream, with their files."""

    first: int
    last: int
    rows: int
    watermark_ms: int | None
    files: tuple[FilePart, ...]


def chunks(table: Table, stream: str, after: int, upto: int, *, rows: int) -> Iterator[Chunk]:
    """The live knots in (after, upto] in pieces of about so many rows, each of whole knots."""
    held: list[TableKnot] = []
    count = 0
    for knot in table.knots(after, upto):
        _check_kept(table, stream, knot)
        if held and count + knot.note.rows > rows:
            yield _chunk(table, held)
            held, count = [], 0
        held.append(knot)
        count += knot.note.rows
    if held:
        yield _chunk(table, held)


def whole(table: Table, stream: str, after: int, upto: int) -> Chunk | None:
    """The live knots in (after, upto] in one piece; None where there are none."""
    if not table.exists():
        return None
    return next(chunks(table, stream, after, upto, rows=EVERYTHING), None)


@dataclass(frozen=True)
class Recent:
    """The newest knots that hold about so many rows, and how many rows there were to choose from."""

    chunk: Chunk | None
    recorded: int


def recent(table: Table, stream: str, after: int, upto: int, *, rows: int) -> Recent:
    """The newest of the live knots in (after, upto], together of at most so many rows unless one alone has more."""
    knots = table.knots(max(after, table.expired()), upto)
    held: list[TableKnot] = []
    count = 0
    for knot in reversed(knots):
        if held and count + knot.note.rows > rows:
            break
        _check_kept(table, stream, knot)
        held.insert(0, knot)
        count += knot.note.rows
    recorded = sum(knot.note.rows for knot in knots)
    return Recent(_chunk(table, held) if held else None, recorded)


def read(spark: SparkSession, chunk: Chunk, schema: Schema) -> DataFrame:
    """The rows of a chunk as the weave wants them; columns that older files lack are null."""
    return as_read(read_stored(spark, chunk, StructType.fromJson(stored_form(schema))), schema)


def read_stored(spark: SparkSession, chunk: Chunk | None, columns: StructType) -> DataFrame:
    """The rows of a chunk as they are stored, with these columns; none where there is no chunk."""
    if chunk is None or not chunk.files:
        return spark.createDataFrame([], columns)
    return read_parts(spark, chunk.files, columns)


def as_read(frame: DataFrame, schema: Schema) -> DataFrame:
    """Recorded rows as the weave wants them: all of them could be read."""
    columns = [(name, quoted(name)) for name in schema.names]
    return select(frame, [[*columns, (WEFT, WEFT), *NOTHING_BAD]])


def _check_kept(table: Table, stream: str, knot: TableKnot) -> None:
    if _is_kept(table, knot):
        return
    later = table.knots(after=knot.note.knot)
    first = next((one.note.knot for one in later if _is_kept(table, one)), None)
    kept = f"they are kept from knot {first} on" if first else "none are kept"
    raise InputGoneError(
        f"The rows of knot {knot.note.knot} of stream '{stream}' are gone: {kept}.",
        hint=f"Start at {first - 1}." if first else "Start at `latest`.",
        stream=stream,
        knot=first,
    )


def _is_kept(table: Table, knot: TableKnot) -> bool:
    if knot.note.rows and not knot.files:  # they are expired
        return False
    return all((locate(table.path) / file.path).exists() for file in knot.files)


def _chunk(table: Table, knots: list[TableKnot]) -> Chunk:
    return Chunk(
        first=knots[0].note.knot,
        last=knots[-1].note.knot,
        rows=sum(knot.note.rows for knot in knots),
        watermark_ms=knots[-1].note.watermark,
        files=parts_of(table.path, knots),
    )
