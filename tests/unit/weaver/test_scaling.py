"""How many executors a worker should have: decided from its load, told with its orders, and judged."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.weaver.chain import make_weaver, tie
from tests.unit.weaver.test_http import ask
from weft.clock import ManualClock
from weft.scaling.measured import ExecutorsNow, PipelineWork, WorkerLoad
from weft.weaver import decisions
from weft.weaver.weaver import Weaver
from weft.weaver.workers import Running, WorkerReport
from weft.weaving.rule import Rule

START = datetime(2026, 1, 1, tzinfo=UTC)
EXECUTORS = ExecutorsNow(
    running=1, asked=1, cores=1, minimum=1, maximum=20, elastic=True, start_up_s=10.0
)


class Busy:
    """A weaver with one worker, whose load a test says."""

    def __init__(self) -> None:
        self.clock = ManualClock(START)
        self.weaver = make_weaver(self.clock)
        tie(self.weaver, "clean")
        self.executors = EXECUTORS

    def work(self, rows: int, *, backlog: int = 0, per_core: int = 100) -> None:
        """A minute in which so many records a second came, of which a core serves so many."""
        for _ in range(12):
            self.clock.advance(timedelta(seconds=5))
            work = PipelineWork(
                seconds=5.0,
                rows_in=rows * 5,
                run_s=rows * 5 / per_core,
                batches=1,
                arrived=rows * 5,
                backlog=backlog,
            )
            self.weaver.workers.note(_report())
            self.weaver.scaling.heard("w", WorkerLoad(self.executors, {"clean": work}))

    def decide(self) -> decisions.ScalingDecision:
        asyncio.run(self.weaver.scaling.decide())
        return self.weaver.scaling.decisions.newest()[0]

    def obey(self) -> None:
        wanted = self.weaver.scaling.wanted("w")
        assert wanted is not None
        self.executors = replace(self.executors, running=wanted, asked=wanted, cores=wanted)


def _report() -> WorkerReport:
    return WorkerReport("w", "host", 1, "spark://host:7077", "now", {"clean": Running(1)})


def test_as_many_are_wanted_as_the_work_needs() -> None:
    busy = Busy()
    busy.work(500)
    decision = busy.decide()
    # 500 records a second at a hundredth of a second each are five executors, at four fifths of their time seven.
    assert (decision.had, decision.wanted, decision.acted, decision.by) == (1, 7, True, "ds2")
    assert busy.weaver.scaling.wanted("w") == 7
    events = busy.weaver.events.since(0)
    assert [event.facts["wanted"] for event in events if event.kind == "executors.changed"] == [7]


def test_the_work_for_batches_that_take_longer_than_a_report_is_not_forgotten() -> None:
    busy = Busy()
    for place in range(12):
        busy.clock.advance(timedelta(seconds=5))
        # A batch of twenty seconds: its tasks end all the time, its records are counted at its end.
        rows = 2_000 if place % 4 == 3 else 0
        work = PipelineWork(seconds=5.0, rows_in=rows, run_s=5.0, arrived=500, backlog=0)
        busy.weaver.workers.note(_report())
        busy.weaver.scaling.heard("w", WorkerLoad(busy.executors, {"clean": work}))
    # A hundred a second at a hundredth of a second each.
    assert busy.weaver.scaling.cost("clean").core_s == pytest.approx(0.01)
    assert busy.decide().wanted == 2


def test_a_worker_that_has_asked_is_not_told_again() -> None:
    busy = Busy()
    busy.work(500)
    busy.decide()
    busy.executors = replace(EXECUTORS, asked=7)
    busy.work(500)
    assert busy.weaver.scaling.wanted("w") is None
    decision = busy.decide()
    assert (decision.had, decision.wanted, decision.acted) == (7, 7, False)


def test_a_rule_that_was_attached_is_answered_before_anything_waits() -> None:
    busy = Busy()
    busy.work(500)
    busy.decide()
    busy.obey()
    busy.work(500)
    assert busy.decide().wanted == 7
    busy.weaver.rules.attach(Rule("dear", "clean", steps=()))
    busy.work(500)
    assert busy.decide().wanted > 7


def test_where_executors_cannot_be_changed_the_number_is_advice() -> None:
    busy = Busy()
    busy.executors = ExecutorsNow(running=1, asked=1, cores=1)
    busy.work(500)
    decision = busy.decide()
    assert (decision.wanted, decision.acted) == (7, False)
    assert busy.weaver.scaling.wanted("w") is None


def test_a_decision_is_judged_when_its_executors_have_been_there() -> None:
    busy = Busy()
    busy.work(500, backlog=100_000)
    busy.decide()
    busy.obey()
    busy.work(500)
    busy.decide()
    busy.work(500)
    busy.decide()
    first = busy.weaver.scaling.decisions.newest()[-1]
    assert first.judged is not None
    assert first.judged.verdict == "kept" and round(first.judged.came, 2) == 6.25
    late = Busy()
    late.work(500)
    late.decide()
    late.work(500, backlog=100_000)
    late.decide()
    late.work(500, backlog=100_000)
    late.decide()
    judged = late.weaver.scaling.decisions.newest()[-1].judged
    assert judged is not None and judged.verdict == "broken" and judged.lag_s > 60


def test_a_weaver_that_starts_goes_on_from_what_workers_say() -> None:
    busy = Busy()
    busy.work(500)
    busy.decide()
    again = Weaver(busy.weaver.store, clock=busy.clock)
    assert again.scaling.wanted("w") is None
    busy.weaver = again
    busy.executors = replace(EXECUTORS, running=7, asked=7, cores=7)
    busy.work(500)
    decision = busy.decide()
    assert (decision.number, decision.had, decision.wanted) == (2, 7, 7)


def test_a_weaver_that_dies_in_the_middle_of_a_decision_tells_it_once_and_judges_it() -> None:
    busy = Busy()
    busy.work(500)
    busy.decide()
    busy.weaver = Weaver(busy.weaver.store, clock=busy.clock)
    busy.work(500)
    assert busy.weaver.scaling.wanted("w") == 7
    decision = busy.decide()
    assert (decision.number, decision.had, decision.acted) == (2, 7, False)
    busy.obey()
    for _ in range(3):
        busy.work(500)
        busy.decide()
    assert busy.weaver.scaling.wanted("w") is None
    taken = busy.weaver.scaling.decisions.newest()
    assert [one.number for one in taken if one.acted] == [1]
    assert all(one.judged is not None for one in taken[2:])


def test_what_was_decided_long_before_a_start_is_not_done_after_it() -> None:
    busy = Busy()
    busy.work(500)
    busy.decide()
    for jump in (timedelta(hours=5), -timedelta(days=2)):
        busy.clock.set(busy.clock.now() + jump)
        busy.weaver = Weaver(busy.weaver.store, clock=busy.clock)
        busy.work(0)
        assert busy.weaver.scaling.wanted("w") is None


def test_a_weaver_that_starts_does_not_let_go_at_once_of_what_was_just_asked_for() -> None:
    busy = Busy()
    busy.work(500)
    busy.decide()
    busy.obey()
    busy.weaver = Weaver(busy.weaver.store, clock=busy.clock)
    busy.work(500)
    assert busy.weaver.scaling._watched["w"].quiet == 0


def test_a_worker_that_does_not_ask_is_decided_for_once() -> None:
    busy = Busy()
    for _ in range(4):
        busy.work(500)
        busy.decide()
    assert [one.acted for one in busy.weaver.scaling.decisions.newest()] == [False] * 3 + [True]
    assert busy.weaver.scaling.wanted("w") == 7


def test_executors_that_die_while_some_are_let_go_are_neither_missed_nor_asked_for_twice() -> None:
    busy = Busy()
    busy.executors = replace(EXECUTORS, running=7, asked=7, cores=7)
    busy.work(100)
    assert busy.decide().wanted == 2
    # All but one of those that were to stay died too; the master will start others by itself.
    for running in (1, 0, 2):
        busy.executors = replace(EXECUTORS, running=running, asked=2, cores=running)
        busy.work(100)
        decision = busy.decide()
        assert (decision.had, decision.wanted, decision.acted) == (2, 2, False)


@pytest.mark.parametrize("jump", [timedelta(days=3), timedelta(days=36_500), -timedelta(days=3)])
def test_a_clock_that_jumps_and_comes_back_changes_no_decision(jump: timedelta) -> None:
    busy = Busy()
    busy.executors = replace(EXECUTORS, running=7, asked=7, cores=7)
    for moved in (timedelta(), jump, -jump):
        busy.clock.set(busy.clock.now() + moved)
        for _ in range(3):
            busy.work(500)
            decision = busy.decide()
            assert (decision.wanted, decision.acted) == (7, False)
    history = busy.weaver.scaling.loads.history("clean")
    assert len(history.series("rate_in", 60)) <= 3 * 1440 + 10
    starts = [row.start_s for row in history.rows(60)]
    assert starts == sorted(set(starts)) and starts[-1] <= busy.clock.now().timestamp()


def test_a_rule_that_comes_and_goes_changes_the_number_twice_and_no_history() -> None:
    busy = Busy()
    wanted = []

    def minutes(count: int, per_core: int) -> None:
        for _ in range(count):
            tie(busy.weaver, "clean")
            busy.work(500, per_core=per_core)
            wanted.append(busy.decide().wanted)
            if busy.weaver.scaling.wanted("w") is not None:
                busy.obey()

    minutes(4, 100)
    busy.weaver.rules.attach(Rule("dear", "clean", steps=()))
    minutes(4, 80)
    busy.weaver.rules.retire("dear", because="it is over")
    minutes(4, 100)
    assert wanted[:4] == [7] * 4 and wanted[8:] == [7] * 4
    assert min(wanted[4:8]) > 7
    rates = busy.weaver.scaling.loads.history("clean").series("rate_in", 60)
    assert set(rates) == {500.0}


def test_old_decisions_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "KEPT", 3)
    busy = Busy()
    for _ in range(5):
        busy.work(10)
        busy.decide()
    assert [one.number for one in busy.weaver.scaling.decisions.newest()] == [5, 4, 3]
    assert [one.number for one in busy.weaver.scaling.decisions.newest(limit=1)] == [5]
    assert busy.weaver.scaling.decisions.newest(worker="other") == []


def test_a_worker_that_is_gone_is_not_decided_for() -> None:
    busy = Busy()
    busy.work(500)
    busy.clock.advance(timedelta(hours=2))
    asyncio.run(busy.weaver.scaling.decide())
    assert busy.weaver.scaling.decisions.newest() == []


def test_a_clock_that_is_set_back_stops_nothing() -> None:
    busy = Busy()
    busy.work(500)
    busy.clock.set(START - timedelta(days=3))
    busy.work(500)
    assert busy.decide().wanted == 7


def test_decisions_are_answered() -> None:
    busy = Busy()
    busy.work(500)
    busy.decide()
    found = ask("GET", "/scaling/decisions", weaver=busy.weaver).json()
    assert found[0]["wanted"] == 7 and found[0]["judged"] is None
    assert ask("GET", "/scaling/decisions?limit=0", weaver=busy.weaver).status_code == 422


def test_what_a_record_costs_is_told_with_one_more_rule() -> None:
    busy = Busy()
    busy.work(500)
    busy.weaver.rules.attach(Rule("dear", "orders", steps=()))
    found = ask("GET", "/scaling/cost?pipeline=clean&rule=dear", weaver=busy.weaver).json()
    assert found["core_s"] == pytest.approx(0.01)
    # One step and itself, and a rule more: three parts in place of two.
    assert found["core_s_with"] / found["core_s"] == pytest.approx(4 / 3)
    assert found["complexity"] == 2.0
    assert ask("GET", "/scaling/cost?pipeline=clean&rule=x", weaver=busy.weaver).status_code == 404
    unmeasured = ask("GET", "/scaling/cost?pipeline=clean", weaver=make_weaver())
    assert unmeasured.status_code == 422 and unmeasured.json()["code"] == "scaling.refused"
