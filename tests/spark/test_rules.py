"""Rules change a stream while it runs, from one knot on, for all its partitions and outputs alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.spark.projects import CLEAN, order, orders, shop
from weft.errors import WeftError
from weft.testing import Play, play


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Play]:
    with play(shop(clean=CLEAN), storage=tmp_path) as running:
        yield running


def ids(rows: list[dict[str, Any]]) -> list[int]:
    return [row["id"] for row in rows]


def test_a_rule_is_in_force_from_the_next_knot_on(run: Play) -> None:
    run.feed("orders", orders(0, 4))
    rule = run.attach(stream="orders", steps=[{"filter": "id % 2 = 0"}], id="even")
    run.feed("orders", orders(4, 4))
    assert ids(run.rows("orders")) == [0, 1, 2, 3, 4, 6]
    before, after = run.knots("orders")
    assert before.rules == () and [ref.id for ref in after.rules] == ["even"]
    assert after.number == rule.since
    assert after.ledger.filtered == {"rule:even": 2}
    run.retire("even")
    run.feed("orders", orders(8, 2))
    assert ids(run.rows("orders"))[-2:] == [8, 9]


def test_a_side_stream_takes_changed_rows_in_addition(run: Play) -> None:
    run.attach(
        stream="orders",
        steps=[{"filter": "total > 4"}, {"set": {"email": "'hidden'"}}],
        output="big-orders",
        id="big",
    )
    run.feed("orders", orders(0, 7))
    assert ids(run.rows("orders")) == list(range(7))
    assert [(r["id"], r["email"]) for r in run.rows("big-orders")] == [(5, "hidden"), (6, "hidden")]
    assert run.knots("orders")[-1].ledger.copied == {"big-orders": 2}
    run.attach(stream="big-orders", steps=[{"filter": "total > 5"}], id="bigger")
    run.feed("orders", orders(7, 7))
    assert ids(run.rows("big-orders")) == [5, 6, 13]


def test_raising_the_share_keeps_the_keys_that_were_in(run: Play) -> None:
    run.attach(
        stream="orders", steps=[{"set": {"seen": "true"}}], output="canary", percent=10, id="share"
    )
    run.feed("orders", orders(0, 200))
    first = set(ids(run.rows("canary")))
    assert 5 <= len(first) <= 40
    run.promote("share", percent=50)
    run.feed("orders", orders(0, 200))
    second = set(ids(run.rows("canary"))) - first | first & set(
        ids(run.rows("canary"))[len(first) :]
    )
    assert first < second and 70 <= len(second) <= 130
    run.promote("share", percent=100, in_place=True)
    run.feed("orders", orders(0, 5))
    assert all(row["seen"] for row in run.rows("orders")[-5:])


def test_a_repeated_batch_uses_the_rules_pinned_the_first_time(run: Play) -> None:
    run.attach(stream="orders", steps=[{"filter": "id >= 2"}], id="pinned")
    run.crash("write")
    run.feed("orders", orders(0, 4))
    run.retire("pinned")
    run.resume()
    assert ids(run.rows("orders")) == [2, 3]
    assert [ref.id for ref in run.knots("orders")[0].rules] == ["pinned"]
    run.feed("orders", orders(4, 2))
    assert ids(run.rows("orders")) == [2, 3, 4, 5]


def test_a_dry_run_shows_what_a_rule_would_do_and_changes_nothing(run: Play) -> None:
    run.feed("orders", orders(0, 10))
    body = {
        "stream": "orders",
        "steps": [{"filter": "id < 6"}, {"set": {"email": "upper(email)"}}],
        "id": "tried",
    }
    answer = run.api.post("/rules", params={"dry_run": True}, json=body)
    trial = answer.raise_for_status().json()["trial"]
    assert (trial["rows"], trial["removed"], trial["changed"]) == (10, 4, 6)
    assert trial["changed_by_column"] == {"email": 6}
    assert trial["ledger"]["filtered"] == {"rule:tried": 4}
    assert trial["examples"]["changed"][0]["after"]["email"].isupper()
    assert run.api.get("/rules").json() == []


def test_a_rule_that_would_break_a_pipeline_is_refused_with_its_name(run: Play) -> None:
    for steps in (
        [{"drop": "email"}],
        [{"rename": {"total": "amount"}}],
        [{"select": ["id", "at"]}],
    ):
        with pytest.raises(WeftError) as refused:
            run.attach(stream="orders", steps=steps)
        assert refused.value.code == "rule.breaks-pipeline"
        assert refused.value.ids["pipeline"] == "clean"
    with pytest.raises(WeftError) as refused:
        run.attach(stream="orders", steps=[{"set": {"total": "cast(total as string)"}}])
    assert refused.value.code == "rule.changes-type"
    run.attach(stream="orders", steps=[{"drop": "email"}], output="no-mail")
    run.feed("orders", orders(0, 2))
    assert "email" not in run.rows("no-mail")[0] and run.rows("orders")[0]["email"]


def test_the_first_knot_that_breaks_a_guard_retires_the_rule(run: Play) -> None:
    run.feed("orders", orders(0, 4))
    run.attach(
        stream="orders",
        steps=[{"set": {"share": "1 / total"}}],
        id="risky",
        guards=["dead_share < 0.2"],
    )
    run.feed("orders", [order(1, total="2"), order(2, total="0")])
    rule = run.api.get("/rules/risky").json()
    assert rule["status"] == "retired" and "dead_share" in rule["retired_because"]
    [dead] = run.rows("orders.dead")
    assert "DIVIDE_BY_ZERO" in dead["reason"] and dead["step"] == "rule:risky"
    run.feed("orders", [order(3, total="0")])
    assert ids(run.rows("orders"))[-1] == 3
    kinds = [e["kind"] for e in run.api.get("/events", params={"stream": False}).json()]
    assert "rule.retired" in kinds


def test_a_rule_from_a_past_knot_fills_its_stream_and_joins_without_gap_or_overlap(
    run: Play,
) -> None:
    for number in range(6):
        run.feed("orders", orders(number * 3, 3))
    run.attach(stream="orders", steps=[{"filter": "id % 2 = 1"}], output="odd", start=2, id="odd")
    for number in range(6, 9):
        run.feed("orders", orders(number * 3, 3))
    assert sorted(ids(run.rows("odd"))) == [n for n in range(6, 27) if n % 2]
    assert ids(run.rows("orders")) == list(range(27))


def test_a_rule_from_a_past_knot_in_place_rolls_back_first(run: Play) -> None:
    for number in range(4):
        run.feed("orders", orders(number * 3, 3))
    run.attach(stream="orders", steps=[{"filter": "id % 2 = 1"}], start=2, id="odd")
    run.settle()
    assert sorted(ids(run.rows("orders"))) == [0, 1, 2, 3, 4, 5, 7, 9, 11]
    assert sorted(ids(run.rows("clean-orders"))) == [1, 2, 3, 4, 5, 9, 11]


def test_a_branch_is_compared_promoted_and_ends(run: Play) -> None:
    run.feed("orders", orders(0, 3))
    run.feed("orders", orders(3, 3))
    made = {"stream": "orders", "name": "trial", "at": 1}
    run.api.post("/branches", json=made).raise_for_status()
    run.attach(stream="trial", steps=[{"set": {"email": "'x'"}}, {"filter": "id != 7"}], id="mask")
    run.feed("orders", orders(6, 3))
    diff = run.api.get("/branches/trial/diff").raise_for_status().json()
    assert (diff["added"], diff["removed"], diff["changed"]) == (0, 1, 2)
    assert all(row["email"] != "x" for row in run.rows("orders"))
    run.api.post("/branches/trial/promote").raise_for_status()
    run.feed("orders", orders(9, 2))
    assert [row["email"] for row in run.rows("orders")[-2:]] == ["x", "x"]
    assert run.api.get("/branches").json() == []
    assert sorted(ids(run.rows("trial"))) == [3, 4, 5, 6, 8]  # nothing after it ended


def test_a_branch_is_compared_up_to_the_last_knot_that_both_have(run: Play) -> None:
    run.feed("orders", orders(0, 3))
    run.api.post("/branches", json={"stream": "orders", "name": "trial"}).raise_for_status()
    run.feed("orders", orders(3, 3))
    run.crash("between")  # the branch has the rows of this batch, the stream has not
    run.feed("orders", orders(6, 2))
    run.api.post("/pipelines/orders/stop").raise_for_status()
    run.resume()
    assert (len(run.rows("orders")), len(run.rows("trial"))) == (6, 5)
    diff = run.api.get("/branches/trial/diff").raise_for_status().json()
    assert diff["rows"] == {"left": 3, "right": 3}
    assert (diff["added"], diff["removed"], diff["changed"]) == (0, 0, 0)


def test_a_pipeline_reads_the_side_stream_of_a_rule(run: Play) -> None:
    run.attach(stream="orders", steps=[{"filter": "total > 4"}], output="big", id="big")
    run.feed("orders", orders(0, 7))
    project = shop(
        clean=CLEAN,
        loud={"from": "big", "steps": [{"set": {"email": "upper(email)"}}], "to": "loud"},
    )
    project["streams"] = {
        **project["streams"],
        "big": {**project["streams"]["orders"], "source": {"rule": {}}},
    }
    run.apply(project)
    run.feed("orders", orders(7, 7))
    assert [row["email"] for row in run.rows("loud")] == [
        f"USER{n}@EXAMPLE.ORG" for n in (5, 6, 12, 13)
    ]


def test_a_project_with_a_title_and_names_in_snake_case_runs(tmp_path: Path) -> None:
    project = {
        "app_name": "My Stream Processor: 東京/№ 1",
        "processing": {"parallelism": 1},
        "streams": {"raw_orders": shop()["streams"]["orders"]},
        "pipelines": {
            "count_orders": {
                "from": "raw_orders",
                "steps": [{"filter": "id > 0"}],
                "window": {"type": "tumbling", "size_ms": 10_000},
                "aggregate": {"orders": "count(*)"},
                "to": "order_counts",
            }
        },
    }
    with play(project, storage=tmp_path) as run:
        run.attach(stream="raw_orders", steps=[{"filter": "id > 1"}], output="big_orders")
        run.feed("raw_orders", orders(0, 3))
        run.feed("raw_orders", [order(30)])
        assert sorted(ids(run.rows("big_orders"))) == [2, 30]
        assert [row["orders"] for row in run.rows("order_counts")] == [2]
        assert run.api.get("/status").json()["project"] == project["app_name"]
