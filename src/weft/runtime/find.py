"""Records looked up where the data is: by id, by what a pane is made of, and by what a record came into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from weft.locations.location import locate
from weft.runtime import session
from weft.runtime.collected import collected, plain
from weft.schema.schema import Schema, quote
from weft.schema.weft import WEFT
from weft.sinks.rows import FilePart
from weft.steps.compile import compile_steps
from weft.steps.step import steps_from
from weft.streams.bounds import may_hold
from weft.streams.pieces import parts_of, read_parts
from weft.streams.table import EVERYTHING, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from weft.runtime.worker import Worker


EXAMPLES = 5


def find_record(
    worker: Worker, *, id: str, spans: Mapping[str, Sequence[int]]
) -> list[dict[str, Any]]:
    """Where a record is: each stream that has a row with this id, the knot that wrote it, and the row.

    `spans` are the streams to look in, each with the knot to look behind and the last one; without them, all. Ids alone
    are read first, in the files that may have it, and then the rows of the knots that do.
    """
    spark = session.fork(worker.spark)
    found = []
    for stream, span in spans.items():
        table = Table(spark, worker.storage.table(stream))
        after, upto = span or (0, EVERYTHING)
        ids = rows_between(spark, table, after, upto, id=id)
        if ids is None:
            continue
        knots = ids.where(f.col("_weft.id") == id).select("_weft.knot").distinct().collect()
        for number in sorted(row[0] for row in knots):
            rows = rows_between(spark, table, number - 1, number)
            if rows is not None:
                found += _places(rows.where(f.col("_weft.id") == id), stream)
    return found


def find_matching(worker: Worker, *, stream: str, where: str, limit: int) -> list[dict[str, Any]]:
    """The newest rows of a stream for which a condition holds."""
    spark = session.fork(worker.spark)
    table = Table(spark, worker.storage.table(stream))
    rows = rows_between(spark, table, 0, EVERYTHING)
    if rows is None:
        return []
    newest = rows.where(_holds(worker, rows, where)).orderBy(
        f.col("_weft.knot").desc(), f.col("_weft.id")
    )
    return _places(newest.limit(limit), stream)


def find_breaches(
    worker: Worker, *, stream: str, check: str, after: int, upto: int
) -> list[dict[str, Any]]:
    """The first rows of knots in (after, upto] for which a condition does not hold."""
    spark = session.fork(worker.spark)
    rows = rows_between(spark, Table(spark, worker.storage.table(stream)), after, upto)
    if rows is None:
        return []
    broken = rows.where(f"NOT {_holds(worker, rows, check)}").orderBy("_weft.knot", "_weft.id")
    return _places(broken.limit(EXAMPLES), stream)


def _holds(worker: Worker, rows: DataFrame, condition: str) -> str:
    """The SQL of a condition that people wrote, checked; it does not hold where it cannot be computed."""
    form = rows.schema.jsonValue()
    fields = [one for one in form["fields"] if one["name"] != WEFT]
    user = Schema.from_json({**form, "fields": fields})
    [compiled] = compile_steps(steps_from([{"filter": condition}]), user, worker.functions)
    return f"coalesce(weft_try(0L, ({compiled.expressions[''].sql})).v0, false)"


def find_dropped(
    worker: Worker, *, id: str, files: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """Rows with an id in files that no table holds any longer, such as those of knots that were rolled back."""
    spark = session.fork(worker.spark)
    found = []
    for stream, paths in files.items():
        table = Table(spark, worker.storage.table(stream))
        if not table.exists():
            continue
        names = (*paths, *(file.path for file in table.compacted(cut=True)))
        held = [path for path in names if (locate(table.path) / path).exists()]
        if held:
            columns = StructType.fromJson(table.schema())
            rows = spark.read.schema(columns).option("ignoreMissingFiles", "true")
            frame = rows.parquet(*(f"{table.path}/{path}" for path in held))
            found += _places(frame.where(f.col("_weft.id") == id), stream)
    return found


def find_members(
    worker: Worker,
    *,
    pane: Mapping[str, Any],
    source: str,
    upto: int,
    by: list[list[str]],
    limit: int,
) -> dict[str, Any]:
    """The records of a stream that a pane was made of; `by` pairs their columns with those of the pane."""
    spark = session.fork(worker.spark)
    panes = one_row(spark, worker, pane)
    rows = rows_between(spark, Table(spark, worker.storage.table(source)), 0, upto)
    if panes is None or rows is None:
        return {"count": 0, "rows": []}
    one = panes.select(f.struct("*").alias("_pane")).alias("p")
    met = rows.join(f.broadcast(one), _meets(by), "left_semi")
    late = rows_between(
        spark, Table(spark, worker.storage.table(f"{pane['stream']}.late")), 0, EVERYTHING
    )
    if late is not None:
        met = met.join(
            late.select(f.col("_weft.id").alias("_late")),
            f.col("_weft.id") == f.col("_late"),
            "left_anti",
        )
    return counted(met, source, limit)


def find_panes(
    worker: Worker, *, record: Mapping[str, Any], target: str, by: list[list[str]], limit: int
) -> dict[str, Any]:
    """The panes of a stream that a record came into."""
    spark = session.fork(worker.spark)
    rows = one_row(spark, worker, record)
    panes = rows_between(spark, Table(spark, worker.storage.table(target)), 0, EVERYTHING)
    if rows is None or panes is None:
        return {"count": 0, "rows": []}
    nested = panes.select(f.struct("*").alias("_pane"))
    met = nested.join(f.broadcast(rows), _meets(by), "left_semi").select("_pane.*")
    return counted(met, target, limit)


def _meets(by: list[list[str]]) -> Column:
    """Whether a record is one of a pane's: of its key, and in its window."""
    start, end = f.col("_pane.window.start"), f.col("_pane.window.end")
    time = f.col("_weft.event_time")
    inside = (start.isNull() | (time >= start)) & (end.isNull() | (time < end))
    same = [f.col(quote(ours)).eqNullSafe(f.col(f"_pane.{quote(theirs)}")) for ours, theirs in by]
    return reduce(Column.__and__, same, inside)


def one_row(spark: SparkSession, worker: Worker, place: Mapping[str, Any]) -> DataFrame | None:
    """The row at a place."""
    table = Table(spark, worker.storage.table(place["stream"]))
    rows = rows_between(spark, table, place["knot"] - 1, place["knot"])
    return None if rows is None else rows.where(f.col("_weft.id") == place["id"]).limit(1)


def rows_between(
    spark: SparkSession, table: Table, after: int, upto: int, *, id: str | None = None
) -> DataFrame | None:
    """The rows of knots in (after, upto] with all columns that the table has; None where there are none.

    With an id, only those of files that may have it.
    """
    if not table.exists():
        return None
    files: Sequence[FilePart] = parts_of(table.path, table.knots(after, upto))
    if id is not None:
        files = may_hold(files, id)
    if not files:
        return None
    return read_parts(spark, files, StructType.fromJson(table.schema()))


def counted(met: DataFrame, stream: str, limit: int) -> dict[str, Any]:
    """How many rows there are, and the first of them."""
    rows = met.persist()
    try:
        return {
            "count": rows.count(),
            "rows": _places(rows.orderBy("_weft.id").limit(limit), stream),
        }
    finally:
        rows.unpersist()


def _places(rows: DataFrame, stream: str) -> list[dict[str, Any]]:
    return [place_of(row, stream) for row in collected(rows)]


def place_of(row: Mapping[str, Any], stream: str) -> dict[str, Any]:
    """A row of a stream as places are told."""
    mark = row[WEFT]
    return {"stream": stream, "knot": mark["knot"], "id": mark["id"], "row": plain(dict(row))}
