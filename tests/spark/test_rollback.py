"""A rollback leaves no trace in the outputs: afterwards every stream is what it would be without the rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.projects import CLEAN, REVENUE, as_set, orders, shop
from weft.errors import WeftError
from weft.lineage.knot import Status
from weft.testing import Play, play

GERMAN = {"from": "clean-orders", "steps": [{"filter": "country = 'de'"}], "to": "german"}
STREAMS = ("orders", "clean-orders", "revenue", "german")
PROJECT = shop(clean=CLEAN, revenue=REVENUE, german=GERMAN)


def feed(run: Play, first: int, last: int) -> None:
    for number in range(first, last):
        run.feed("orders", orders(number * 6, 6))


def contents(run: Play) -> dict[str, list[str]]:
    return {stream: as_set(run.rows(stream)) for stream in STREAMS}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Every stream of a run that never had a rule, after eight batches."""
    with play(PROJECT, storage=tmp_path_factory.mktemp("undisturbed")) as run:
        feed(run, 0, 8)
        return contents(run)


def test_streams_windows_and_everything_downstream_are_as_if_the_rule_had_never_been(
    tmp_path: Path, undisturbed: dict[str, list[str]]
) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        feed(run, 0, 3)
        run.attach(stream="orders", steps=[{"filter": "total > 3"}], id="bad", output=None)
        run.attach(stream="orders", steps=[{"filter": "id > 0"}], id="side", output="beside")
        feed(run, 3, 6)
        with_rule = contents(run)
        done = run.rollback("orders", to=3)
        assert done["plan"]["retired"] == ["bad", "side"]
        assert run.rows("beside") == []
        cut = [knot for knot in run.knots("orders", all=True) if knot.number in (4, 5, 6)]
        assert {knot.status for knot in cut} == {Status.ROLLED_BACK}
        assert run.knots("orders")[3].number == 7 and run.knots("orders")[3].previous == 3

        run.rollback("orders", to=6)  # the rollback itself is taken back
        assert contents(run) == with_rule
        assert run.api.get("/rules/bad").json()["status"] == "active"

        run.rollback("orders", to=3)
        feed(run, 6, 8)
        assert contents(run) == undisturbed


@pytest.mark.parametrize("stream", ["clean-orders", "revenue"])
def test_a_stream_in_the_middle_is_rolled_back_by_itself(
    tmp_path: Path, undisturbed: dict[str, list[str]], stream: str
) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        feed(run, 0, 4)
        column = "total" if stream == "clean-orders" else "revenue"
        run.attach(stream=stream, steps=[{"filter": f"{column} < 3"}], id="bad")
        feed(run, 4, 8)
        to = run.knots(stream)[3].number
        run.rollback(stream, to=to)
        assert contents(run) == undisturbed


def test_a_dry_run_prints_the_steps_and_changes_nothing(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        feed(run, 0, 3)
        before = contents(run)
        plan = run.api.post("/rollbacks?dry_run=true", json={"stream": "orders", "to": 1}).json()
        assert plan["status"] == "planned"
        assert [cut["pipeline"] for cut in plan["plan"]["cuts"]][:2] == ["orders", "clean"]
        assert contents(run) == before
        done = run.rollback("orders", to=1)
        assert done["plan"]["steps"] == plan["plan"]["steps"]
        assert contents(run) == before


def test_a_rollback_to_before_the_first_knot_starts_from_nothing(tmp_path: Path) -> None:
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.attach(stream="orders", steps=[{"filter": "false"}], id="all")
        run.feed("orders", orders(0, 5))
        assert run.rows("orders") == []
        run.rollback("orders", to=0)
        assert [row["id"] for row in run.rows("orders")] == [0, 1, 2, 3, 4]


def test_what_cannot_be_rolled_back_is_refused(tmp_path: Path) -> None:
    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.attach(stream="orders", steps=[{"filter": "true"}], output="beside")
        run.feed("orders", ["bad", *orders(0, 2)])
        for stream, to, code in [
            ("nowhere", 0, "stream.missing"),
            ("orders", 99, "rollback.no-such-knot"),
            ("orders", 1, "rollback.nothing"),
            ("beside", 0, "rollback.side-stream"),
            ("orders.dead", 0, "rollback.side-stream"),
        ]:
            with pytest.raises(WeftError) as refused:
                run.rollback(stream, to=to)
            assert refused.value.code == code
            assert refused.value.hint
