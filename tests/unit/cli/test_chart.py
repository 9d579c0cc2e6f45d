"""`weft scaling history`: a load, drawn within 80 columns."""

from __future__ import annotations

from typing import Any

from tests.unit.cli.fake import FakeWeaver, run
from weft.cli.chart import bars


def answer(rows: list[dict[str, Any]]) -> FakeWeaver:
    found = {"pipeline": "clean", "stream": "clean-orders", "step_s": 60, "knots": 9, "rows": rows}
    return FakeWeaver({"GET /scaling/history": found})


def row(start: int, rate: float) -> dict[str, Any]:
    mean, peak = {"rate_in": rate, "batch_ms": 1e9 / 3}, {"rate_in": 2 * rate, "batch_ms": 1e9}
    return {"start_s": start, "step_s": 60, "points": 3, "mean": mean, "peak": peak}


def test_a_load_is_drawn_within_80_columns() -> None:
    rows = [row(60 * minute, 1e6 * minute) for minute in range(100) if minute != 97]
    shown = run("scaling", "history", "clean", weaver=answer(rows))
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "█" in lines[1] and lines[1].startswith("in, a second") and "█ █" in lines[1]
    assert not any("executors" in line for line in lines)


def test_what_is_asked_for_is_handed_on() -> None:
    weaver = answer([row(0, 1.0)])
    run("scaling", "history", "clean", "--step", "15m", weaver=weaver)
    assert weaver.params == {"pipeline": "clean", "step": "15m"}


def test_a_pipeline_without_a_load_is_told() -> None:
    assert "Nothing was measured" in run("scaling", "history", "clean", weaver=answer([])).stdout


def test_bars_rise_from_nothing_to_the_highest() -> None:
    assert bars([0.0, 4.0, 8.0, None, 1.0]) == "▁▄█ ▁"
    assert bars([0.0, None]) == "▁ "
    assert bars([]) == ""
