"""What is built on windows and their state: joins, reducers, deduplication, looking into the
state.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark.windowing import (
    BUCKETS,
    COLUMNS,
    WindowRun,
    batch_of_knots,
    pane_of,
    run_once,
)
from tests.unit.windows.model import Knot, Row
from weft.schema.schema import Schema
from weft.windows import dedupe, fold, join
from weft.windows.aggregate import Aggregate
from weft.windows.attached import State, batch_of
from weft.windows.panes import attach
from weft.windows.state import read_windows
from weft.windows.window import WindowSpec

LATENESS = WindowSpec.from_dict({"type": "tumbling", "size_ms": 10, "allowed_lateness_ms": 100})
SESSION = WindowSpec.from_dict({"type": "session", "gap_ms": 10, "allowed_lateness_ms": 100})


LEFT = [Knot([Row(1, 10, "a"), Row(2, 11, "a"), Row(3, 12, "b"), Row(4, 13, None)]), Knot([], 50)]
RIGHT = [Knot([Row(5, 20, "a"), Row(6, 21, "c"), Row(7, 22, None), Row(11, 23, "b")]), Knot([], 50)]
INNER = [("a", 10, 20), ("a", 11, 20)]
LONELY_LEFT = [("b", 12, None), (None, 13, None)]
LONELY_RIGHT = [("c", None, 21), (None, None, 22), ("b", None, 23)]


def joined_rows(
    spark: SparkSession, folder: Path, left: list[Knot], right: list[Knot], kind: join.Kind
) -> DataFrame:
    """What a join makes of two streams in one batch."""
    on = {"key": "key"}
    attached = join.attach(
        spark, COLUMNS, COLUMNS, window=LATENESS, on=on, buckets=BUCKETS, pipeline="join"
    )
    batches = [batch_of_knots(spark, knots) for knots in (left, right)]
    return join.paired(run_once(attached, folder, *batches), on=on, kind=kind)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("inner", INNER),
        ("left", INNER + LONELY_LEFT),
        ("right", INNER + LONELY_RIGHT),
        ("full", INNER + LONELY_LEFT + LONELY_RIGHT),
    ],
)
def test_rows_of_two_streams_join_within_their_window(
    spark: SparkSession, tmp_path: Path, kind: join.Kind, expected: list[tuple[Any, ...]]
) -> None:
    joined = joined_rows(spark, tmp_path, LEFT, RIGHT, kind)
    rows = joined.where("pane is not null").select("pane.*").collect()
    found = [(r.key, r.left and r.left.value, r.right and r.right.value) for r in rows]
    assert sorted(found, key=str) == sorted(expected, key=str)
    reports = [json.loads(row.report) for row in joined.where("report is not null").collect()]
    assert sum(report["absorbed"] for report in reports) == 8


def test_a_late_row_revises_the_join_and_waits_for_the_slower_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    left = [Knot([Row(1, 10, "a")], 50), Knot([Row(2, 11, "a")], 50)]
    right = [Knot([Row(5, 20, "a")], 9), Knot([], 20)]
    joined = joined_rows(spark, tmp_path, left, right, "full")
    rows = joined.where("pane is not null").select("pane.*").collect()
    told = {(r.window.kind, r.window.revision, r.left.value, r.right.value) for r in rows}
    assert told == {("on_time", 0, 10, 20), ("on_time", 0, 11, 20)}


class Longest:
    """The longest run of rising values."""

    def create(self) -> list[int]:
        return [0, 0, -1]

    def add(self, accumulator: list[int], row: Mapping[str, Any]) -> list[int]:
        best, run, last = accumulator
        run = run + 1 if row["value"] > last else 1
        return [max(best, run), run, row["value"]]

    def result(self, accumulator: list[int]) -> dict[str, Any]:
        return {"longest": accumulator[0]}


def test_a_reducer_of_python_folds_the_rows_of_a_pane(spark: SparkSession, tmp_path: Path) -> None:
    rows = [Row(at, value, "a") for at, value in enumerate([1, 5, 6, 7, 2, 3])]
    attached = attach(
        spark,
        [COLUMNS],
        window=LATENESS,
        by=["key"],
        aggregates=[Aggregate("n", "count"), fold.rows_of(COLUMNS)],
        buckets=BUCKETS,
        pipeline="reduce",
    )
    made = run_once(attached, tmp_path, batch_of_knots(spark, [Knot(rows, 50)]))
    panes = fold.folded(made, Longest, returns=Schema.of({"longest": "int"}))
    pane = panes.where("pane is not null").select("pane.*").collect()[0]
    assert (pane.key, pane.n, pane.longest) == ("a", 6, 4)
    assert panes.where("report is not null").count() == BUCKETS


def deduplicated(
    spark: SparkSession, folder: Path, spec: dedupe.DedupeSpec, knots: list[Knot]
) -> list[Any]:
    """What deduplication makes of a stream in one batch."""
    attached = dedupe.attach(spark, COLUMNS, spec, buckets=BUCKETS, pipeline="dedupe")
    return run_once(attached, folder, batch_of_knots(spark, knots)).collect()


def test_duplicates_within_the_time_are_dropped_and_old_records_are_late(
    spark: SparkSession, tmp_path: Path
) -> None:
    knots = [
        Knot([Row(100, 1, "a"), Row(101, 2, "a"), Row(102, 3, "b")], 100),
        Knot([Row(95, 4, "a"), Row(149, 5, "a"), Row(150, 6, "a"), Row(40, 7, "z")], 200),
        Knot([Row(210, 8, "a"), Row(210, 9, "b"), Row(120, 10, "b")], 210),
    ]
    spec = dedupe.DedupeSpec(by=("key",), within_ms=50)
    rows = deduplicated(spark, tmp_path, spec, knots)
    assert sorted(row.row.value for row in rows if row.row) == [1, 3, 6, 8, 9]
    assert sorted(row.late.value for row in rows if row.late) == [7, 10]
    reports = [json.loads(row.report) for row in rows if row.report]
    assert sum(report["absorbed"] for report in reports) == 3
    assert sum(report["panes"] + report["absorbed"] + report["late"] for report in reports) == 10


def test_a_time_without_end_remembers_every_key(spark: SparkSession, tmp_path: Path) -> None:
    knots = [
        Knot([Row(100, 1, "a")], 1_000_000_000_000),
        Knot([Row(5, 2, "a"), Row(7, 3, "b")], 1_000_000_000_001),
        Knot([Row(1_000_000_000_000, 4, "b")], None),
    ]
    spec = dedupe.DedupeSpec(by=("key",), within_ms=2**63 - 1)
    rows = deduplicated(spark, tmp_path, spec, knots)
    assert sorted(row.row.value for row in rows if row.row) == [1, 3]
    assert [row.late for row in rows if row.late] == []


@pytest.mark.parametrize("state", ["rocksdb", "memory"])
def test_what_is_kept_can_be_looked_up_by_key_and_batch(
    spark: SparkSession, tmp_path: Path, state: State
) -> None:
    run = WindowRun(spark, tmp_path, [LATENESS], state=state)
    run.start()
    run.feed([Knot([Row(1, 1, "ab"), Row(12, 2, "ab"), Row(13, 3, "ac"), Row(14, 4, "b")], 5)])
    run.feed([Knot([Row(15, 5, "ac")], 111)])
    now = read_windows(spark, run.checkpoint(), state=state)
    assert [(kept.key, kept.records) for kept in now] == [("ab", 1), ("ac", 2), ("b", 1)]
    assert now[1].values == {"values": "[3,5]"}
    before = read_windows(spark, run.checkpoint(), batch=0, prefix="a", state=state)
    assert [(kept.key, kept.records) for kept in before] == [("ab", 1), ("ab", 1), ("ac", 1)]
    page = read_windows(
        spark,
        run.checkpoint(),
        batch=0,
        after=before[0].position(),
        limit=2,
        state=state,
    )
    assert page == [*before[1:]]


def test_an_added_aggregate_starts_with_the_next_window(
    spark: SparkSession, tmp_path: Path
) -> None:
    values = Aggregate("values", "collect_list", ("value",))
    run = WindowRun(spark, tmp_path, [LATENESS, SESSION], aggregates=[values])
    run.start()
    run.feed([Knot([Row(1, 1, "a")], 0)])
    run.aggregates = [values, Aggregate("total", "sum", ("value",))]
    run.start()
    answer = run.feed([Knot([Row(2, 2, "a"), Row(50, 3, "a")], 0), Knot([], 100)])
    told = {(number, pane_of(pane)[1:4], pane.total) for number, pane in answer.panes}
    assert told == {
        (0, (0, 10, (1, 2)), None),
        (0, (50, 60, (3,)), 3),
        (1, (1, 12, (1, 2)), None),
        (1, (50, 60, (3,)), 3),
    }


@pytest.mark.parametrize(
    ("rows", "files", "is_handed_on"),
    [(0, 0, False), (2_000, 8, False), (2_001, 1, True), (1, 9, True)],
)
def test_a_batch_is_handed_on_unless_it_is_little_in_few_files(
    spark: SparkSession, tmp_path: Path, rows: int, files: int, is_handed_on: bool
) -> None:
    attached = attach(
        spark, [COLUMNS], window=LATENESS, by=["key"], aggregates=[], buckets=2, pipeline="window"
    )
    batch = batch_of(spark.createDataFrame([], COLUMNS), [(1, None)], rows, files=files)
    made: Any = run_once(attached, tmp_path, batch)
    assert ("ShuffledRDD" in made._jdf.queryExecution().toRdd().toDebugString()) == is_handed_on


@pytest.mark.parametrize("kind", ["rocksdb", "memory"])
def test_the_size_of_state_is_known_while_a_batch_runs_and_counted_once(
    spark: SparkSession, tmp_path: Path, kind: State
) -> None:
    attached = attach(
        spark,
        [COLUMNS],
        window=SESSION,
        by=["key"],
        aggregates=[],
        buckets=4,
        pipeline="window",
        state=kind,
    )

    def begun(number: int, count: int) -> DataFrame:
        rows = [Row(number, number, f"k{each}") for each in range(count)]
        batch = batch_of_knots(spark, [Knot(rows)], after=number)
        return attached.run([batch], checkpoint=str(tmp_path), batch=number, partitions=2)

    assert attached.state_size() == (0, 0)
    begun(0, 3).collect()
    entries, held = attached.state_size()
    assert entries > 0 and held > 0
    made = begun(1, 30)
    assert attached.state_size() == (entries, held)
    made.collect()
    more, _ = attached.state_size()
    assert more > entries
    made.collect()
    assert attached.state_size()[0] == more
