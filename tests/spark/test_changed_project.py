"""A project that changes while it runs: what goes on, what is run again, and what is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.spark.projects import CLEAN, REVENUE, as_set, orders, shop
from weft.errors import WeftError
from weft.testing import Play, play
from weft.weaver.verification import verify_storage

COPY = {"from": "clean-orders", "to": "copied"}
BEFORE = shop(clean=CLEAN, revenue=REVENUE, copy=COPY)
BATCHES = 5


def feed(run: Play, first: int, last: int) -> None:
    for number in range(first, last):
        run.feed("orders", orders(number * 9, 9))


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    project = copy.deepcopy(BEFORE)
    change(project["pipelines"])
    return project


def contents(run: Play, *streams: str) -> dict[str, list[str]]:
    """Rows without what is null: a table keeps the columns that it once had."""
    return {
        stream: as_set(
            [{n: v for n, v in row.items() if v is not None} for row in run.rows(stream)]
        )
        for stream in streams
    }


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Play]:
    with play(BEFORE, storage=tmp_path / "s") as running:
        feed(running, 0, 3)
        yield running


def larger_window(pipelines: dict[str, Any]) -> None:
    pipelines["revenue"]["window"]["size_ms"] = 15_000


def longer_lateness(pipelines: dict[str, Any]) -> None:
    pipelines["revenue"]["window"]["allowed_lateness_ms"] = 3_600_000


def another_key(pipelines: dict[str, Any]) -> None:
    pipelines["revenue"]["by"] = []


def another_aggregate(pipelines: dict[str, Any]) -> None:
    pipelines["revenue"]["aggregate"]["revenue"] = "sum(total * 1)"
    pipelines["revenue"]["aggregate"]["orders"] = "approx_count_distinct(id)"


def another_input(pipelines: dict[str, Any]) -> None:
    pipelines["copy"]["from"] = "orders"


def another_output(pipelines: dict[str, Any]) -> None:
    pipelines["clean"]["to"] = "cleaner-orders"
    pipelines["copy"]["from"] = pipelines["revenue"]["from"] = "cleaner-orders"


def another_name(pipelines: dict[str, Any]) -> None:
    pipelines["duplicate"] = pipelines.pop("copy")


def more_columns_under_a_join(pipelines: dict[str, Any]) -> None:
    pipelines["clean"]["steps"].append({"set": {"more": "id + 1"}})


RECOMPUTED = [
    larger_window,
    longer_lateness,
    another_key,
    another_input,
    another_output,
    another_name,
]


@pytest.mark.parametrize("change", RECOMPUTED)
def test_what_cannot_go_on_is_refused_and_run_again_when_asked(
    run: Play, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    after = changed(change)
    streams = ("orders", "copied", "revenue")
    before = contents(run, *streams)
    with pytest.raises(WeftError) as refused:
        run.apply(after)
    assert refused.value.code == "project.needs-recompute" and refused.value.ids["pipelines"]
    assert contents(run, *streams) == before
    run.apply(after, recompute=True)
    feed(run, 3, BATCHES)
    with play(after, storage=tmp_path / "fresh") as fresh:
        feed(fresh, 0, BATCHES)
        expected = contents(fresh, *streams)
    assert contents(run, *streams) == expected
    assert verify_storage(run.storage, deep=True).findings == []


def test_what_goes_on_is_told_and_takes_effect_from_the_next_knot_on(run: Play) -> None:
    def change(pipelines: dict[str, Any]) -> None:
        pipelines["clean"]["steps"][0] = {"filter": "total > 2"}
        pipelines["revenue"]["window"]["allowed_lateness_ms"] = 1_000
        pipelines["revenue"]["aggregate"]["most"] = "max(total)"

    before = contents(run, "clean-orders")
    after = changed(change)
    response = run.api.put("/project", json=_form(after), params={"dry_run": True})
    effects = response.json()["effects"]
    assert {effect["verdict"] for effect in effects} == {"kept"}
    assert any("null in windows that are open now" in effect["what"] for effect in effects)
    run.apply(after)
    feed(run, 3, 4)
    woven = contents(run, "clean-orders")["clean-orders"]
    assert set(before["clean-orders"]) < set(woven)
    assert all(row["total"] > 2 for row in run.rows("clean-orders") if row["id"] >= 27)


def _form(project: dict[str, Any]) -> dict[str, Any]:
    from weft.loading.load import load
    from weft.testing.playing import eager

    return eager(load(project)).to_dict()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda p: p["revenue"]["aggregate"].update(revenue="max(id)"), "column revenue"),
        (lambda p: p["clean"]["steps"].append({"set": {"id": "cast(id as string)"}}), "column id"),
    ],
)
def test_a_column_that_would_change_its_type_is_refused_whatever_is_asked(
    run: Play, change: Callable[[dict[str, Any]], None], told: str
) -> None:
    for recompute in (False, True):
        with pytest.raises(WeftError) as refused:
            run.apply(changed(change), recompute=recompute)
        assert refused.value.code == "project.cannot-change" and told in refused.value.message
    feed(run, 3, 4)
    assert len(run.rows("orders")) == 36


def test_a_source_that_reads_elsewhere_is_another_stream(run: Play) -> None:
    project = copy.deepcopy(BEFORE)
    project["streams"]["orders"] = {
        **project["streams"]["orders"],
        "source": {"files": {"path": "/nowhere", "format": "json"}},
    }
    with pytest.raises(WeftError) as refused:
        run.apply(project, recompute=True)
    assert refused.value.code == "project.cannot-change"


def test_a_pipeline_that_was_taken_out_goes_back_with_its_input_and_comes_back_whole(
    run: Play, tmp_path: Path
) -> None:
    run.apply(changed(lambda p: p.pop("copy")))
    feed(run, 3, 4)
    run.rollback("clean-orders", to=1)
    assert len(run.rows("copied")) < len(run.rows("clean-orders"))
    run.apply(BEFORE)
    feed(run, 4, BATCHES)
    assert contents(run, "copied")["copied"] == contents(run, "clean-orders")["clean-orders"]
    assert verify_storage(run.storage, deep=True).findings == []


def test_windows_that_hold_whole_records_are_run_again_when_those_gain_a_column(
    tmp_path: Path,
) -> None:
    window = {"type": "tumbling", "size_ms": 20_000}
    other = {
        "from": "orders",
        "steps": [{"select": {"key": "id", "then_at": "at"}}],
        "to": "others",
    }
    meet = {"from": ["clean-orders", "others"], "join": {"on": {"id": "key"}}, "window": window}
    before = shop(clean=CLEAN, other=other, meet=meet)
    after = copy.deepcopy(before)
    more_columns_under_a_join(after["pipelines"])
    with play(before, storage=tmp_path / "s") as run:
        feed(run, 0, 2)
        with pytest.raises(WeftError) as refused:
            run.apply(after)
        assert refused.value.ids["pipelines"] == ["meet"]
        run.apply(after, recompute=True)
        feed(run, 2, BATCHES)
        found = [row["id"] for row in run.rows("meet")]
    with play(after, storage=tmp_path / "fresh") as fresh:
        feed(fresh, 0, BATCHES)
        assert sorted(found) == sorted(row["id"] for row in fresh.rows("meet")) != []


def test_a_project_that_a_rule_in_force_does_not_fit_is_refused(run: Play) -> None:
    run.attach(stream="clean-orders", steps=[{"filter": "length(email) > 1"}], id="mails")

    def change(pipelines: dict[str, Any]) -> None:
        pipelines["clean"]["steps"].append({"drop": ["email"]})

    with pytest.raises(WeftError) as refused:
        run.apply(changed(change))
    assert refused.value.code == "project.breaks-rule" and refused.value.ids["rule"] == "mails"
    run.retire("mails")
    run.apply(changed(change))
    feed(run, 3, 4)


@pytest.mark.parametrize("to", [0, 1])
def test_a_pipeline_is_renamed_and_named_back_after_its_stream_was_rolled_back(
    run: Play, to: int
) -> None:
    expected = contents(run, "copied")
    run.rollback("copied", to=to)
    after = changed(another_name)
    run.apply(after, recompute=True)
    assert contents(run, "copied") == expected
    feed(run, 3, 4)
    run.apply(BEFORE, recompute=True)
    feed(run, 4, BATCHES)
    run.rollback("copied", to=0)
    assert len(run.rows("copied")) == len(run.rows("clean-orders"))
    assert verify_storage(run.storage, deep=True).findings == []


def test_an_output_is_changed_there_and_back_and_then_renamed(run: Play) -> None:
    run.apply(changed(another_output), recompute=True)
    run.apply(BEFORE, recompute=True)
    run.apply(changed(another_name), recompute=True)
    feed(run, 3, BATCHES)
    assert len(run.rows("copied")) == len(run.rows("clean-orders")) > 0
    assert verify_storage(run.storage, deep=True).findings == []


def test_the_weaver_of_another_project_is_left_alone(run: Play) -> None:
    other = {**BEFORE, "app_name": "another"}
    answer = run.api.put("/project", json=_form(other))
    assert (answer.status_code, answer.json()["code"]) == (409, "project.other")
    assert run.api.get("/project").json()["name"] == "shop"
    run.api.put("/project", json=_form(other), params={"rename": True}).raise_for_status()
    assert run.api.get("/project").json()["name"] == "another"


def test_a_dry_run_lists_what_would_be_run_again(run: Play) -> None:
    form = _form(changed(larger_window))
    told = run.api.put("/project", json=form, params={"dry_run": True}).raise_for_status().json()
    assert [effect["verdict"] for effect in told["effects"]] == ["recomputed"]
    feed(run, 3, 4)
    assert {row["window"]["start"].second % 10 for row in run.rows("revenue")} == {0}
