"""Every batch ties a knot, once, whatever dies on the way."""

from __future__ import annotations

import gc
import statistics
import time
import weakref
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.event_sinks import Stubborn
from tests.spark.projects import CLEAN, as_set, order, orders, shop
from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.runtime.faults import POINTS
from weft.testing import Play, play
from weft.weaver.watching import Watching


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    with play(shop(clean=CLEAN), storage=tmp_path_factory.mktemp("spine")) as running:
        yield running


def test_rows_go_through_the_steps_of_a_pipeline(run: Play) -> None:
    before = len(run.rows("clean-orders"))
    run.feed("orders", [order(1, total="0"), order(2, total="5.50")])
    [row] = run.rows("clean-orders")[before:]
    assert (row["id"], row["email"], str(row["total"])) == (2, "user2@example.org", "5.50")


def test_a_record_that_cannot_be_read_is_a_dead_letter_with_its_bytes_and_reason(run: Play) -> None:
    run.feed("orders", ["not json", order(3, total="much"), order(4)])
    dead = run.rows("orders.dead")
    assert dead[-2]["raw"] == b"not json"
    assert "total" in dead[-1]["reason"]
    assert dead[-1]["step"] == "parse"
    assert run.knots("orders")[-1].ledger.dead == 2


def test_every_knot_balances_and_names_its_parents(run: Play) -> None:
    run.feed("orders", orders(10, 5))
    source, clean = run.knots("orders")[-1], run.knots("clean-orders")[-1]
    assert all(not knot.ledger.missing() for knot in run.knots("clean-orders"))
    assert clean.ledger.filtered == {"step:0": 1}
    [parent] = clean.parents
    assert (parent.stream, parent.last) == ("orders", source.number)
    assert clean.steps[0].input_hash == source.outputs["orders"].hash


def test_knots_are_chained_by_their_hashes(run: Play) -> None:
    knots = run.knots("orders")
    for before, knot in pairwise(knots):
        assert knot.is_intact()
        assert (knot.previous, knot.previous_hash) == (before.number, before.hash)


def test_a_checkpoint_ties_a_knot_in_every_pipeline_without_data(run: Play) -> None:
    rows = len(run.rows("orders"))
    tied = run.api.post("/checkpoint").raise_for_status().json()["knots"]
    assert set(tied) == {"orders", "clean"}
    assert run.knots("orders")[-1].number >= tied["orders"]
    assert len(run.rows("orders")) == rows


def test_rows_carry_where_they_came_from(run: Play) -> None:
    run.feed("orders", [order(40, total="3")], partition=3)
    row = run.rows("clean-orders", weft=True)[-1]["_weft"]
    knot = run.knots("clean-orders")[-1]
    assert (row["source"], row["partition"], row["knot"]) == ("orders", 3, knot.number)
    assert row["id"] == run.rows("orders", weft=True)[-1]["_weft"]["id"]


def test_a_worker_that_dies_at_any_point_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with play(shop(clean=CLEAN), storage=tmp_path / "straight") as run:
        for number in range(len(POINTS) * 2):
            run.feed("orders", [*orders(number * 3, 3), "bad"])
        expected = {s: as_set(run.rows(s)) for s in ("orders", "clean-orders", "orders.dead")}
    with play(shop(clean=CLEAN), storage=tmp_path / "killed") as run:
        for number in range(len(POINTS) * 2):
            run.crash(POINTS[number // 2], visit=1 + number % 2)
            run.feed("orders", [*orders(number * 3, 3), "bad"])
            run.resume()
        assert {s: as_set(run.rows(s)) for s in expected} == expected
        for stream in ("orders", "clean-orders"):
            knots = run.knots(stream, all=True)
            assert [knot.number for knot in knots] == list(range(1, len(knots) + 1))
            assert all(knot.status is Status.COMPLETE for knot in knots)
            assert not any(knot.ledger.missing() for knot in knots)


def test_a_batch_that_fails_is_said_and_runs_again_with_the_same_knot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = {"python": "tests.contracts.event_sinks:Stubborn"}
    with play(shop(clean={**CLEAN, "sinks": [sink]}), storage=tmp_path) as run:
        with pytest.raises(WeftError, match="nobody answers"):
            run.feed("orders", [order(1)])
        events = run.api.get("/events", params={"stream": False}).json()
        failed = next(event for event in events if event["kind"] == "knot.failed")
        assert (failed["stream"], failed["knot"]) == ("clean-orders", 1)
        deadline = time.monotonic() + 30
        while (told := run.api.get("/pipelines/clean").json())["state"] != "failed":
            assert time.monotonic() < deadline, told
        assert "nobody answers" in told["error"]["message"]
        monkeypatch.setattr(Stubborn, "takes", True)
        run.resume()
        first, *later = run.knots("clean-orders", all=True)
        assert (first.number, first.status) == (1, Status.COMPLETE)
        assert not any(knot.ledger.rows_in for knot in later)  # a busy machine is idle meanwhile


def test_a_query_that_is_over_is_let_go_of(tmp_path: Path) -> None:
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.feed("orders", [order(1)])
        thread = weakref.ref(run.worker.threads["clean"])
        run.api.post("/pipelines/clean/stop").raise_for_status()
        deadline = time.monotonic() + 30
        while thread() is not None:  # Spark's side of it would keep it for good
            assert time.monotonic() < deadline, gc.get_referrers(thread())
            time.sleep(0.1)
            gc.collect()


def test_what_was_stored_goes_on_in_a_new_weaver_and_worker(tmp_path: Path) -> None:
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.feed("orders", orders(0, 4))
        first = run.knots("orders")
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.feed("orders", orders(4, 4))
        assert [row["id"] for row in run.rows("orders")] == list(range(8))
        assert run.knots("orders")[: len(first)] == first


def test_a_pipeline_that_is_added_starts_without_touching_the_others(tmp_path: Path) -> None:
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.feed("orders", orders(0, 4))
        started = {name: thread.run for name, thread in run.worker.threads.items()}
        added = {"from": "clean-orders", "steps": [{"filter": "country = 'de'"}], "to": "german"}
        changes = run.apply(shop(clean=CLEAN, german=added))
        assert changes == {"added": ["german"], "changed": [], "removed": []}
        assert [row["country"] for row in run.rows("german")] == ["de", "de"]
        assert all(run.worker.threads[name].run is kept for name, kept in started.items())


def test_a_stopped_pipeline_stops_and_a_started_one_catches_up(tmp_path: Path) -> None:
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.feed("orders", orders(0, 3))
        run.api.post("/pipelines/clean/stop").raise_for_status()
        run.feed("orders", orders(3, 3))
        assert [row["id"] for row in run.rows("orders")] == list(range(6))
        kept = len(run.rows("clean-orders"))
        run.api.post("/pipelines/clean/start").raise_for_status()
        run.settle()
        assert kept < len(run.rows("clean-orders")) == 5


def test_series_that_are_named_reach_the_weaver_with_their_knot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[str, int, dict[str, float]]] = []
    tied = Watching.tied

    def hear(self: Watching, knot: Knot, series: Any = None) -> Any:
        heard.append((knot.stream, knot.number, dict(series or {})))
        return tied(self, knot, series or {})

    monkeypatch.setattr(Watching, "tied", hear)
    project = shop(clean=CLEAN)
    project["streams"]["clean-orders"] = {"watch": {"of": "total", "by": "country"}}
    with play(project, storage=tmp_path) as run:
        run.feed("orders", orders(0, 9))
        rows = run.rows("clean-orders")
    by_country: dict[str, list[float]] = {}
    for row in rows:
        by_country.setdefault(f"total{{country={row['country']}}}", []).append(float(row["total"]))
    expected = {name: statistics.mean(totals) for name, totals in by_country.items()}
    [found] = [series for stream, _, series in heard if stream == "clean-orders" and series]
    assert found == pytest.approx(expected)
    assert all(not series for stream, _, series in heard if stream == "orders")
