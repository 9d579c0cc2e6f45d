"""The load of a pipeline: measured by its worker, stored page by page, answered by the API."""

from __future__ import annotations

import base64
import struct
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.weaver.chain import make_weaver, tie
from tests.unit.weaver.test_http import ask
from weft.clock import ManualClock
from weft.scaling.history import LoadPoint
from weft.scaling.measured import ExecutorsNow, PipelineWork, WorkerLoad
from weft.weaver.loads import LoadPage, Loads, point_of
from weft.weaver.store.records import Records, put

START = datetime(2026, 1, 1, tzinfo=UTC)
EXECUTORS = ExecutorsNow(running=2, asked=2, cores=4, memory=2**30)


def test_what_a_worker_measures_is_told_by_the_minute() -> None:
    clock = ManualClock(START)
    weaver = make_weaver(clock)
    tie(weaver, "clean")
    work = PipelineWork(
        seconds=5.0, rows_in=200, rows_out=100, batches=2, batch_s=0.5, run_s=2.0, cpu_s=1.0
    )
    for _ in range(26):
        weaver.scaling.heard("worker", WorkerLoad(EXECUTORS, {"clean": work}))
        clock.advance(timedelta(seconds=5))
    found = ask("GET", "/scaling/history?pipeline=clean", weaver=weaver).json()
    assert (found["pipeline"], found["stream"], found["step_s"]) == ("clean", "clean", 60)
    assert [row["points"] for row in found["rows"]] == [12, 12, 2]
    mean = found["rows"][0]["mean"]
    assert (mean["rate_in"], mean["rate_out"], mean["batch_ms"]) == (40.0, 20.0, 250.0)
    assert (mean["per_core_s"], mean["cpu"], mean["executors"]) == (100.0, 0.05000000074505806, 2.0)


def test_what_is_not_known_is_left_out() -> None:
    point = point_of(0.0, PipelineWork(seconds=0.0), EXECUTORS)
    assert (point.rate_in, point.cpu) == (0.0, 0.0)
    assert point.per_core_s != point.per_core_s and point.batch_ms != point.batch_ms
    nobody = ExecutorsNow(running=0, asked=0, cores=0)
    alone = point_of(0.0, PipelineWork(5.0, rows_in=5, run_s=1.0), nobody, backlog=9.0)
    assert alone.backlog == 9.0 and alone.backlog_s != alone.backlog_s


def test_what_was_stored_is_there_after_a_start_and_damage_is_left_out() -> None:
    clock = ManualClock(START)
    records = Records(make_weaver().store)
    loads = Loads(records, clock)
    begin = START.timestamp()
    for minute in range(180):
        loads.add("clean", LoadPoint(begin + minute * 60, rate_in=float(minute)))
    again = Loads(records, clock)
    assert again.history("clean").series("rate_in", 60).tolist() == [float(n) for n in range(179)]
    _, page, _ = records.scan(LoadPage, "loads", "clean", 60)
    broken = replace(page, rows=page.rows[:-8])
    records.store.apply([put("loads", "clean", 60, page.start_s, value=broken)])
    left = Loads(records, clock).history("clean")
    assert len(list(left.rows(60))) == 119


def test_pages_with_other_measures_are_read_as_far_as_they_go() -> None:
    records = Records(make_weaver().store)
    rows = b"".join(
        struct.pack("<qI4f", 60 * minute, 12, 1.0 + minute, 9.0, 2.0 + minute, 9.0)
        for minute in range(3)
    )
    page = LoadPage("clean", 60, 0, ("rate_in", "of_old"), base64.b64encode(rows).decode())
    records.store.apply([put("loads", "clean", 60, 0, value=page)])
    history = Loads(records, ManualClock(datetime(1970, 1, 1, tzinfo=UTC))).history("clean")
    found = list(history.rows(60))
    assert [(row.mean, row.peak) for row in found] == [
        ({"rate_in": 1.0 + minute}, {"rate_in": 2.0 + minute}) for minute in range(3)
    ]


def test_pages_that_are_too_old_go() -> None:
    clock = ManualClock(START)
    records = Records(make_weaver().store)
    loads = Loads(records, clock)
    for hour in range(24 * 9):
        loads.add("clean", LoadPoint(hour * 3600.0, rate_in=1.0))
        loads.add("clean", LoadPoint(hour * 3600.0 + 61, rate_in=1.0))
    starts = [page.start_s for page in records.scan(LoadPage, "loads", "clean", 60)]
    assert starts[0] == starts[-1] - 7 * 86_400 and len(starts) == 7 * 24 + 1


def test_a_pipeline_without_a_load_has_no_rows() -> None:
    assert ask("GET", "/scaling/history?pipeline=clean", weaver=make_weaver()).json()["rows"] == []


@pytest.mark.parametrize(
    ("query", "status"), [("pipeline=none", 404), ("", 422), ("pipeline=clean&step=7s", 422)]
)
def test_what_is_not_there_is_refused(query: str, status: int) -> None:
    assert ask("GET", f"/scaling/history?{query}", weaver=make_weaver()).status_code == status
