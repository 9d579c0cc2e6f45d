"""`weft scaling`: the contest and what-if over files of arrivals."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.spark.projects import shop
from tests.unit.cli.fake import FakeWeaver, run
from weft.cli import terms
from weft.scaling import policy

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def arrivals(tmp_path: Path) -> str:
    """An hour of counts by the minute, with a crowd in it."""
    counts = [600] * 30 + [3_000] * 10 + [600] * 20
    lines = [
        f"{START + timedelta(minutes=minute):%Y-%m-%d %H:%M:%S},{count}"
        for minute, count in enumerate(counts)
    ]
    file = tmp_path / "arrivals.csv"
    file.write_text("period,count\n" + "\n".join(lines) + "\n")
    return str(file)


def test_the_contest_shows_everyone_beside_the_reactive_rule_and_the_peak(arrivals: str) -> None:
    shown = run("scaling", "contest", "--arrivals", arrivals, weaver=FakeWeaver({}))
    assert shown.exit_code == 0
    names = [line.split()[0] for line in shown.stdout.splitlines()[4:]]
    assert names[:2] == ["weft", "ds2"] and names[-1] == "peak"
    assert "boosted-calm" in names


def test_the_contest_as_json_has_terms_and_standings(arrivals: str) -> None:
    line = ["scaling", "contest", "--arrivals", arrivals, "--capacity", "10", "--start-up", "120"]
    shown = json.loads(run(*line, "--output", "json", weaver=FakeWeaver({})).stdout)
    assert shown["capacity"] == 10
    assert shown["terms"]["start_up_s"] == 120
    assert {"name", "within", "hours", "vs_optimum", "actions_a_day"} <= set(shown["standings"][0])
    assert shown["decisions"][0]["reason"]


def test_the_contest_takes_the_calendar_of_a_project(
    arrivals: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    monkeypatch.setattr(
        "weft.scaling.contest.forecasts",
        lambda model, counts, times: given.append(times) or [None] * len(counts),
    )
    file = tmp_path / "weft.yaml"
    said = {"scaling": {"calendar": {"crowd": "2026-01-01T00:30/2026-01-01T00:40"}}}
    file.write_text(json.dumps({**shop(), "processing": said}))
    line = ["scaling", "contest", "--arrivals", arrivals, "--calendar"]
    assert run(*line, str(file), weaver=FakeWeaver({})).exit_code == 0
    assert given[0].turns() == [30, 40]
    file.write_text(json.dumps({**shop(), "processing": {"scaling": {"calendar": "soon"}}}))
    assert run(*line, str(file), weaver=FakeWeaver({})).exit_code == 2


def test_a_budget_of_executor_hours_is_kept(arrivals: str) -> None:
    line = ["scaling", "contest", "--arrivals", arrivals, "--capacity", "10", "--budget", "30"]
    shown = json.loads(run(*line, "--output", "json", weaver=FakeWeaver({})).stdout)
    assert shown["terms"]["hours_a_day"] == 30
    assert shown["standings"][0]["hours"] < 1.4


def test_what_if_multiplies_the_load_of_a_file(arrivals: str) -> None:
    line = ["scaling", "what-if", "--arrivals", arrivals, "--capacity", "10", "--output", "json"]
    once, twice, dearer = (
        json.loads(run(*line, *more, weaver=FakeWeaver({})).stdout)
        for more in ([], ["--rate", "x2"], ["--cost", "2"])
    )
    assert twice["enough"] == dearer["enough"] > once["enough"]


def test_what_if_says_when_so_many_executors_no_longer_hold(arrivals: str) -> None:
    line = ["scaling", "what-if", "--arrivals", arrivals, "--capacity", "10", "--executors", "2"]
    shown = run(*line, weaver=FakeWeaver({}))
    assert "2026-01-01 00:3" in shown.stdout
    assert "never" in run(*line[:-1], "9", weaver=FakeWeaver({})).stdout


def test_what_if_takes_a_rate_that_goes_on() -> None:
    line = ["scaling", "what-if", "--rate", "500", "--capacity", "100", "--output", "json"]
    shown = json.loads(run(*line, weaver=FakeWeaver({})).stdout)
    assert shown["enough"] == 5


@pytest.mark.parametrize(
    "words",
    [
        ["--rate", "500"],
        ["--rate", "x2"],
        ["--rate", "fast"],
        ["--rate", "-3", "--capacity", "1"],
        [],
    ],
)
def test_what_if_says_what_it_needs(words: list[str]) -> None:
    assert run("scaling", "what-if", *words, weaver=FakeWeaver({})).exit_code == 2


def test_a_file_that_is_not_there_or_no_arrivals_is_told(tmp_path: Path) -> None:
    line = ["scaling", "contest", "--output", "json", "--arrivals"]
    missing = run(*line, str(tmp_path / "none.csv"), weaver=FakeWeaver({}))
    assert (missing.exit_code, json.loads(missing.stderr)["code"]) == (3, "arrivals.unreadable")
    empty = tmp_path / "empty.csv"
    empty.touch()
    broken = run(*line, str(empty), weaver=FakeWeaver({}))
    assert (broken.exit_code, json.loads(broken.stderr)["code"]) == (2, "arrivals.unreadable")
    empty.write_text("at,n\n2026-01-01 00:00:00,0\n2026-01-01 00:01:00,0\n2026-01-01 00:02:00,0\n")
    nothing = run(*line, str(empty), weaver=FakeWeaver({}))
    assert (nothing.exit_code, json.loads(nothing.stderr)["code"]) == (2, "scaling.refused")


def test_a_recorded_load_is_played_with_what_was_measured() -> None:
    rows = [{"start_s": 60 * n, "mean": {"rate_in": 100.0 + n % 7}} for n in range(30) if n != 9]
    cost = {
        "core_s": 0.016,
        "core_s_with": 0.032,
        "cores_each": 2.0,
        "usable": 0.8,
        "start_up_s": 12.0,
    }
    answers = {
        "GET /scaling/history": {"pipeline": "clean", "step_s": 60, "rows": rows},
        "GET /scaling/cost": cost,
    }
    line = ["scaling", "what-if", "--pipeline", "clean", "--output", "json"]
    now = json.loads(run(*line, weaver=FakeWeaver(answers)).stdout)
    assert now["enough"] == 2
    twice = run(*line, "--rate", "x2", "--rule", "dear", weaver=FakeWeaver(answers))
    assert json.loads(twice.stdout)["enough"] == 4
    played = run(
        *("scaling", "contest", "--pipeline", "clean", "--output", "json"),
        weaver=FakeWeaver(answers),
    )
    said = json.loads(played.stdout)["terms"]
    assert (said["cost_s"], said["start_up_s"]) == (0.01, 12.0)


def test_a_load_must_be_said_once() -> None:
    weaver = FakeWeaver({})
    assert run("scaling", "contest", weaver=weaver).exit_code == 2
    both = ["--pipeline", "clean", "--arrivals", "x.csv"]
    assert run("scaling", "contest", *both, weaver=weaver).exit_code == 2
    rule = ["--rate", "5", "--capacity", "1", "--rule", "dear"]
    assert run("scaling", "what-if", *rule, weaver=weaver).exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        ["--rate", "1e300", "--capacity", "1e-300"],
        ["--rate", "1e300", "--capacity", "1"],
        ["--rate", "5", "--capacity", "1e-300"],
        ["--rate", "5", "--capacity", "nan"],
        ["--rate", "5", "--capacity", "2", "--cost", "1e300"],
        ["--rate", "5", "--capacity", "2", "--executors", "1000000"],
        ["--rate", "5", "--capacity", "2", "--for", "1e300"],
        ["--rate", "5", "--capacity", "2", "--interval", "1e-9"],
        ["--rate", "5", "--capacity", "2", "--interval", "1e5"],
        ["--rate", "5", "--capacity", "2", "--interval", "0.1", "--for", "86400"],
        ["--rate", "5", "--capacity", "2", "--interval", "0.1", "--start-up", "3600"],
        ["--rate", "5", "--capacity", "2", "--start-up", "1e300"],
    ],
    ids=" ".join,
)
def test_what_nobody_could_play_is_refused(words: list[str]) -> None:
    refused = run("scaling", "what-if", *words, weaver=FakeWeaver({}))
    assert refused.exit_code == 2 and refused.stdout == ""


@pytest.mark.parametrize("command", ["what-if", "contest"])
def test_a_file_with_a_gap_of_years_is_refused_with_its_record(arrivals: str, command: str) -> None:
    with Path(arrivals).open("a") as file:
        file.write(f"{START + timedelta(minutes=5_000_000):%Y-%m-%d %H:%M:%S},5\n")
    line = ["scaling", command, "--output", "json", "--arrivals", arrivals]
    refused = run(*line, weaver=FakeWeaver({}))
    told = json.loads(refused.stderr)
    assert (refused.exit_code, told["code"]) == (2, "arrivals.unreadable")
    assert told["ids"]["record"] == 61


def test_a_load_that_is_multiplied_too_often_is_refused(arrivals: str) -> None:
    line = ["scaling", "what-if", "--arrivals", arrivals, "--rate", "x1e300"]
    assert run(*line, weaver=FakeWeaver({})).exit_code == 2


def test_the_most_and_the_least_that_may_be_said_are_played() -> None:
    for words in (["1e12", "--capacity", "1e-6"], ["1e-6", "--capacity", "1e12"]):
        line = ["scaling", "what-if", "--rate", *words, "--output", "json"]
        assert run(*line, weaver=FakeWeaver({})).exit_code == 0


def test_as_many_executors_may_be_said_as_are_planned_with() -> None:
    assert terms.MOST_EXECUTORS == policy.MOST_EXECUTORS
