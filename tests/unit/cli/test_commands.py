"""Commands against a weaver that answers as told: what they ask, what they print, how they end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import httpx
import pytest

from tests.unit.cli.fake import FakeWeaver, run
from tests.unit.cli.forms import make_knot, make_pipeline, make_rule, make_stream
from weft.cli.root import cli
from weft.errors import EDGES, WeftError
from weft.lineage.knot import Status


def test_json_is_the_answer_of_the_api_as_it_is() -> None:
    answer = [make_pipeline()]
    shown = run(
        "pipeline", "list", "--output", "json", weaver=FakeWeaver({"GET /pipelines": answer})
    )
    assert json.loads(shown.stdout) == answer


def test_a_pipeline_is_a_line_with_its_state_and_how_far_it_is_behind() -> None:
    weaver = FakeWeaver({"GET /pipelines": [make_pipeline()]})
    heading, line = run("pipeline", "list", weaver=weaver).stdout.splitlines()
    assert heading.split() == ["PIPELINE", "FROM", "TO", "STATE", "KNOT", "BEHIND", "WORKER"]
    assert line.split() == ["clean", "orders", "clean-orders", "running", "7", "1", "w-1"]


def test_a_pipeline_that_starts_slowly_says_so() -> None:
    slow = make_pipeline(state="starting", starting_s=48)
    shown = run("pipeline", "list", weaver=FakeWeaver({"GET /pipelines": [slow]})).stdout
    assert "clean has been starting for 48 s" in shown
    quick = make_pipeline(state="starting", starting_s=2)
    shown = run("pipeline", "list", weaver=FakeWeaver({"GET /pipelines": [quick]})).stdout
    assert "has been" not in shown


def test_the_error_of_a_pipeline_is_shown_below_it() -> None:
    failed = make_pipeline(state="failed", error={"message": "It cannot be read."})
    assert (
        "It cannot be read."
        in run("pipeline", "list", weaver=FakeWeaver({"GET /pipelines": [failed]})).stdout
    )


@pytest.mark.parametrize("domain", EDGES)
def test_an_error_ends_with_the_exit_code_of_its_domain(domain: str) -> None:
    error = WeftError("No.", code="some.code", domain=domain, hint="Do that.")  # type: ignore[arg-type]
    ended = run("stream", "list", weaver=FakeWeaver({"GET /streams": error}))
    assert ended.exit_code == EDGES[error.domain].exit_code
    assert ended.stderr == "error: No. [some.code]\nhint:  Do that.\n"
    assert ended.stdout == ""


def test_an_error_in_json_has_all_its_fields() -> None:
    error = WeftError("No.", code="some.code", domain="missing", hint="Do that.", stream="orders")
    weaver = FakeWeaver({"GET /streams": error})
    ended = run("stream", "list", "--output", "json", weaver=weaver)
    assert json.loads(ended.stderr) == error.to_dict()


def test_a_weaver_that_is_away_is_said_in_a_sentence() -> None:
    class Away(FakeWeaver):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("Connection refused")

    ended = run("status", "--output", "json", weaver=Away())
    assert ended.exit_code == EDGES["external"].exit_code
    assert json.loads(ended.stderr)["code"] == "weaver.away"


def test_the_log_of_a_stream_has_a_line_per_knot_newest_first() -> None:
    knots = [make_knot(3, status=Status.ROLLED_BACK), make_knot(2)]
    lines = run("stream", "log", "clean-orders", weaver=FakeWeaver({"GET /knots": knots})).stdout
    first, second = lines.splitlines()[1:]
    assert first.split()[0] == "3" and "ROLLED_BACK" in first
    assert second.split()[0] == "2" and "big (10 %)" in second and "COMPLETE" in second


def test_the_graph_marks_knots_that_were_rolled_back() -> None:
    knots = [make_knot(3, status=Status.ROLLED_BACK), make_knot(2)]
    weaver = FakeWeaver({"GET /knots": knots})
    lines = run("stream", "log", "clean-orders", "--graph", weaver=weaver).stdout.splitlines()[1:]
    assert [line[:3].strip() for line in lines] == ["│ ×", "●"]


def test_a_long_log_is_read_page_by_page() -> None:
    class Pages(FakeWeaver):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            before = int(request.url.params.get("before", 1501))
            limit = int(request.url.params["limit"])
            numbers = range(before - 1, max(0, before - 1 - limit), -1)
            self.answers = {"GET /knots": [make_knot(number) for number in numbers]}
            return super().__call__(request)

    weaver = Pages()
    shown = run("stream", "log", "s", "-n", "1200", "--output", "json", weaver=weaver)
    assert [knot["number"] for knot in json.loads(shown.stdout)] == list(range(1500, 300, -1))
    assert len(weaver.asked) == 2


def test_a_knot_is_shown_with_its_ledger_as_a_sum() -> None:
    weaver = FakeWeaver({"GET /knots/clean-orders/2": make_knot(2)})
    shown = run("knot", "show", "clean-orders", "2", weaver=weaver).stdout
    assert "10 in = 8 out + 2 filtered (step:1)" in shown
    assert "orders 1–2" in shown


def test_a_head_is_printed_with_its_whole_hash() -> None:
    side = make_stream(name="large", origin="orders")
    new = make_stream(name="new", origin="new", knot=None, hash=None)
    weaver = FakeWeaver({"GET /streams": [make_stream(), side, new]})
    first, second = run("stream", "head", weaver=weaver).stdout.splitlines()
    assert first.split() == ["cd" * 32, "knot", "7", "of", "orders"]
    assert second.split() == ["no", "knot", "yet", "new"]
    weaver = FakeWeaver({"GET /streams/large": side})
    assert "cd" * 32 in run("stream", "head", "large", weaver=weaver).stdout


def test_columns_of_a_stream_are_shown_with_their_types() -> None:
    weaver = FakeWeaver({"GET /streams/orders": make_stream()})
    shown = run("stream", "show", "orders", weaver=weaver).stdout
    assert "decimal(10,2)" in shown and "bigint" in shown


def test_lineage_is_a_tree_up_and_down() -> None:
    node = {"stream": "clean", "first": 2, "last": 2}
    above, below = (
        {"stream": "orders", "first": 3, "last": 5},
        {"stream": "sums", "first": 1, "last": 1},
    )
    answer = {
        "start": node,
        "nodes": [
            {**node, "rules": ["big"], "anomalies": ["clean/7.rate"]},
            {**above, "rules": [], "anomalies": []},
            {**below, "rules": [], "anomalies": []},
        ],
        "edges": [{"from": above, "to": node}, {"from": node, "to": below}],
    }
    shown = run("lineage", "clean", "2", weaver=FakeWeaver({"GET /lineage": answer})).stdout
    assert [line.strip("│├└─ ") for line in shown.splitlines()] == [
        "clean 2  (rules: big; unusual: clean/7.rate)",
        "came from",
        "orders 3–5",
        "went into",
        "sums 1",
    ]


def test_openlineage_events_are_printed_as_they_are() -> None:
    weaver = FakeWeaver({"GET /lineage/openlineage": [{"eventType": "COMPLETE"}]})
    shown = run("lineage", "orders", "--openlineage", weaver=weaver).stdout
    assert json.loads(shown) == [{"eventType": "COMPLETE"}]


def test_windows_are_listed_with_their_values() -> None:
    window = {"key": "de", "start": None, "end": None, "records": 2, "values": {"orders": 2}}
    weaver = FakeWeaver({"GET /windows": {"windows": [{"pipeline": "revenue", **window}]}})
    line = run("windows", weaver=weaver).stdout.splitlines()[1]
    assert line.split() == ["revenue", "de", "-", "-", "2", "orders=2"]


def test_steps_of_a_rule_keep_the_order_in_which_they_are_typed() -> None:
    weaver = FakeWeaver({"POST /rules": make_rule()})
    words = ["--set", "a=b + 1", "--filter=a > 1", "--drop", "b,c", "--step", "rename: {a: d}"]
    run("rule", "attach", "big", "--stream", "orders", *words, "--set", "e=d", weaver=weaver)
    assert weaver.body["steps"] == [
        {"set": {"a": "b + 1"}},
        {"filter": "a > 1"},
        {"drop": ["b", "c"]},
        {"rename": {"a": "d"}},
        {"set": {"e": "d"}},
    ]


def test_a_rule_is_attached_with_everything_that_was_said() -> None:
    weaver = FakeWeaver({"POST /rules": make_rule()})
    ended = run(
        *("rule", "attach", "big", "--stream", "orders", "--filter", "total > 10"),
        *("--output-stream", "big-orders", "--percent", "10", "--start", "4", "--note", "why"),
        *("--guard", "dead_share < 0.01", "--guard", "batch_ms < 2x", "--author", "me"),
        weaver=weaver,
    )
    assert ended.exit_code == 0
    assert weaver.body == {
        "id": "big",
        "stream": "orders",
        "steps": [{"filter": "total > 10"}],
        "output": "big-orders",
        "percent": 10.0,
        "start": 4,
        "guards": ["dead_share < 0.01", "batch_ms < 2x"],
        "on_breach": "retire",
        "note": "why",
        "author": "me",
    }


def test_a_dry_run_of_a_rule_shows_examples_before_and_after() -> None:
    trial = {
        "knots": {"first": 1, "last": 2},
        "rows": 3,
        "recorded": 12,
        "removed": 1,
        "changed": 1,
        "unchanged": 1,
        "changed_by_column": {"total": 1},
        "examples": {
            "removed": [{"id": 7}],
            "changed": [{"id": "orders/0/1", "before": {"total": "1"}, "after": {"total": "2"}}],
            "dead": [],
        },
        "ledger": {"in": 3, "out": 2, "filtered": {"rule:big": 1}, "dead": 0},
        "cost_us_per_row": 1.5,
    }
    answer = {"rule": make_rule(), "start": "latest", "trial": trial, "rollback": None}
    weaver = FakeWeaver({"POST /rules": answer})
    words = ("rule", "attach", "--stream", "orders", "--filter", "total > 10", "--dry-run")
    shown = run(*words, weaver=weaver).stdout
    assert weaver.params == {"dry_run": "true", "knots": "10"}
    assert "9 older rows" in shown
    assert "- orders/0/1  total=1" in shown and "+ orders/0/1  total=2" in shown


def test_a_rollback_prints_the_plan_that_it_ran() -> None:
    plan = {"stream": "orders", "to": 3, "steps": ["hold orders", "cut orders after knot 3"]}
    weaver = FakeWeaver({"POST /rollbacks": {"status": "planned", "plan": plan}})
    shown = run("rollback", "orders", "--to", "3", "--dry-run", weaver=weaver).stdout
    assert weaver.params == {"dry_run": "true"}
    assert {name: weaver.body[name] for name in ("stream", "to", "queue")} == {
        "stream": "orders",
        "to": 3,
        "queue": False,
    }
    assert shown.splitlines()[1:] == ["  1. hold orders", "  2. cut orders after knot 3"]


def test_a_rollback_needs_to_know_where_to() -> None:
    assert run("rollback", "orders").exit_code == 2


def test_a_branch_is_compared_with_the_stream_that_it_left() -> None:
    answer = {
        "left": "orders",
        "right": "trial",
        "after": 3,
        "upto": 9,
        "rows": {"left": 2, "right": 2},
        "added": 1,
        "removed": 1,
        "changed": 0,
        "examples": {
            "added": [{"id": "b", "new": "{}"}],
            "removed": [{"id": "a", "old": "{}"}],
            "changed": [],
        },
    }
    weaver = FakeWeaver({"GET /branches/trial/diff": answer})
    assert "- a" in run("stream", "diff", "orders..trial", weaver=weaver).stdout
    other = run("stream", "diff", "other..trial", "--output", "json", weaver=weaver)
    assert json.loads(other.stderr)["code"] == "branch.other-stream"


def test_watermarks_say_what_holds_them_back() -> None:
    partition = {
        "highest": 5,
        "watermark": 3000,
        "seen_at": 1,
        "state": "active",
        "lag_ms": 1500,
        "ahead": 4,
    }
    answer = [
        {
            "stream": "orders",
            "watermark": 3000,
            "lag_ms": 1500,
            "held_by": ["0"],
            "partitions": {"0": partition},
            "inputs": {},
        }
    ]
    weaver = FakeWeaver({"GET /watermarks": answer})
    shown = run("stream", "watermarks", weaver=weaver).stdout.splitlines()
    assert shown[2].split()[-2:] == ["yes", "4"] and "1970-01-01 00:00:03.000" in shown[2]


def test_an_event_is_a_line_with_its_facts() -> None:
    event = {"number": 7, "kind": "knot.failed", "at": "2026-01-01T00:00:00.000000Z", "knot": 3}
    weaver = FakeWeaver({"GET /events": [event]})
    [line] = run("events", "-n", "5", weaver=weaver).stdout.splitlines()
    assert line.split() == ["7", "2026-01-01", "00:00:00", "knot.failed", "knot=3"]
    assert weaver.params == {"stream": "false", "limit": "5"}


def test_a_worker_is_listed_by_the_noun_that_also_runs_one() -> None:
    weaver = FakeWeaver({"GET /workers": []})
    assert "weft worker" in run("worker", "list", weaver=weaver).stdout
    assert weaver.asked[0].url.path == "/workers"


def test_a_check_says_everything_that_is_wrong_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "weft.yaml"
    file.write_text("app_name: shop\nstream: {}\n")
    ended = run("check", str(file))
    assert ended.exit_code == 2
    assert f"{file}:2:1:" in ended.stdout
    as_json = json.loads(run("check", str(file), "--output", "json").stdout)
    assert [(p["line"], bool(p["hint"])) for p in as_json["problems"]] == [(2, True)]


def test_a_check_shows_the_columns_that_it_found(tmp_path: Path) -> None:
    run("init", str(tmp_path))
    shown = run("check", str(tmp_path)).stdout.splitlines()[2:]
    assert [line.split(maxsplit=1)[0] for line in shown] == ["orders", "clean-orders", "revenue"]
    assert shown[2].endswith("country string, orders bigint, revenue decimal(20,2)")
    answer = json.loads(run("check", str(tmp_path), "--output", "json").stdout)
    assert answer["schemas"]["clean-orders"]["total"] == "decimal(10,2)"


def test_help_is_told_in_whole_sentences() -> None:
    assert "..." not in run("--help").stdout.replace("[ARGS]...", "")


def test_a_new_project_is_right_and_not_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    assert run("init", str(folder)).exit_code == 0
    assert run("check", str(folder)).exit_code == 0
    assert run("init", str(folder)).exit_code == EDGES["conflict"].exit_code


def test_apply_deploys_what_the_file_says_and_prints_what_changes(tmp_path: Path) -> None:
    run("init", str(tmp_path / "shop"))
    changes = {"added": ["clean"], "changed": [], "removed": ["old"], "effects": [], "steps": []}
    weaver = FakeWeaver({"PUT /project": changes})
    shown = run("apply", str(tmp_path / "shop"), "--dry-run", weaver=weaver).stdout
    assert shown.splitlines() == [
        "+ pipeline clean would be added",
        "- pipeline old would be removed",
    ]
    assert weaver.params == {"dry_run": "true", "recompute": "false", "rename": "false"}
    assert weaver.body["name"] == "shop"


def test_nothing_heavy_is_loaded_by_commands_that_do_not_need_it() -> None:
    heavy = ["pyspark", "fastapi", "deltalake", "pyarrow", "sqlglot", "httpx", "rich", "rocksdict"]
    program = f"import sys, weft.cli; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_every_command_says_what_it_is_for() -> None:
    def check(command: click.Command, path: list[str]) -> None:
        assert command.help, path
        assert all(p.help for p in command.params if p.param_type_name == "option" and not p.hidden)
        for name, below in getattr(command, "commands", {}).items():
            check(below, [*path, name])

    check(cli, ["weft"])
