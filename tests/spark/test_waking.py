"""Pipelines that read streams are woken by what is added to them, and by those that stop them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from weft.runtime import loop
from weft.streams import intake
from weft.testing import play

IDS = {"id": "long", "at": "timestamp"}
PROJECT: dict[str, Any] = {
    "app_name": "waking",
    "watermarks": {"delay_seconds": 0},
    "streams": {
        name: {"source": {"mock": {}}, "schema": IDS, "key": "id", "event_time": "at"}
        for name in ("left", "right")
    },
    "pipelines": {
        "both": {"from": ["left", "right"], "steps": [], "to": "all"},
        "small": {"from": "all", "steps": [{"filter": "id < 10"}], "to": "small"},
        "counts": {
            "from": "small",
            "window": {"type": "tumbling", "size_ms": 1000},
            "aggregate": {"n": "count(*)"},
            "to": "counts",
        },
    },
}


@pytest.fixture(autouse=True)
def _nobody_looks_by_himself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LOOK_MS", 600_000)
    monkeypatch.setattr(loop, "WAIT_MS", 600_000)


def record(number: int, second: int) -> dict[str, Any]:
    return {"id": number, "at": f"2026-01-01T00:00:{second:02d}Z"}


def test_what_is_added_to_any_input_wakes_all_that_follow(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("right", [record(1, 0)])
        run.feed("left", [record(2, 0), record(30, 1)])
        run.feed("right", [record(3, 5)])
        run.feed("left", [record(4, 6)])
        assert sorted(row["id"] for row in run.rows("small")) == [1, 2, 3, 4]
        assert [row["n"] for row in run.rows("counts")] == [2]


def test_what_one_batch_leaves_of_another_input_is_taken_by_the_next(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        run.api.post("/pipelines/both/stop").raise_for_status()
        for number in range(3):
            run.feed("right", [record(number, number)])
        run.api.post("/pipelines/both/start").raise_for_status()
        run.settle()
        assert [row["id"] for row in run.rows("all")] == [0, 1, 2]


def test_a_pipeline_that_waits_can_be_rolled_back_and_changed(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("left", [record(1, 0)])
        run.feed("left", [record(2, 0)])
        run.rollback("all", to=1)
        run.apply(
            {
                **PROJECT,
                "pipelines": {
                    **PROJECT["pipelines"],
                    "small": {"from": "all", "steps": [{"filter": "id < 2"}], "to": "small"},
                },
            }
        )
        run.feed("right", [record(0, 3)])
        assert sorted(row["id"] for row in run.rows("small")) == [0, 1, 2]
