"""Records explained: the whole way back to the source, column by column, and why one is not there."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.spark.test_replay import PROJECT
from weft.lineage.fingerprint import record_hash
from weft.lineage.provenance import record_provenance
from weft.testing import Play, play


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with play(PROJECT, storage=tmp_path_factory.mktemp("explained") / "s") as running:
        running.feed("orders", [_order(1, "de", 5.0, 1), _order(2, "at", -3.0, 2), "{broken"])
        running.attach(
            stream="clean-orders",
            id="vat",
            steps=[{"set": {"total": "total * 1.2"}}, {"filter": "total < 50"}],
            author="ada",
        )
        running.feed("orders", [_order(3, "de", 10.0, 3), _order(4, "de", 90.0, 4)])
        running.feed("orders", [_order(5, "at", 1.0, 25)])
        running.feed("orders", [_order(6, "de", 1.0, 2)])
        yield running


def _order(number: int, country: str, total: float, second: int) -> dict[str, Any]:
    at = f"2026-01-01T00:00:{second:02}Z"
    return {"id": number, "country": country, "total": total, "at": at}


def _id(run: Play, number: int) -> str:
    [found] = [row for row in run.rows("orders", weft=True) if row["id"] == number]
    return str(found["_weft"]["id"])


def _get(run: Play, path: str, **params: Any) -> Any:
    response = run.api.get(path, params=params)
    assert response.status_code == 200, response.json()
    return response.json()


def test_a_record_is_told_of_back_to_its_source(run: Play) -> None:
    found = _get(run, f"/records/clean-orders/{_id(run, 3)}")["explained"]
    assert [step["by"] for step in found["steps"]] == ["step:0", "step:1", "rule:vat", "rule:vat"]
    assert found["steps"][1]["before"]["country"] == "de"
    assert found["steps"][1]["after"]["country"] == "DE"
    assert found["steps"][2]["after"]["total"] == 12.0
    [parent] = found["parents"]
    assert parent["stream"] == "orders"
    assert "position" in parent["source"]


def test_hashes_follow_each_other_and_end_in_that_of_the_row(run: Play) -> None:
    found = _get(run, f"/records/clean-orders/{_id(run, 3)}")["explained"]
    steps = found["steps"]
    for one, other in itertools.pairwise(steps):
        assert one["hash_after"] == other["hash_before"]
    [row] = [r for r in run.rows("clean-orders", weft=True) if r["id"] == 3]
    schema = run.worker.project.schema_of("clean-orders").to_json()  # type: ignore[union-attr]
    assert steps[-1]["hash_after"] == record_hash(row, schema).hex()


def test_a_pane_is_told_of_by_its_members(run: Play) -> None:
    pane = next(row for row in run.rows("revenue", weft=True) if row["country"] == "DE")
    found = _get(run, f"/records/revenue/{pane['_weft']['id']}")["explained"]
    assert found["count"] == pane["orders"] == 2
    assert {one["row"]["id"] for one in found["parents"]} == {1, 3}
    assert all(one["parents"][0]["stream"] == "orders" for one in found["parents"])


def test_what_came_of_a_record(run: Play) -> None:
    [into] = _get(run, f"/records/clean-orders/{_id(run, 1)}")["into"]
    assert into["stream"] == "revenue"
    assert into["rows"][0]["row"]["country"] == "DE"


def test_who_gave_each_column_its_value(run: Play) -> None:
    found = {one["column"]: one for one in _get(run, f"/blames/clean-orders/{_id(run, 3)}")}
    assert found["total"]["by"] == "rule:vat"
    assert found["total"]["attached"].startswith("ada at ")
    assert found["country"]["by"] == "step:1"
    assert found["id"]["by"].startswith("source orders")
    assert found["id"]["stream"] == "orders"


@pytest.mark.parametrize(
    ("number", "stream", "cause", "text"),
    [
        (3, "clean-orders", "there", "It is there"),
        (2, "clean-orders", "filtered", "filtered by step:0: filter total > 0"),
        (4, "clean-orders", "filtered", "filtered by rule:vat"),
        (4, "revenue", "filtered", "filtered by rule:vat"),
        (1, "revenue", "absorbed", "has absorbed it"),
        (6, "revenue", "late", "behind the watermark"),
    ],
)
def test_why_a_record_is_not_there(
    run: Play, number: int, stream: str, cause: str, text: str
) -> None:
    [found] = _get(run, f"/absences/{stream}", id=_id(run, number))
    assert found["cause"] == cause
    assert text in found["text"]


def test_why_a_record_that_cannot_be_read_is_not_there(run: Play) -> None:
    [dead] = run.rows("orders.dead", weft=True)
    [found] = _get(run, "/absences/orders", id=dead["_weft"]["id"])
    assert found["cause"] == "unread"
    assert "could not be read" in found["text"]


def test_records_that_are_like_something_are_asked_for_together(run: Play) -> None:
    found = _get(run, "/absences/clean-orders", where="total > 80 OR total < 0", of="orders")
    assert sorted(one["by"] for one in found) == ["rule:vat", "step:0"]


def test_a_record_that_never_was(run: Play) -> None:
    response = run.api.get("/absences/revenue", params={"id": "orders/9/9' OR '1'='1"})
    assert response.json()["code"] == "record.unknown"


def test_a_knot_is_walked_with_the_rows_that_are_asked_for(run: Play) -> None:
    found = _get(run, "/knots/clean-orders/2/steps", where="id = 4")
    assert [row["row"]["id"] for row in found["first"]] == [4]
    assert [step["by"] for step in found["steps"]] == ["step:0", "step:1", "rule:vat", "rule:vat"]
    assert found["steps"][-1]["rows"][0]["ended"] == "filtered by rule:vat"
    window = _get(run, "/knots/revenue/3/steps")
    assert {row["row"]["country"] for row in window["first"]} == {"DE"}
    refused = run.api.get("/knots/clean-orders/2/steps", params={"where": "java_method('a')"})
    assert refused.status_code == 422


def test_a_record_that_a_rule_keeps_out_of_its_sources_stream(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path / "s") as run:
        run.feed("orders", [_order(1, "de", 5.0, 1)])
        run.attach(stream="orders", id="no-two", steps=[{"filter": "id <> 2"}])
        run.feed("orders", [_order(2, "de", 5.0, 2), _order(3, "de", 5.0, 3)])
        rows = _get(run, "/knots/orders/2/steps")["first"]
        [kept_out] = [row["id"] for row in rows if row["row"]["id"] == 2]
        [found] = _get(run, "/absences/revenue", id=kept_out)
        assert (found["cause"], found["by"]) == ("filtered", "rule:no-two")
        assert found["row"]["id"] == 2


def test_what_is_rebuilt_equals_what_was_written_down(tmp_path: Path) -> None:
    streams = {**PROJECT["streams"], "clean-orders": {"provenance": "full"}}
    with play({**PROJECT, "streams": streams}, storage=tmp_path / "s") as run:
        run.attach(
            stream="clean-orders", id="half", steps=[{"set": {"total": "total / 2"}}], percent=50
        )
        run.feed("orders", [_order(number, "de", number - 2.0, number) for number in range(1, 9)])
        [knot] = run.knots("clean-orders")
        written = {
            one.id: one
            for one in (
                record_provenance(row, knot)
                for row in run.rows("clean-orders.provenance", weft=True)
            )
        }
        walked = _get(run, "/knots/clean-orders/1/steps")
        assert len(written) == len(walked["first"]) == 8
        for row in walked["first"]:
            hashes = [row["hash"]]
            for step in walked["steps"]:
                hashes += [one["hash"] for one in step["rows"] if one["id"] == row["id"]]
            told = written[row["id"]]
            steps = [step for step in told.steps if step.after is not None]
            assert [step.after for step in steps] == [one for one in hashes[1:] if one is not None][
                : len(steps)
            ]
        for row in run.rows("clean-orders", weft=True):
            found = _get(run, f"/records/clean-orders/{row['_weft']['id']}")["explained"]
            assert found["written_down"] is True
            assert found["where"] == written[row["_weft"]["id"]].executor
        assert replay_of(run)["verified"] is True


def replay_of(run: Play) -> dict[str, Any]:
    found: dict[str, Any] = run.api.post(
        "/replays", json={"stream": "clean-orders", "after": 0}
    ).json()
    return found


def test_the_first_bad_knot_and_what_is_different_there(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path / "s") as run:
        for number in range(1, 12):
            if number == 8:
                steps = [{"set": {"total": "CASE WHEN id = 8 THEN -total ELSE total END"}}]
                run.attach(stream="clean-orders", id="wrong", steps=steps, author="ada")
            run.feed("orders", [_order(number, "de", 5.0, number)])
        asked = {"stream": "clean-orders", "good": 0, "bad": 11, "check": "total > 0"}
        found = run.api.post("/bisects", json=asked).json()
        assert found["knot"] == 8
        assert found["looks"] <= 4
        assert [row["row"]["id"] for row in found["rows"]] == [8]
        assert [change["what"] for change in found["changes"]] == ["rule"]
        assert "attached by ada" in found["changes"][0]["text"]
        good = run.api.post("/bisects", json={**asked, "check": "id > 0"})
        assert good.json()["code"] == "bisect.all-good"
