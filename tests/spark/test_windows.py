"""The window operator on Spark: panes and late rows equal the model's, however batches are cut."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from tests.spark.windowing import (
    BUCKETS,
    COLUMNS,
    Answer,
    WindowRun,
    batch_of_knots,
    pane_of,
    run_once,
    to_ms,
)
from tests.unit.windows.model import NEVER, Knot, Late, Model, Pane, Row
from tests.unit.windows.strategy import streams, windows
from weft.windows import join, panes
from weft.windows.aggregate import Aggregate
from weft.windows.state import read_windows
from weft.windows.window import WindowSpec

FEW = settings(
    max_examples=2,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
TUMBLING = WindowSpec.from_dict({"type": "tumbling", "size_ms": 10, "allowed_lateness_ms": 20})


def expected_pane(pane: Pane) -> tuple[Any, ...]:
    """A pane of the model in the form of `pane_of`."""
    bounds = (None if abs(bound) == NEVER else bound for bound in (pane.start, pane.end))
    values = tuple(sorted(pane.values))
    return (
        pane.key,
        *bounds,
        values,
        pane.timestamp,
        pane.kind,
        pane.revision,
        pane.final,
        len(values),
    )


def expected_late(late: Late) -> tuple[Any, ...]:
    """A late row of the model in the form of `late_of`."""
    return late.row.key, late.row.value, late.start, late.end, late.lateness


def late_of(row: Any) -> tuple[Any, ...]:
    """A late row in the form in which it is compared with the model's."""
    return row.key, row.value, *missed(row)


def missed(row: Any) -> tuple[Any, ...]:
    """The window that a row is late for, and by how much."""
    return to_ms(row.window_start), to_ms(row.window_end), row.lateness_ms


VALUE_OF_EITHER = "coalesce(left.value, right.value)"


def late_of_either(row: Any) -> tuple[Any, ...]:
    """A late row of a join in the same form."""
    side = row.left or row.right
    return side.key, side.value, *missed(row)


def compare(number: int, model: Model, knots: list[Knot], answer: Answer) -> None:
    """One batch of one window against the model, and its ledger."""
    told, late = model.run(knots)
    assert Counter(pane_of(pane) for at, pane in answer.panes if at == number) == Counter(
        expected_pane(pane) for knot in told for pane in knot
    )
    assert Counter(late_of(row) for at, row in answer.late if at == number) == Counter(
        expected_late(row) for knot in late for row in knot
    )
    reports = [report for at, report in answer.reports if at == number]
    fed = sum(len(knot.rows) for knot in knots)
    assert sum(report["absorbed"] + report["late"] for report in reports) == fed
    assert all(report["watermark"] == model.watermark for report in reports)


@pytest.mark.parametrize("part", range(4))
def test_panes_equal_the_model_through_any_batches_and_restarts(
    spark: SparkSession, part: int
) -> None:
    @seed(part)
    @FEW
    @given(
        specs=st.lists(windows(), min_size=6, max_size=6),
        knots=streams(most_knots=8),
        data=st.data(),
    )
    def check(specs: list[WindowSpec], knots: list[Knot], data: st.DataObject) -> None:
        with TemporaryDirectory() as folder:
            run = WindowRun(spark, Path(folder), specs)
            models = [Model(spec) for spec in specs]
            run.start()
            while knots:
                size = data.draw(st.integers(1, 4))
                batch, knots = knots[:size], knots[size:]
                answer = run.feed(batch)
                trouble = data.draw(st.sampled_from(["none", "none", "restart", "crash"]))
                if trouble == "crash":
                    answer = run.repeat()
                elif trouble == "restart":
                    run.start()
                for number, model in enumerate(models):
                    compare(number, model, batch, answer)

    check()


@pytest.mark.parametrize("part", range(3))
def test_records_of_two_streams_are_late_by_the_watermark_of_the_operator(
    spark: SparkSession, part: int
) -> None:
    """However far one stream is ahead of the other: the lower of the two watermarks decides."""

    @seed(part)
    @FEW
    @given(spec=windows(), left=streams(most_knots=8), right=streams(most_knots=8))
    def check(spec: WindowSpec, left: list[Knot], right: list[Knot]) -> None:
        with TemporaryDirectory() as folder:
            both = panes.attach(
                spark,
                [COLUMNS, COLUMNS],
                window=spec,
                by={"key": "_key_0"},
                aggregates=[Aggregate("values", "collect_list", (VALUE_OF_EITHER,))],
                buckets=BUCKETS,
                pipeline="two",
                knot=join.KNOT,
                sides=[["key"], ["key"]],
            )
            batches = [batch_of_knots(spark, knots) for knots in (left, right)]
            rows = run_once(both, Path(folder), *batches).collect()
        told, late = Model(spec).run(_merged(left, right))
        assert Counter(_untimed(pane_of(row.pane)) for row in rows if row.pane) == Counter(
            _untimed(expected_pane(pane)) for knot in told for pane in knot
        )
        assert Counter(late_of_either(row.late) for row in rows if row.late) == Counter(
            expected_late(row) for knot in late for row in knot
        )

    check()


def _merged(left: list[Knot], right: list[Knot]) -> list[Knot]:
    """The knots of two streams as the operator takes them: by number, and the left one first."""
    watermarks: list[int | None] = [None, None]
    knots = []
    for pair in zip_longest(left, right):
        for number, knot in enumerate(pair):
            if knot is None:
                continue
            if knot.watermark is not None:
                watermarks[number] = knot.watermark
            known = [mark for mark in watermarks if mark is not None]
            knots.append(Knot(knot.rows, min(known) if len(known) == 2 else None))
    return knots


def _untimed(pane: tuple[Any, ...]) -> tuple[Any, ...]:
    """A pane without its own time, for which a record counts by the watermark of its own stream."""
    return (*pane[:4], *pane[5:])


MAX = 2**63 - 1
LAST = datetime.max.replace(tzinfo=UTC)


def test_lengths_at_the_limits_of_a_long_wrap_around_nowhere(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Bounds that no timestamp reaches stop at the last one; such windows never end."""
    early = {"early": {"count": 2}}
    specs = [
        {"type": "session", "gap_ms": MAX, "trigger": early},
        {"type": "tumbling", "size_ms": MAX, "trigger": early},
        {"type": "tumbling", "size_ms": MAX, "offset_ms": MAX - 1, "trigger": early},
        {"type": "tumbling", "size_ms": MAX, "offset_ms": 1000, "trigger": early},
        {"type": "sliding", "size_ms": MAX, "slide_ms": MAX // 2, "trigger": early},
        {"type": "tumbling", "size_ms": MAX, "allowed_lateness_ms": MAX},
        {"type": "sliding", "size_ms": MAX, "slide_ms": MAX // 2 + 1, "allowed_lateness_ms": 5},
        {"type": "tumbling", "size_ms": 10, "allowed_lateness_ms": MAX - 5},
        {"type": "session", "gap_ms": 10, "trigger": {"early": {"every_ms": MAX}}},
    ]
    run = _Bounds(spark, tmp_path, [WindowSpec.from_dict(spec) for spec in specs])
    run.start()
    run.feed([Knot([Row(-5, 1, "a"), Row(5, 2, "a")], -1_000_000)])
    run.feed([Knot([Row(6, 3, "a"), Row(7, 4, "a")], 1_000_000_000_000)])
    [kept] = read_windows(spark, run.checkpoint())
    assert (kept.start_ms, kept.end_ms, kept.end) == (-5, MAX, LAST)
    low, high = -(2**63), 2**63 - 1
    told = run.told
    assert told[0] == [("early", -5000, high, [1, 2]), ("early", -5000, high, [1, 2, 3, 4])]
    assert told[1] == [("on_time", low, 0, [1]), ("early", 0, high, [2, 3, 4])]
    assert told[2] == [("on_time", low, -1000, [1]), ("early", -1000, high, [2, 3, 4])]
    assert told[3] == [
        ("early", low, 1_000_000, [1, 2]),
        ("early", low, 1_000_000, [1, 2, 3, 4]),
        ("on_time", low, 1_000_000, [1, 2, 3, 4]),
    ]
    assert told[4] == [
        ("early", low, high, [1, 2]),
        ("on_time", low, 1000, [1]),
        ("early", low, high, [1, 2, 3, 4]),
        ("early", 0, high, [2, 3, 4]),
    ]
    assert told[5] == [("on_time", low, 0, [1])]
    assert told[6] == [("on_time", low, -1000, [1])]
    assert told[7] == [("on_time", -10_000, 0, [1]), ("on_time", 0, 10_000, [2, 3, 4])]
    assert told[8] == [("on_time", -5000, 17_000, [1, 2, 3, 4])]


@dataclass
class _Bounds(WindowRun):
    """Keeps the panes of each window with bounds in microseconds, which Python need not hold."""

    told: defaultdict[int, list[Any]] = field(default_factory=lambda: defaultdict(list))

    def take(self, number: int, frame: DataFrame, answer: Answer) -> None:
        found = frame.where("pane is not null").selectExpr(
            "pane.window.kind kind",
            "pane.window.revision revision",
            "unix_micros(pane.window.start) start",
            "unix_micros(pane.window.end) end",
            "array_sort(pane.values) held",
        )
        for row in found.orderBy("start", "revision").collect():
            self.told[number].append((row.kind, row.start, row.end, row.held))


def test_state_of_finished_windows_is_removed(spark: SparkSession, tmp_path: Path) -> None:
    specs = [
        TUMBLING,
        WindowSpec.from_dict({"type": "sliding", "size_ms": 20, "slide_ms": 10}),
        WindowSpec.from_dict({"type": "session", "gap_ms": 5, "allowed_lateness_ms": 10}),
    ]
    run = WindowRun(spark, tmp_path, specs)
    run.start()
    sizes = []
    for hour in range(12):
        at = hour * 100
        answer = run.feed([Knot([Row(at + n, n, f"k{n % 3}") for n in range(100)], at + 50)])
        sizes.append(sum(report["windows"] for _, report in answer.reports))
    answer = run.feed([Knot([], 10_000)])
    assert max(sizes[2:]) == min(sizes[2:])
    assert sum(report["windows"] for _, report in answer.reports) == 0
    for number in range(len(specs)):
        # Only the head, the description and the layout of each bucket are left.
        assert run.state_size(number) == 3 * run.buckets
