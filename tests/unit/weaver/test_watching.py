"""What is unusual about knots: found as they are tied, learned again after a start, and taken back by people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from random import Random
from types import MappingProxyType

import pytest

from tests.samples.values import VALUES
from tests.unit.weaver.chain import made, make_weaver, pin
from tests.unit.weaver.test_http import ask, deployed
from weft.anomalies.measures import measures
from weft.cli.terminal import path_to
from weft.clock import SystemClock, iso
from weft.lineage.facts import ColumnSummary, Output
from weft.lineage.knot import Knot, Status
from weft.lineage.ledger import Ledger
from weft.weaver import named_series, watching
from weft.weaver.events import Events
from weft.weaver.knots import Knots, store_knot
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.records import Records, put
from weft.weaver.watching import AnomalyMissingError, AnomalyRecord, Watching

START = SystemClock().now()
SAMPLE: Knot = VALUES[Knot][0]


def knot(
    number: int,
    *,
    rows: int = 100,
    dead: int = 0,
    columns: Mapping[str, ColumnSummary] = MappingProxyType({}),
) -> Knot:
    at = iso(START + timedelta(seconds=number))
    ledger = Ledger(rows_in=rows, out=rows - dead, dead=dead)
    return replace(
        SAMPLE,
        stream="orders",
        number=number,
        now=at,
        completed=at,
        status=Status.COMPLETE,
        ledger=ledger,
        outputs={"orders": Output(rows - dead, 1000, "00")},
        columns=columns,
        watermark=None,
        duration_ms=40 + number % 5,
        hash=None,
        sealed_form=None,
    )


class Run:
    def __init__(self) -> None:
        self.records = Records(MemoryStore())
        self.clock = SystemClock()
        self.start()

    def start(self) -> None:
        self.knots = Knots(self.records, self.clock)
        self.events = Events(self.records, self.clock)
        self.watching = Watching(self.records, self.clock, self.knots, self.events)

    def tie(self, one: Knot, **series: float) -> list[str]:
        self.records.store.apply([store_knot(one)])
        return [found.measure for found in self.watching.tied(one, series)]


@pytest.fixture
def run() -> Run:
    made = Run()
    for number in range(1, 300):
        assert made.tie(knot(number, rows=95 + number % 11, dead=number % 3)) == []
    return made


def test_a_rate_and_a_share_that_were_never_seen_are_told_once(run: Run) -> None:
    assert "rate" in run.tie(knot(300, rows=2_000))
    assert "dead_share" in run.tie(knot(301, rows=100, dead=60))
    kinds = [event.kind for event in run.events.since(0)]
    assert kinds.count("anomaly.found") == len(run.watching.all())
    [found] = [one for one in run.watching.all() if one.measure == "dead_share"]
    assert (found.id, found.observed) == ("orders/301.dead_share", 0.6)
    assert "dead_share of orders: 0.6, where" in found.text


@pytest.mark.parametrize("column", ["total", "a/b.c", "Größe 'x'"])
def test_a_column_that_looks_otherwise_is_told_and_can_be_accepted(column: str) -> None:
    run, chance = Run(), Random(3)
    for number in range(1, 400):
        usual = ColumnSummary(nulls=number % 4, mean=chance.gauss(50, 1), spread=chance.gauss(9, 1))
        run.tie(knot(number, columns={column: usual}))
    before = len(run.watching.all())
    assert before <= 3
    shifted = ColumnSummary(nulls=70, mean=80.0, spread=9.0)
    assert run.tie(knot(400, columns={column: shifted})) == [f"nulls.{column}", f"mean.{column}"]
    [found] = [one for one in run.watching.all() if one.id == f"orders/400.mean.{column}"]
    assert f"mean.{column} of orders: 80, where" in found.text
    run.watching.accept(found.id)
    run.start()
    again = replace(knot(401), columns={column: replace(shifted, mean=81.0)})
    assert f"mean.{column}" not in run.tie(again)


def test_the_knots_after_an_unusual_one_are_flagged_for_a_while_also_after_a_start(
    run: Run,
) -> None:
    assert not run.watching.is_flagged("orders", 300)
    run.tie(knot(300, rows=2_000))
    for _ in range(2):
        flagged = [
            number for number in range(301, 320) if run.watching.is_flagged("orders", number)
        ]
        assert flagged == list(range(301, 301 + watching.FLAGGED))
        assert not run.watching.is_flagged("others", 301)
        run.start()


def test_one_that_is_accepted_flags_nothing_from_then_on_and_others_still_do(run: Run) -> None:
    assert len(run.tie(knot(300, rows=2_000, dead=1_500))) > 1
    first, *others = [one.id for one in run.watching.all()]
    run.watching.accept(first)
    assert run.watching.is_flagged("orders", 301)
    for name in others:
        run.watching.accept(name)
    for _ in range(2):
        assert not run.watching.is_flagged("orders", 301)
        run.watching.accept(first)
        run.start()


def test_series_are_judged_one_by_one_and_go_on_after_a_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(named_series, "SAVED_EVERY", 1)
    run, chance = Run(), Random(5)
    for number in range(1, 400):
        run.tie(knot(number), low=chance.gauss(1, 0.1), high=chance.gauss(90, 1))
    noise = [one for one in run.watching.all() if one.measure in ("low", "high")]
    assert len(noise) <= 2
    run.start()
    assert run.tie(knot(400), low=30.0, high=90.0) == ["low"]
    assert run.tie(knot(401), low=1.0, high=30.0) == ["high"]
    run.watching.accept("orders/401.high")
    run.start()
    assert run.tie(knot(402), low=1.0, high=31.0) == []


def test_more_series_than_are_watched_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_series, "MOST_SERIES", 1)
    run = Run()
    for number in range(1, 300):
        run.tie(knot(number), known=1.0 + number % 3, another=1.0)
    assert run.tie(knot(300), known=1.0, another=1e9) == []


def test_a_knot_without_rows_says_nothing_of_its_columns() -> None:
    empty = knot(1, rows=0, columns={"total": ColumnSummary(nulls=0)})
    assert {one.measure for one in measures(empty, None)} == {"batch_ms"}


def test_what_was_accepted_is_not_told_again_nor_after_a_start(run: Run) -> None:
    run.tie(knot(300, rows=2_000))
    run.watching.accept("orders/300.rate")
    assert all(one.accepted for one in run.watching.all() if one.measure == "rate")
    run.start()
    for number in range(301, 500):
        run.tie(knot(number, rows=95 + number % 11))
    assert "rate" not in run.tie(knot(500, rows=2_000))


def test_after_a_start_what_is_usual_is_known(run: Run) -> None:
    run.start()
    assert run.tie(knot(300, rows=100)) == []
    assert "rate" in run.tie(knot(301, rows=2_000))


def test_after_a_start_the_newest_are_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "KEPT", 1)
    run.tie(knot(300, rows=2_000))
    run.tie(knot(301, dead=60))
    newest = run.watching.all()[0].knot
    run.start()
    run.tie(knot(302))
    assert [one.knot for one in run.watching.all()] == [newest]


def test_one_is_listed_and_accepted_by_its_address() -> None:
    weaver = deployed()
    found = replace(
        VALUES[AnomalyRecord][0], stream="orders", knot=7, measure="rate", accepted=False
    )
    weaver.store.apply([put("anomalies", "orders", 7, "rate", value=found)])
    [listed] = ask("GET", "/anomalies?stream=orders", weaver=weaver).json()
    accepted = ask("POST", f"{path_to('anomalies', listed['id'])}/accept", weaver=weaver)
    assert accepted.json()["accepted"] is True
    assert ask("POST", "/anomalies/orders%2F8.rate/accept", weaver=weaver).status_code == 404
    assert ask("GET", "/anomalies?stream=none", weaver=weaver).status_code == 404


@pytest.mark.parametrize("name", ["", "orders", "orders/x.rate", "orders/" + "9" * 40 + ".rate"])
def test_an_anomaly_that_never_was(run: Run, name: str) -> None:
    with pytest.raises(AnomalyMissingError):
        run.watching.accept(name)


def test_what_is_unusual_is_counted_once_for_scrapers(monkeypatch: pytest.MonkeyPatch) -> None:
    weaver = make_weaver()
    pinned = pin(weaver, "orders")
    monkeypatch.setattr(weaver.leases, "check", lambda *_: None)
    monkeypatch.setattr(weaver.watching, "tied", lambda *_: [VALUES[AnomalyRecord][0]])
    for _ in range(2):  # a worker may complete a knot again
        weaver.complete("orders", pinned.number, made("orders"), worker="w", token=1)
    found = {"pipeline": "orders", "measure": "rate"}
    assert weaver.metrics.registry.get_sample_value("stream_anomalies_total", found) == 1
