"""Aggregates of windows against Spark's own, over the same rows: types, nulls, decimals, order."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark.windowing import run_once
from weft.windows.aggregate import parse_aggregates
from weft.windows.attached import Attached, AttachError, batch_of
from weft.windows.panes import attach
from weft.windows.window import WindowSpec

ROWS = 3_000
BUCKETS = 2
SLIDING = WindowSpec.from_dict({"type": "sliding", "size_ms": 1000, "slide_ms": 250})


KNOTS = [(1, 500), (2, 1_000_000)]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Numbers with nulls, ties and both signs, of three keys, in two knots."""
    stream = spark.range(ROWS).selectExpr(
        "if(id % 3 = 0, null, concat('k', id % 3)) AS key",
        "if(id % 7 = 0, null, cast((id * 37) % 101 - 50 as int)) AS x",
        "id AS n",
        "named_struct('id', format_string('%05d', id), 'knot', 1 + id % 2, "
        "'event_time', timestamp_millis(600 + (id * 13) % 2000), 'watermark', "
        "if(id % 2 = 0, null, timestamp_millis(500))) AS _weft",
    )
    return stream.cache()


def window_over(rows: DataFrame, written: dict[str, str], by: list[str]) -> Attached:
    """A sliding window over these rows."""
    return attach(
        rows.sparkSession,
        [rows.schema],
        window=SLIDING,
        by=by,
        aggregates=parse_aggregates(written),
        buckets=BUCKETS,
        pipeline="test",
    )


def pane_rows(rows: DataFrame, written: dict[str, str], by: list[str]) -> dict[Any, Any]:
    """The panes of a sliding window over all rows, by window and key."""
    with TemporaryDirectory() as folder:
        batch = batch_of(rows, KNOTS, rows.count())
        made = run_once(window_over(rows, written, by), Path(folder), batch)
        panes = made.where("pane is not null").select("pane.*").collect()
    return {(pane.window.start, *(pane[name] for name in by)): pane for pane in panes}


def spark_rows(rows: DataFrame, written: dict[str, str], by: list[str]) -> dict[Any, Any]:
    """The same by Spark's own aggregation in one batch."""
    window = "window(_weft.event_time, '1 second', '250 milliseconds')"
    aggregates = ", ".join(f"{text} AS {name}" for name, text in written.items())
    rows.createOrReplaceTempView("aggregated_rows")
    keys = "".join(f", {name}" for name in by)
    found = rows.sparkSession.sql(
        f"SELECT {window}.start AS window_start{keys}, {aggregates} FROM aggregated_rows "
        f"GROUP BY {window}{keys}"
    ).collect()
    return {(row.window_start, *(row[name] for name in by)): row for row in found}


WRITTEN = {
    "every": "count(*)",
    "some": "count(x)",
    "total": "sum(x)",
    "thirds": "sum(cast(x as decimal(10,2)) / 3)",
    "money": "sum(cast(x as decimal(10,2)))",
    "big": "sum(cast(x as decimal(38,2)))",
    "fractions": "sum(x / 8.0d)",
    "mean": "avg(x)",
    "exact_mean": "avg(cast(x as decimal(10,2)))",
    "low": "min(x)",
    "high": "max(cast(x as double))",
    "text": "max(cast(x as string))",
    "moment": "min(_weft.event_time)",
    "truth": "max(x > 3)",
    "spread": "stddev(x)",
    "spread_of_all": "stddev_pop(x)",
    "distance": "variance(x)",
    "kinds": "approx_count_distinct(x)",
    "half": "approx_percentile(x, 0.5)",
    "parts": "approx_percentile(x, array(0.1, 0.9))",
    "nothing": "sum(cast(null as int))",
    "no_mean": "avg(cast(null as decimal(5,1)))",
    "none": "max(cast(null as string))",
}
CLOSE = ("spread", "spread_of_all", "distance")


@pytest.mark.parametrize("by", [["key"], []], ids=["by key", "without a key"])
def test_values_and_types_equal_those_of_spark(rows: DataFrame, by: list[str]) -> None:
    ours, theirs = pane_rows(rows, WRITTEN, by), spark_rows(rows, WRITTEN, by)
    assert ours.keys() == theirs.keys()
    for key, pane in ours.items():
        for name in WRITTEN:
            if name in CLOSE:
                assert math.isclose(pane[name], theirs[key][name], rel_tol=1e-9), name
            elif name == "kinds":
                assert abs(pane[name] - theirs[key][name]) <= 0.15 * theirs[key][name]
            else:
                assert pane[name] == theirs[key][name], name
    first = window_over(rows, WRITTEN, by).schema["pane"]
    typed = spark_types(rows)
    assert {field.name: field.dataType for field in first.dataType.fields[1 + len(by) :]} == typed


def spark_types(rows: DataFrame) -> dict[str, Any]:
    frame = rows.selectExpr(*(f"{text} AS {name}" for name, text in WRITTEN.items()))
    types = {field.name: field.dataType for field in frame.schema}
    return {name: _without_nulls(kind) for name, kind in types.items()}


def _without_nulls(kind: Any) -> Any:
    if hasattr(kind, "containsNull"):
        kind.containsNull = False
    return kind


def test_order_is_that_of_event_time_and_then_of_knots(rows: DataFrame) -> None:
    written = {
        "first_n": "first(n)",
        "last_n": "last(n)",
        "first_x": "first(x, true)",
        "first_or_null": "first(x)",
        "ns": "collect_list(n)",
        "xs": "collect_set(x)",
        "best": "max_by(n, x)",
        "worst": "min_by(n, x)",
    }
    panes = pane_rows(rows, written, ["key"])
    plain = {
        "all": "sort_array(collect_list(struct(_weft.event_time as e, _weft.knot as k, _weft.id as i, n, x)))"
    }
    for key, row in spark_rows(rows, plain, ["key"]).items():
        ordered, pane = row["all"], panes[key]
        known = [each for each in ordered if each.x is not None]
        assert pane.ns == [each.n for each in ordered]
        assert pane.first_n == ordered[0].n
        assert pane.last_n == ordered[-1].n
        assert pane.first_or_null == ordered[0].x
        assert pane.first_x == known[0].x
        assert pane.xs == sorted({each.x for each in known})
        assert pane.best == max(known, key=lambda each: each.x).n
        assert pane.worst == min(known, key=lambda each: each.x).n


def test_a_sum_that_does_not_fit_is_null(rows: DataFrame) -> None:
    written = {"whole": f"sum({2**62})", "exact": "sum(cast(9e37 as decimal(38,0)))"}
    for pane in pane_rows(rows, written, ["key"]).values():
        if pane.window.records > 2:
            assert pane.whole is None
            assert pane.exact is None


def test_many_values_are_estimated_within_the_promised_error(
    spark: SparkSession, rows: DataFrame
) -> None:
    wide = rows.selectExpr(
        "explode(sequence(n * 100 + 1, n * 100 + 100)) AS v", "key", "n", "_weft"
    )
    written = {"kinds": "approx_count_distinct(v)", "high": "approx_percentile(v, 0.9)"}
    for pane in pane_rows(wide, written, []).values():
        assert abs(pane.kinds - pane.window.records) < 0.06 * pane.window.records
        assert pane.high is not None


def test_an_expression_that_does_not_fit_is_refused(rows: DataFrame) -> None:
    for text in ("sum(key)", "sum(nowhere)", "approx_percentile(key, 0.5)"):
        with pytest.raises(AttachError) as refused:
            pane_rows(rows, {"wrong": text}, ["key"])
        assert refused.value.code == "window.attach"
