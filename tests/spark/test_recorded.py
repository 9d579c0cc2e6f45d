"""Recorded knots cut out as files, and fed to the project of today: it gives what it gave, or what differs is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.spark.test_history import RELAY, trim
from tests.spark.test_replay import PROJECT, orders
from weft.errors import WeftError
from weft.streams.storage import Storage
from weft.testing import play, recorded
from weft.weaver.exporting import export

LOUD = [{"set": {"country": "concat(country, '!')"}}]


@pytest.fixture(scope="module")
def cut_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of knots of a relay, of a window and of all of it, from a project that ran once."""
    folder = tmp_path_factory.mktemp("recorded")
    with play(PROJECT, storage=folder / "s") as run:
        for batch in range(5):
            run.feed("orders", orders(batch))
        live = Storage(str(folder / "s"))  # beside a weaver that runs
        export(live, "clean-orders", 2, 4, folder / "clean")
        export(live, "revenue", 1, 5, folder / "revenue")
        for first, last, code in ((40, 50, "recording.unusable"), (2, 4, "recording.unusable")):
            with pytest.raises(WeftError) as caught:
                export(live, "revenue", first, last, folder / "none")
            assert caught.value.code == code
        with pytest.raises(WeftError):
            export(live, "orders", 1, 2, folder / "none")
        with pytest.raises(WeftError):
            export(live, "clean-orders", 1, 2, folder / "clean")
        assert not (folder / "none").exists()
        aside = [{"filter": "total > 3"}]
        run.attach(stream="clean-orders", id="large", steps=aside, output="large", percent=50)
        run.attach(stream="clean-orders", id="loud", steps=LOUD, guards=["rows_in < 1000"])
        run.attach(stream="revenue", id="few", steps=[{"filter": "false"}])
        run.feed("orders", orders(5))
        run.promote("large", in_place=True)
        run.retire("loud")
        run.feed("orders", orders(6))
        run.retire("few")
        run.promote("large", percent=100)
        run.feed("orders", orders(7))
        export(live, "clean-orders", 5, 8, folder / "ruled")
        export(live, "revenue", 1, 8, folder / "ruled-revenue")
    return folder


def changed(**pipeline: Any) -> dict[str, Any]:
    clean = {**PROJECT["pipelines"]["clean"], **pipeline}
    return {**PROJECT, "pipelines": {**PROJECT["pipelines"], "clean": clean}}


def test_a_folder_is_small_and_readable(cut_out: Path) -> None:
    lines = (cut_out / "clean/inputs/orders/0000000002.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [10, 11, 12, 13]
    assert json.loads((cut_out / "clean/project.json").read_text())["app_name"] == "shop"


def test_the_same_code_gives_what_it_gave(cut_out: Path, tmp_path: Path) -> None:
    assert recorded(cut_out / "clean").differences(PROJECT, storage=tmp_path / "a") == []
    assert recorded(cut_out / "revenue").differences(PROJECT, storage=tmp_path / "b") == []


def test_rules_that_were_in_force_are_in_force_in_the_same_knots(
    cut_out: Path, tmp_path: Path
) -> None:
    found = recorded(cut_out / "ruled")
    rules = [[(one.id, one.percent) for one in knot.rules] for knot in found.recording.knots]
    assert rules == [[], [("large", 50), ("loud", 100)], [("large", 50)], [("large", 100)]]
    assert found.differences(PROJECT, storage=tmp_path / "a") == []
    window = recorded(cut_out / "ruled-revenue")
    assert any(knot.rules for knot in window.recording.knots)
    assert window.differences(PROJECT, storage=tmp_path / "b") == []


def test_a_rule_that_the_project_of_today_cannot_take_is_told(
    cut_out: Path, tmp_path: Path
) -> None:
    steps = [{"filter": "total > 0"}, {"select": ["id", "total"]}]
    other = changed(steps=steps)
    other["pipelines"].pop("revenue")
    with pytest.raises(WeftError) as caught:
        recorded(cut_out / "ruled").differences(other, storage=tmp_path)
    assert "country" in str(caught.value)


def test_what_other_code_gives_otherwise_is_shown_knot_by_knot(
    cut_out: Path, tmp_path: Path
) -> None:
    steps = [{"filter": "total > 1"}, {"set": {"country": "upper(country)"}}]
    found = recorded(cut_out / "clean").differences(changed(steps=steps), storage=tmp_path)
    assert [one.knot for one in found] == [2, 3, 4]
    assert [[row["id"] for row in one.missing] for one in found] == [[12], [22], [32]]
    assert all(one.extra == () for one in found)


def test_a_window_that_counts_otherwise_is_shown(cut_out: Path, tmp_path: Path) -> None:
    revenue = {**PROJECT["pipelines"]["revenue"], "window": {"type": "tumbling", "size_ms": 5000}}
    other = {**PROJECT, "pipelines": {**PROJECT["pipelines"], "revenue": revenue}}
    [found] = recorded(cut_out / "revenue").differences(other, storage=tmp_path)
    assert found.knot is None and found.missing and found.extra


def test_what_cannot_be_fed_is_refused(cut_out: Path, tmp_path: Path) -> None:
    other = changed(to="elsewhere")
    other["pipelines"].pop("revenue")
    with pytest.raises(WeftError) as caught:
        recorded(cut_out / "clean").differences(other, storage=tmp_path / "a")
    assert caught.value.code == "recording.unusable"
    with pytest.raises(WeftError):
        recorded(tmp_path)
    with play(RELAY, storage=tmp_path / "s") as run:
        for batch in range(3):
            run.feed("orders", orders(batch))
        trim(run, "orders")
        with pytest.raises(WeftError) as caught:
            export(run.storage, "clean-orders", 1, 2, tmp_path / "gone")
        assert caught.value.code == "history.rows-gone"
