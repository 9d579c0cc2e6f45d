"""Workers as the weaver hears of them: connected while they start queries, and how long that takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.unit.weaver.chain import PROJECT
from weft.clock import ManualClock
from weft.loading.load import load
from weft.weaver.stats import PipelineStatus, describe
from weft.weaver.store.memory import MemoryStore
from weft.weaver.weaver import Weaver
from weft.weaver.workers import Running, WorkerReport


def make_report(**pipelines: Running) -> WorkerReport:
    return WorkerReport("w", "host", 1, "local[2]", "2026-01-01T00:00:00Z", pipelines)


def status_of(weaver: Weaver, name: str) -> PipelineStatus:
    return describe(weaver, weaver.catalog.pipeline(name))


def test_a_worker_that_is_busy_starting_queries_is_connected_and_they_say_for_how_long() -> None:
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    weaver = Weaver(MemoryStore(), clock=clock)
    writes, _ = weaver.catalog.deploy(load(PROJECT))
    weaver.store.apply(writes)

    weaver.workers.note(make_report())
    tokens = {name: one.token for name, one in weaver.workers.assign(make_report()).items()}
    for _ in range(9):
        clock.advance(timedelta(seconds=5))
        weaver.workers.renew("w", tokens)
    assert weaver.workers.connected() == ["w"]
    assert status_of(weaver, "clean").state == "starting"
    assert status_of(weaver, "clean").starting_s == 45

    weaver.workers.note(make_report(clean=Running(tokens["clean"])))
    weaver.workers.assign(make_report(clean=Running(tokens["clean"])))
    assert status_of(weaver, "clean").state == "running"
    assert status_of(weaver, "clean").starting_s is None
    assert status_of(weaver, "orders").starting_s == 45

    clock.advance(timedelta(seconds=60))
    assert weaver.workers.connected() == []
