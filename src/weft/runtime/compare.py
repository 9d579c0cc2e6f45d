"""The rows that a replay has made beside the recorded ones: joined by record, compared column by column."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import NumericType, StructType
from pyspark.sql.window import Window

from weft.replays.compared import ComparedRow, RowComparison
from weft.runtime import session
from weft.runtime.collected import collected, plain
from weft.schema.schema import quote
from weft.schema.weft import WEFT
from weft.streams.rows import read_stored, whole
from weft.streams.storage import Storage
from weft.streams.tables import Tables

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

EXAMPLES = 20


def compare_rows(worker: Worker, replay: str, stream: str, after: int, upto: int) -> RowComparison:
    """Compare the rows of the knots in (after, upto] of a stream; those that differ go to Parquet files."""
    spark = session.fork(worker.spark)
    workspace = Storage(worker.storage.workspace(replay))
    recorded = _rows(Tables(spark, worker.storage), spark, stream, after, upto)
    replayed = _rows(Tables(spark, workspace), spark, stream, after, upto)
    names = _columns(recorded, replayed)
    both = _joined(recorded, replayed, names).cache()
    try:
        file = f"{workspace.root}/differences/{stream}"
        different = both.where("NOT same")
        different.drop("same").write.mode("overwrite").parquet(file)
        return _counted(both, names, RowComparison(stream, after, upto, file=file))
    finally:
        both.unpersist()


def _rows(tables: Tables, spark: Any, stream: str, after: int, upto: int) -> DataFrame:
    """Rows with what they are known by: a record's id, and which of its rows it is where it has several."""
    table = tables.open(stream)
    if not table.exists():
        columns = StructType.fromDDL("_weft struct<id: string, knot: bigint>")
        assert isinstance(columns, StructType)
        frame = read_stored(spark, None, columns)
    else:
        columns = StructType.fromJson(table.schema())
        frame = read_stored(spark, whole(table, stream, after, upto), columns)
    user = [f.col(quote(name)) for name in frame.columns if name != WEFT]
    turn = f.row_number().over(Window.partitionBy("_weft.id").orderBy("_weft.knot"))
    return frame.select(
        f.col("_weft.id").alias("id"), turn.alias("turn"), f.struct(*user).alias("row")
    )


def _columns(*frames: DataFrame) -> list[str]:
    """The columns of either side, in the order in which they are first seen."""
    found: dict[str, str] = {}
    for frame in frames:
        row = frame.schema["row"].dataType
        assert isinstance(row, StructType)
        for name in row.names:
            found.setdefault(name.lower(), name)
    return list(found.values())


def _joined(recorded: DataFrame, replayed: DataFrame, names: list[str]) -> DataFrame:
    left = recorded.withColumnRenamed("row", "recorded")
    right = replayed.withColumnRenamed("row", "replayed")
    both = left.join(right, ["id", "turn"], "full_outer")
    same = [_value(both, "recorded", n).eqNullSafe(_value(both, "replayed", n)) for n in names]
    present = f.col("recorded").isNotNull() & f.col("replayed").isNotNull()
    return both.withColumn("same", reduce(Column.__and__, same, present))


def _value(frame: DataFrame, side: str, name: str) -> Column:
    """A column of one side in a form that can be compared: maps cannot, and their JSON can."""
    row = frame.schema[side].dataType
    assert isinstance(row, StructType)
    if name not in row.names:
        return f.lit(None).cast("string")
    column = f.col(f"{side}.{quote(name)}")
    return f.to_json(f.struct(column)) if row[name].dataType.typeName() in _NESTED else column


_NESTED = frozenset(["array", "map", "struct"])


def _counted(both: DataFrame, names: list[str], found: RowComparison) -> RowComparison:
    changed = "recorded IS NOT NULL AND replayed IS NOT NULL AND NOT same"
    counts = [
        f.count_if(f.col("same")).alias("same"),
        f.count_if(f.expr(changed)).alias("changed"),
        f.count_if(f.col("replayed").isNull()).alias("missing"),
        f.count_if(f.col("recorded").isNull()).alias("extra"),
        *(
            f.count_if(
                f.expr(changed)
                & ~_value(both, "recorded", n).eqNullSafe(_value(both, "replayed", n))
            ).alias(f"c{place}")
            for place, n in enumerate(names)
        ),
    ]
    numeric = [n for n in names if _is_numeric(both, n)]
    for place_of, name in enumerate(numeric):
        for side in ("recorded", "replayed"):
            column = f.col(f"{side}.{quote(name)}").cast("double")
            counts.append(f.sum(column).alias(f"{side[:4]}{place_of}"))
    row = both.agg(*counts).first()
    assert row is not None
    totals = {
        name: (row[f"reco{place_of}"], row[f"repl{place_of}"])
        for place_of, name in enumerate(numeric)
        if row[f"reco{place_of}"] != row[f"repl{place_of}"]
    }
    examples = collected(both.where("NOT same").orderBy("id", "turn").limit(EXAMPLES))
    return RowComparison(
        stream=found.stream,
        after=found.after,
        upto=found.upto,
        same=row["same"],
        changed=row["changed"],
        missing=row["missing"],
        extra=row["extra"],
        by_column={n: row[f"c{p}"] for p, n in enumerate(names) if row[f"c{p}"]},
        totals=totals,
        examples=tuple(map(_example, examples)),
        file=found.file,
    )


def _is_numeric(both: DataFrame, name: str) -> bool:
    for side in ("recorded", "replayed"):
        row = both.schema[side].dataType
        assert isinstance(row, StructType)
        if name not in row.names or not isinstance(row[name].dataType, NumericType):
            return False
    return True


def _example(row: dict[str, Any]) -> ComparedRow:
    """A row of which only what differs is shown, where both sides have it."""
    before, after = row["recorded"], row["replayed"]
    if before is not None and after is not None:
        different = [n for n in {**before, **after} if before.get(n) != after.get(n)]
        before = {n: before.get(n) for n in different}
        after = {n: after.get(n) for n in different}
    return ComparedRow(
        row["id"],
        None if before is None else plain(before),
        None if after is None else plain(after),
    )
