"""Replays and explained records at a terminal: what is asked, and how it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.fake import FakeWeaver, run
from weft.errors import EDGES
from weft.loading.load import load
from weft.loading.problem import ProjectError

REPLAY: dict[str, Any] = {
    "id": "replay-1",
    "status": "done",
    "stream": "revenue",
    "after": 2,
    "first_knot": 3,
    "upto": 9,
    "steps": ["run knots 3 to 9 of revenue again"],
    "changes": False,
    "verified": True,
    "first": None,
    "legs": [
        {
            "pipeline": "revenue",
            "stream": "revenue",
            "knots": 7,
            "rows": 700,
            "seconds": 2.0,
            "behind_s": 1.5,
            "differing": 0,
            "mismatches": [],
        }
    ],
    "comparison": None,
    "warnings": [],
    "progress": None,
    "asked": "2026-01-01T00:00:00Z",
    "finished": "2026-01-01T00:00:02Z",
    "error": None,
    "workspace": "replays/replay-1",
}
COMPARISON: dict[str, Any] = {
    "stream": "revenue",
    "after": 2,
    "upto": 9,
    "same": 5,
    "changed": 1,
    "missing": 2,
    "extra": 0,
    "by_column": {"total": 1},
    "totals": {"total": [9.0, 18.0]},
    "examples": [{"id": "orders/0/1", "recorded": {"total": 1.0}, "replayed": None}],
    "file": "replays/replay-1/differences/revenue",
}


def test_knots_that_came_out_the_same_are_verified() -> None:
    ended = run(
        "replay", "run", "revenue", "--knots", "3..9", weaver=FakeWeaver({"POST /replays": REPLAY})
    )
    assert ended.exit_code == 0
    assert "7 knots, 700 rows, 2.0 s  350 rows/s" in ended.stdout
    assert "Everything came out as it is recorded." in ended.stdout
    assert "at most 1.5 s behind the pace" in ended.stdout


def test_knots_that_differ_end_with_1_and_the_first_difference() -> None:
    first = {"stream": "revenue", "knot": 4, "what": "output", "text": "its rows have another hash"}
    found = {**REPLAY, "verified": False, "first": first, "comparison": COMPARISON}
    ended = run("replay", "run", "revenue", weaver=FakeWeaver({"POST /replays": found}))
    assert ended.exit_code == 1
    assert "First difference: knot 4 of revenue: its rows have another hash." in ended.stdout
    assert "missing" in ended.stdout


def test_changes_are_asked_for_as_they_are_typed(tmp_path: Path) -> None:
    more = tmp_path / "more.jsonl"
    more.write_text('{"id": 1}\n\n{"id": 2}\n')
    found = {**REPLAY, "changes": True, "verified": None, "comparison": COMPARISON}
    weaver = FakeWeaver({"POST /replays": found})
    options = ["--knots", "7", "--filter", "total > 1", "--on", "orders", "--without", "vat"]
    options += ["--leave-out", "orders=country = 'de'", "--add", f"orders={more}"]
    options += ["--with", "pipelines.revenue.window.size_ms=60000", "--function", "shop:mask=ab12"]
    ended = run("replay", "run", "revenue", *options, weaver=weaver)
    assert ended.exit_code == 0, ended.output
    assert (weaver.body["after"], weaver.body["upto"]) == (6, 7)
    assert weaver.body["change"] == {
        "rules": [{"stream": "orders", "steps": [{"filter": "total > 1"}]}],
        "without": ["vat"],
        "leave_out": {"orders": "country = 'de'"},
        "add": {"orders": [{"id": 1}, {"id": 2}]},
        "settings": {"pipelines.revenue.window.size_ms": 60000},
        "functions": {"shop:mask": "ab12"},
        "project": None,
    }
    assert "Changed columns: total (1)" in ended.stdout


def test_what_cannot_be_read_is_said_before_anything_is_asked() -> None:
    for option, value in (("--knots", "a..b"), ("--add", "orders=/none"), ("--leave-out", "x")):
        ended = run("replay", "run", "revenue", option, value)
        assert ended.exit_code == 2, ended.output


def test_replays_are_a_line_each() -> None:
    weaver = FakeWeaver({"GET /replays": [REPLAY]})
    heading, line = run("replay", "list", weaver=weaver).stdout.splitlines()
    assert heading.split() == ["REPLAY", "STREAM", "KNOTS", "STATUS", "RESULT", "ASKED"]
    assert line.split()[:5] == ["replay-1", "revenue", "3..9", "done", "verified"]


def test_a_record_is_a_tree_back_to_its_source() -> None:
    parent = _record(
        "orders",
        {"id": 17, "country": "de"},
        source="orders, partition 0",
        raw='{"country": "de", "tags": ["[red]"]}',
    )
    step = {
        "by": "rule:upper",
        "step": {"set": {"country": "upper(country)"}},
        "version": "ab" * 32,
        "before": {"id": 17, "country": "de"},
        "after": {"id": 17, "country": "DE"},
        "attached": "ada at 2026-01-01",
    }
    explained = _record("clean", {"id": 17, "country": "DE"}, steps=[step], parents=[parent])
    places = [{"stream": "big", "knot": 4, "row": {"id": 17}, "id": "orders/0/17"}]
    answer = {"id": "orders/0/17", "explained": explained, "into": [], "places": places}
    weaver = FakeWeaver({"GET /records/clean/orders/0/17": answer})
    shown = run("record", "show", "clean", "orders/0/17", weaver=weaver).stdout
    lines = [line.strip("│├└─ ") for line in shown.splitlines()]
    assert 'rule:upper (ababababab), ada at 2026-01-01: set {"country":"upper(country)"}' in lines
    assert "country: de → DE" in lines
    assert "came in from orders, partition 0" in lines
    assert '{"country": "de", "tags": ["[red]"]}' in lines
    assert lines[-1].split() == ["big", "4", '{"id":17}']


def _record(stream: str, row: dict[str, Any], **more: Any) -> dict[str, Any]:
    known = {
        "written_down": None,
        "steps": [],
        "parents": [],
        "source": None,
        "raw": None,
        "note": None,
        "count": 0,
        **more,
    }
    created = "2026-01-01T00:00:00Z"
    return {
        "id": "orders/0/17",
        "stream": stream,
        "knot": 3,
        "row": row,
        "created": created,
        **known,
    }


def test_why_a_record_is_not_there_is_a_sentence() -> None:
    found = {
        "id": "orders/0/1",
        "stream": "clean",
        "cause": "filtered",
        "text": "Knot 2 of clean has filtered by step:0: filter total > 0.",
        "row": {"total": -1, "_weft": {}},
    }
    weaver = FakeWeaver({"GET /absences/clean": [found]})
    shown = run("record", "why-not", "clean", "orders/0/1", weaver=weaver).stdout
    assert shown == (
        'orders/0/1: Knot 2 of clean has filtered by step:0: filter total > 0.\n  {"total":-1}\n'
    )
    assert run("record", "why-not", "clean").exit_code == 2


def test_the_first_bad_knot_comes_with_what_is_different_there() -> None:
    change = {"what": "rule", "text": "rule vat is in force, attached by ada", "diff": None}
    found = {"stream": "clean", "knot": 8, "looks": 4, "rows": [], "changes": [change]}
    weaver = FakeWeaver({"POST /bisects": found})
    options = ("--good", "1", "--bad", "9", "--check", "total > 0")
    shown = run("bisect", "clean", *options, weaver=weaver).stdout
    assert shown.splitlines() == [
        "Knot 8 of clean is the first bad one (4 looks).",
        "  rule vat is in force, attached by ada",
    ]
    assert run("bisect", "clean").exit_code == 2


def test_a_command_may_say_which_knots_are_bad() -> None:
    knots = [{"number": number, "status": "COMPLETE"} for number in range(1, 21)]
    weaver = FakeWeaver({"GET /knots": knots, "GET /knots/clean/13/changes": []})
    options = ("--bad", "20", "--run", 'test "$WEFT_KNOT" -lt 13')
    shown = run("bisect", "clean", *options, weaver=weaver).stdout
    assert shown.startswith("Knot 13 of clean is the first bad one")


def test_a_replay_that_failed_says_why_and_what_to_do() -> None:
    error = {"message": "Column 'at' is missing.", "hint": "Write it.", "code": "replay.added"}
    failed = {**REPLAY, "status": "aborted", "verified": None, "legs": [], "error": error}
    ended = run("replay", "run", "revenue", weaver=FakeWeaver({"POST /replays": failed}))
    assert ended.exit_code == 1
    assert "Column 'at' is missing." in ended.stdout and "Write it." in ended.stdout


@pytest.mark.parametrize("said", ["-1..2", "0..2", "4..3", "x", "1..", "3...4", ""])
def test_knots_are_counted_from_one(said: str) -> None:
    ended = run("replay", "run", "revenue", f"--knots={said}")
    assert ended.exit_code == 2
    assert "Invalid value for '--knots'" in ended.stderr


def test_a_record_that_is_none_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "more.jsonl"
    file.write_text('{"id": 1}\n\nnothing\n')
    ended = run("replay", "run", "revenue", "--add", f"orders={file}")
    assert ended.exit_code == 2 and f"Line 3 of {file}" in ended.stderr.replace("\n", " ")


def test_what_is_wrong_with_a_project_that_is_tried_is_listed() -> None:
    try:
        load({"app_name": "x", "streams": {"a": {"source": {"mock": {"rate": -1}}}}})
    except ProjectError as error:
        wrong = error
    weaver = FakeWeaver({"POST /replays": wrong})
    ended = run("replay", "run", "revenue", "--with", "a=1", weaver=weaver)
    assert ended.exit_code == EDGES["user"].exit_code
    assert "1 problem found." in ended.stderr


def test_a_bisection_ends_where_its_command_cannot_be_run() -> None:
    knots = [{"number": n, "status": "COMPLETE"} for n in (4, 3, 2, 1)]
    weaver = FakeWeaver({"GET /knots": knots})
    ended = run("bisect", "orders", "--bad", "4", "--run", "/nonexistent/x.sh", weaver=weaver)
    assert ended.exit_code != 0 and "status 127" in ended.stderr
    ended = run("bisect", "orders", "--good", "5", "--bad", "2", "--run", "true", weaver=weaver)
    assert ended.exit_code == 2
