"""The one pass that writes a batch: each struct to its stream, hashed and counted on the way."""

from __future__ import annotations

import gc
import hashlib
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, DataType, StructType

from tests.spark.streams import Stream, note
from weft.runtime import spine


def woven(stream: Stream, values: list[int], partitions: int = 2) -> DataFrame:
    """Numbers of which every third is dead and every fifth is filtered."""
    n, row = f.col("n"), f.struct("n", "_weft")
    dead, filtered = n % 3 == 0, n % 5 == 0
    return (
        stream.rows(values, 1)
        .repartition(partitions)
        .select(
            f.when(~dead & ~filtered, row).alias("out"),
            f.when(dead, f.struct(n.cast("string").alias("raw"))).alias("dead"),
            f.when(dead, 2).when(filtered, 1).when(n != 7, 0).alias("verdict"),
        )
    )


def test_every_struct_goes_to_its_own_stream(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path / "out")
    folders = {"out": stream.path, "dead": str(tmp_path / "dead")}
    result = spine.write(woven(stream, list(range(1, 31))), prefix="k1", outputs=folders)
    out, dead = result.outputs["out"], result.outputs["dead"]
    assert result.verdicts == {"0": 15, "1": 4, "2": 10, "null": 1}
    assert (out.rows, dead.rows) == (16, 10)
    assert out.bytes == sum(file.bytes for file in out.files)
    for folder, output in ((folders["out"], out), (folders["dead"], dead)):
        for file in output.files:
            data = (Path(folder) / file.path).read_bytes()
            assert file.bytes == len(data)
            assert file.sha256 == hashlib.sha256(data).hexdigest()
            assert spark.read.parquet(f"{folder}/{file.path}").count() == file.rows
    stream.table.commit(0, note(1), out.files)
    assert stream.read() == [n for n in range(1, 31) if n % 3 and n % 5]
    assert spark.read.parquet(folders["dead"]).count() == 10


def test_event_times_are_known_per_source_partition(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    times = f.expr("_weft.partition"), f.expr("_weft.event_time")
    rows = stream.rows([1, 2, 4, 8, 11, 15, 99], 1)
    frame = rows.select(f.when(f.col("n") != 8, f.struct("n", "_weft")).alias("out"), *times)
    outputs = {"out": stream.path}
    result = spine.write(frame, prefix="k", outputs=outputs, verdict=None, latest_ms=15_000)
    assert result.outputs["out"].rows == 6
    assert result.partitions == {
        "0": spine.PartitionSpan(ahead=0, max_event_time_us=8_000_000),
        "1": spine.PartitionSpan(ahead=1, max_event_time_us=15_000_000),
    }


def test_watched_columns_are_summed_up(spark: SparkSession, tmp_path: Path) -> None:
    columns = """inline(array(
        (1, 2L, 1.5D, 0.5F, 2.50BD, 'ab', X'00', true, array(1), timestamp '2026-01-01'),
        (3, 4L, double('nan'), 1.5F, 7.50BD, 'größe', X'0011', false, array(2), null),
        (null, null, null, null, null, null, null, null, null, null)))"""
    names = "i", "l", "d", "f", "m", "s", "b", "t", "a", "at"
    rows = spark.range(1).select(f.expr(columns).alias(*names)).repartition(2)
    frame = rows.select(f.struct(*names).alias("out"))
    result = spine.write(
        frame, prefix="k", outputs={"out": str(tmp_path)}, verdict=None, watched={"out": names}
    )
    found = result.columns["out"]
    means = {"i": 2, "l": 3, "d": 1.5, "f": 1, "m": 5, "s": 4.5, "b": 1.5, "t": 0.5}
    assert {name: one.mean for name, one in found.items() if one.mean is not None} == means
    assert {name: one.nulls for name, one in found.items()} == {**dict.fromkeys(names, 1), "at": 2}
    assert (found["m"].spread, found["d"].spread) == (2.5, 0)


def test_nothing_is_written_for_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path / "out")
    folders = {"out": stream.path, "dead": str(tmp_path / "dead")}
    none = spine.write(woven(stream, [1]).filter("false"), prefix="k", outputs=folders)
    assert none.verdicts == {}
    assert none.outputs["out"].hash == "0" * 64
    alive = spine.write(woven(stream, [1, 2]), prefix="k", outputs=folders)
    assert alive.outputs["dead"].files == ()
    assert not (tmp_path / "dead").exists()


def test_reports_come_back(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    frame = woven(stream, [1, 2]).withColumn("report", f.when(f.col("verdict") == 0, "ü"))
    result = spine.write(frame, prefix="k", outputs={"out": stream.path}, reports="report")
    assert result.reports == ("ü", "ü")


def test_a_failing_batch_leaves_the_table_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.tie(1, [1])
    broken = woven(stream, [1, 2]).withColumn("verdict", f.expr("1 / (out.n - 2)").cast("int"))
    with pytest.raises(PySparkException):
        spine.write(broken, prefix="k2", outputs={"out": stream.path})
    assert stream.read() == [1]


def test_a_prefix_that_a_path_cannot_hold_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    with pytest.raises(PySparkException):
        spine.write(woven(stream, [1]), prefix="../k", outputs={"out": stream.path})


NESTED = """
STRUCT<i: INT, l: BIGINT, d: DOUBLE, f: FLOAT, s: STRING, b: BINARY, t: BOOLEAN, y: TINYINT, h: SMALLINT,
  day: DATE, at: TIMESTAMP, plain: TIMESTAMP_NTZ, one: STRUCT<a: STRING, many: ARRAY<INT>>,
  texts: ARRAY<STRING>, deep: ARRAY<ARRAY<STRUCT<a: INT, b: ARRAY<STRING>>>>,
  parts: ARRAY<STRUCT<name: STRING, at: TIMESTAMP, tags: ARRAY<STRING>, inner: STRUCT<x: BIGINT, y: DATE>>>>
"""


@pytest.mark.parametrize("more", ["", ", m: DECIMAL(20, 2), p: MAP<STRING, INT>"])
def test_rows_are_read_as_they_were_written(spark: SparkSession, tmp_path: Path, more: str) -> None:
    """However they are nested, and wherever something is missing or empty; with types that Spark has to write too."""
    chance = Random(5)
    form = spark.sql(f"SELECT CAST(null AS {NESTED.strip()[:-1]}{more}>) AS out").schema
    kind = form["out"].dataType
    assert isinstance(kind, StructType)
    rows = [(tuple(_random_value(field.dataType, chance) for field in kind),) for _ in range(700)]
    frame = spark.createDataFrame(rows, form).repartition(3).cache()
    spine.write(frame, prefix="k", outputs={"out": str(tmp_path / "ours")}, verdict=None)
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    frame.select("out.*").write.parquet(str(tmp_path / "spark"))
    spark.conf.unset("spark.sql.parquet.outputTimestampType")
    read = [spark.read.parquet(str(tmp_path / name)) for name in ("ours", "spark")]
    assert [field.simpleString() for field in read[0].schema] == [
        field.simpleString() for field in read[1].schema
    ]
    ours, others = (sorted(map(str, each.collect())) for each in read)
    assert ours == others
    assert ours == sorted(str(row.out) for row in frame.collect())
    tables = [pq.read_table(tmp_path / name) for name in ("ours", "spark")]
    assert len({tuple(sorted(map(str, table.to_pylist()))) for table in tables}) == 1


def _random_value(kind: DataType, chance: Random) -> Any:
    """A value of a type, often none, and of lists and maps often an empty one."""
    if chance.random() < 0.25:
        return None
    if isinstance(kind, ArrayType):
        return [_random_value(kind.elementType, chance) for _ in range(chance.choice([0, 1, 2, 5]))]
    if isinstance(kind, StructType):
        return tuple(_random_value(field.dataType, chance) for field in kind)
    moment = datetime(1890, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(6_000_000_000))
    values: dict[str, Any] = {
        "date": moment.date(),
        "timestamp": moment,
        "timestamp_ntz": moment.replace(tzinfo=None),
        "binary": bytearray(chance.randbytes(chance.choice([0, 3, 40]))),
        "boolean": chance.random() < 0.5,
        "decimal(20,2)": Decimal(chance.randrange(10**17)) / 100,
        "map<string,int>": {f"k{each}": each for each in range(chance.choice([0, 1, 3]))},
        "double": chance.gauss(0, 1e9),
        "float": float(chance.randrange(1000)),
        "string": chance.choice(["", "größe", "x" * 300, str(chance.random())]),
    }
    return values.get(kind.simpleString(), chance.randrange(-100, 100))


def test_what_code_counts_with_is_known_as_long_as_the_code_is(spark: SparkSession) -> None:
    # Spark says in its log, with a stack trace, when a task has counted what nobody knows any more.
    known: Any = spark._jvm.org.apache.spark.util.AccumulatorContext  # type: ignore[union-attr]

    def compiled() -> tuple[spine.Code | None, range]:
        batch = spark.createDataFrame(spark.sparkContext.parallelize([(1,)]), "n int")
        first = known.newId()
        return spine.code_of(batch, batch.select(f.col("n") + 1)), range(first, known.newId())

    def counters(ids: range) -> list[int]:
        return [one for one in ids if known.get(one).isDefined()]

    code, ours = compiled()
    assert code is not None
    held = counters(ours)
    dropped = compiled()[1]
    while counters(dropped):
        gc.collect()
        spark._jvm.System.gc()  # type: ignore[union-attr]
    assert set(counters(ours)) & set(held)
