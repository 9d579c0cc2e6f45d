"""Labelled series from files, scored by the command."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from weft.cli.root import cli

START = datetime(2026, 1, 1)  # noqa: DTZ001 - files have times without a zone


def moment(row: int) -> str:
    return f"{START + timedelta(minutes=5 * row):%Y-%m-%d %H:%M:%S}"


def write(folder: Path, *, spike: int | None, windows: Any, name: str = "made/one.csv") -> Path:
    random = Random(2)
    values = [random.gauss(10, 1) for _ in range(1000)]
    if spike is not None:
        values[spike] = 90.0
    file = folder / "data" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{moment(row)},{value}" for row, value in enumerate(values)]
    file.write_text("timestamp,value\n" + "\n".join(lines) + "\n")
    labels = folder / "windows.json"
    known = json.loads(labels.read_text()) if labels.exists() else {}
    labels.write_text(json.dumps({**known, name: windows}))
    return labels


def run(folder: Path, windows: Path, *, status: int = 0) -> dict[str, Any]:
    line = ["anomaly", "score", "--series", str(folder), "--windows", str(windows)]
    done = CliRunner().invoke(cli, [*line, "--output", "json"])
    assert done.exit_code == status, done.output
    found: dict[str, Any] = json.loads(done.stderr if status else done.stdout)
    return found


def test_series_below_a_folder_are_scored(tmp_path: Path) -> None:
    windows = write(tmp_path, spike=700, windows=[[moment(690) + ".000000", moment(740)]])
    write(tmp_path, spike=None, windows=[], name="made/two.csv")
    for folder in (tmp_path, tmp_path / "data"):
        found = run(folder, windows)
        assert (found["series"], found["rows"], found["missing"]) == (2, 2000, [])
        standard = found["scores"][0]
        assert (standard["profile"], standard["found"], standard["windows"]) == ("standard", 1, 1)
        assert standard["score"] > 80


def test_series_that_are_not_there_are_named(tmp_path: Path) -> None:
    windows = write(tmp_path, spike=700, windows=[[moment(690), moment(740)]])
    windows.write_text(json.dumps({**json.loads(windows.read_text()), "made/gone.csv": []}))
    assert run(tmp_path, windows)["missing"] == ["made/gone.csv"]


@pytest.mark.parametrize("windows", [[["never", "ever"]], [[1]], 5, [["2020-01-01", "2020-01-02"]]])
def test_windows_that_fit_nothing_are_refused(tmp_path: Path, windows: Any) -> None:
    file = write(tmp_path, spike=None, windows=windows)
    assert run(tmp_path, file, status=2)["code"] == "anomaly.unreadable"


@pytest.mark.parametrize("text", ["", "timestamp,value\n", "timestamp,value\nnever,1\n", "a\n1\n"])
def test_broken_series_are_refused(tmp_path: Path, text: str) -> None:
    windows = write(tmp_path, spike=None, windows=[])
    (tmp_path / "data/made/one.csv").write_text(text)
    assert run(tmp_path, windows, status=2)["code"] == "anomaly.unreadable"


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    assert run(tmp_path, tmp_path / "none.json", status=3)["code"] == "anomaly.unreadable"
    (tmp_path / "windows.json").write_text("[]")
    assert run(tmp_path, tmp_path / "windows.json", status=2)["code"] == "anomaly.unreadable"
    (tmp_path / "windows.json").write_text('{"a.csv": []}')
    assert run(tmp_path, tmp_path / "windows.json", status=2)["code"] == "anomaly.unreadable"
