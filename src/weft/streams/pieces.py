"""The files of some knots, and which of their rows are wanted: knots may share a file with others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from weft.lineage.facts import DataFile
from weft.sinks.rows import FilePart, ParquetRows, RowFile, Rows, SharedRows
from weft.streams.compacted import KNOT
from weft.streams.note import TableKnot


def parts_of(folder: str, knots: Iterable[TableKnot]) -> tuple[FilePart, ...]:
    """Each file of these knots once, in their order; the knots follow one another in the table."""
    found: dict[str, FilePart] = {}
    for knot in knots:
        number = knot.note.knot
        for file in knot.files:
            path = f"{folder}/{file.path}"
            if knot.shared is None:
                found[path] = FilePart(path)
                continue
            known = found.get(path)
            after = number - 1 if known is None or known.after is None else known.after
            upto = number if known is None or known.upto is None else known.upto
            found[path] = FilePart(path, min(after, number - 1), max(upto, number))
    return tuple(found.values())


def rows_of(
    folder: str, knots: Sequence[TableKnot], columns: Sequence[str], before: Rows | None = None
) -> Rows:
    """The rows of some knots, which follow one another in the table, as sinks get them."""
    if any(knot.shared is not None for knot in knots):
        return SharedRows(parts_of(folder, knots), columns, before)
    files = [file for knot in knots for file in row_files(folder, knot.note.knot, knot.files)]
    return ParquetRows(files, columns, before)


def row_files(folder: str, knot: int, files: Iterable[DataFile]) -> list[RowFile]:
    """The files of a knot that has them for itself, as sinks get them."""
    return [
        RowFile(f"{folder}/{file.path}", file.rows, file.bytes, knot, place)
        for place, file in enumerate(files)
    ]


def read_parts(
    spark: SparkSession, parts: Sequence[FilePart], columns: StructType | None = None
) -> DataFrame:
    """The rows of some files, of which there are any, with these columns; without, with all that any file has."""
    whole = [part.path for part in parts if part.after is None]
    frames = [_read(spark, whole, columns)] if whole else []
    for part in parts:
        if part.after is not None:
            wanted = (f.col(KNOT) > f.lit(part.after)) & (f.col(KNOT) <= f.lit(part.upto))
            frames.append(_read(spark, [part.path], columns).where(wanted))
    frame = frames[0]
    for other in frames[1:]:
        frame = frame.unionByName(other, allowMissingColumns=columns is None)
    return frame


def _read(spark: SparkSession, paths: Sequence[str], columns: StructType | None) -> DataFrame:
    if columns is None:
        return spark.read.option("mergeSchema", "true").parquet(*paths)
    return spark.read.schema(columns).parquet(*paths)
