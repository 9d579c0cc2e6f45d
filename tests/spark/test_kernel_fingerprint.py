"""The hash of records: the same in Java and Python, in any order, and for rows read back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from tests.spark.streams import Stream, schema_of
from weft.lineage.fingerprint import fingerprint, record_hash
from weft.runtime import session, spine
from weft.streams import kernel_rehash

EVERY_TYPE = """
  a boolean, b tinyint, c smallint, d int, e bigint, f float, g double, h string, i binary, j date,
  k timestamp, l timestamp_ntz, m decimal(10,2), n decimal(38,10), o array<int>,
  p map<string,bigint>, q struct<x: int, y: struct<z: string>>,
  r array<struct<x: string, y: array<double>>>, s map<struct<x: int>, array<string>>,
  t interval day to second, u decimal(18,0), _weft struct<id: string>
"""
FULL: Mapping[str, Any] = {
    "a": True,
    "b": -7,
    "c": -300,
    "d": 2**31 - 1,
    "e": -(2**63),
    "f": 1.5,
    "g": -0.1,
    "h": "Grüße, 世界 \N{CHEESE WEDGE}",
    "i": bytearray(b"\x00\xff"),
    "j": date(1969, 12, 31),
    "k": datetime(2026, 1, 1, 12, 0, 0, 1, tzinfo=UTC),
    "l": datetime(1960, 1, 1, 1, 2, 3, tzinfo=UTC).replace(tzinfo=None),
    "m": Decimal("-1.28"),
    "n": Decimal("12345678901234567890.0123456789"),
    "o": [1, None, -3],
    "p": {"b": 1, "a": None, "": 3},
    "q": Row(x=None, y=Row(z="deep")),
    "r": [Row(x="x", y=[1.0, math.nan]), None],
    "s": {Row(x=2): ["b"], Row(x=1): []},
    "t": timedelta(days=-1, microseconds=5),
    "u": Decimal(2**59 - 1),
    "_weft": Row(id="orders/0/1"),
}
CASES: list[Mapping[str, Any]] = [
    FULL,
    dict.fromkeys(FULL),
    {**FULL, "f": math.nan, "g": math.nan},
    {**FULL, "f": -0.0, "g": 0.0, "h": "", "i": bytearray(), "o": [], "p": {}, "s": {}},
    {**FULL, "f": math.inf, "g": -math.inf, "m": Decimal("0.00"), "n": Decimal(-1)},
    {**FULL, "m": Decimal("99999999.99"), "u": Decimal(-128), "h": "x" * 5000},
    {**FULL, "_weft": Row(id=None)},
    {**FULL, "m": Decimal("1.27"), "o": list(range(300)), "q": None},
]


def frame_of(spark: SparkSession, records: list[Mapping[str, Any]]) -> DataFrame:
    schema = schema_of(EVERY_TYPE)
    rows = [tuple(record[field.name] for field in schema) for record in records]
    return spark.createDataFrame(rows, schema)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_java_and_python_agree_on_every_type(spark: SparkSession, case: int) -> None:
    schema = json.loads(schema_of(EVERY_TYPE).json())
    record = {**CASES[case]}
    if record["_weft"] is not None:
        record["_weft"] = record["_weft"].asDict()
    found = kernel_rehash.fingerprint(frame_of(spark, [CASES[case]]))
    assert found == {"rows": 1, "hash": record_hash(record, schema).hex()}


def test_order_and_partitions_do_not_matter(spark: SparkSession) -> None:
    schema = json.loads(schema_of(EVERY_TYPE).json())
    records = [{**c, "_weft": c["_weft"] and c["_weft"].asDict()} for c in CASES]
    expected = {"rows": len(CASES), "hash": fingerprint(records, schema)}
    frame = frame_of(spark, CASES)
    for arranged in (frame, frame.coalesce(1), frame.repartition(3), frame.sort(f.desc("e"), "m")):
        assert kernel_rehash.fingerprint(arranged) == expected


def test_rows_read_back_have_the_hash_that_was_recorded(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = frame_of(spark, CASES).drop("t")
    woven = frame.select(f.struct(*frame.columns).alias("out"), f.lit(0).alias("verdict"))
    written = spine.write(woven, prefix="k", outputs={"out": str(tmp_path)}).outputs["out"]
    back = spark.read.schema(frame.schema).parquet(str(tmp_path))
    assert kernel_rehash.fingerprint(back) == {"rows": written.rows, "hash": written.hash}
    assert kernel_rehash.fingerprint(frame)["hash"] == written.hash


def test_a_column_added_later_does_not_change_old_rows(spark: SparkSession, tmp_path: Path) -> None:
    rows = Stream(spark, tmp_path).rows([1, 2, 3], 1)
    wider = rows.select("n", f.lit(None).cast("string").alias("note"), "_weft")
    assert kernel_rehash.fingerprint(wider) == kernel_rehash.fingerprint(rows)


def test_any_change_changes_the_hash(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    hashes = [
        kernel_rehash.fingerprint(stream.rows(values, 1))["hash"]
        for values in ([], [1], [1, 1], [2], [1, 2], [1, 3])
    ]
    assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize("generated", [True, False])
def test_a_record_between_steps_has_the_hash_of_the_row_it_would_be(
    spark: SparkSession, generated: bool
) -> None:
    forked = session.fork(spark)
    forked.conf.set("spark.sql.codegen.wholeStage", str(generated).lower())
    forked.conf.set("spark.sql.codegen.factoryMode", "CODEGEN_ONLY" if generated else "NO_CODEGEN")
    schema = json.loads(schema_of(EVERY_TYPE).json())
    expected = [
        record_hash({**case, "_weft": case["_weft"] and case["_weft"].asDict()}, schema)
        for case in CASES
    ]
    names = [field["name"] for field in schema["fields"] if field["name"] != "_weft"]
    # Of values that were just made, too: they do not lie in a row's memory.
    made = {"h": "concat(h, '')", "q": "named_struct('x', q.x, 'y', q.y)", "m": "m + 0.00BD"}
    made |= {"o": "transform(o, x -> x)", "p": "map_from_entries(map_entries(p))"}
    for changed in ({}, made):
        values = [changed.get(name, name) for name in names]
        values = [
            f"CASE WHEN q IS NOT NULL THEN {value} END" if name == "q" else value
            for name, value in zip(names, values, strict=True)
        ]
        values = [
            f"CAST({value} AS decimal(10,2))" if name == "m" else value
            for name, value in zip(names, values, strict=True)
        ]
        frame = forked.createDataFrame(frame_of(spark, CASES).collect(), schema_of(EVERY_TYPE))
        hashed = frame.selectExpr(f"weft_hash(_weft.id, {', '.join(values)}) AS hash")
        assert [bytes(row.hash) for row in hashed.collect()] == expected
