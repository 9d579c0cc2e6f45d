"""Python functions of a project on a running pipeline: what they may do wrong, and what becomes of the row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from weft.errors import WeftError
from weft.testing import Play, play

RULES = '''
    """Functions that do what their record's `do` says."""
    import sys, threading
    from dataclasses import dataclass

    import pyarrow as pa
    import weft

    @dataclass
    class Seen:
        """Dataclasses can be used."""
        count: int = 0

    SEEN = Seen()

    class Fine(dict):
        """A mapping of its own kind."""

    def row(record: dict) -> dict | None:
        SEEN.count += 1
        print("seen", SEEN)
        match record["do"]:
            case "drop": return None
            case "list": return [1]
            case "text": return {**record, "n": "many"}
            case "huge": return {**record, "n": 2**70}
            case "half": return {**record, "n": 1.5}
            case "nan": return {**record, "n": float("nan")}
            case "subclass": return Fine(record, n=7)
            case "more": return {**record, "other": 1, "_weft": None, "_weft_verdict": 0}
            case "less": return {"id": record["id"]}
            case "mutate":
                record["n"] = 99
                record["tags"].append(1)
                raise ValueError("after it was changed")
            case "exit": sys.exit(5)
            case "interrupt": raise KeyboardInterrupt
            case "shout": raise ValueError("x\\n\\ud800" * 100_000)
            case "thread":
                threading.Thread(target=threading.Event().wait, daemon=True).start()
        return {**record, "n": record["n"] + 1, "m": {**(record["m"] or {}), "seen": 1}}

    def batch(records: pa.RecordBatch) -> pa.RecordBatch:
        do = records.column("do")[0].as_py()
        if do == "raise": raise KeyError("gone")
        if do == "rows": return records.slice(0, 0)
        if do == "columns": return records.select(["id"])
        if do == "types": return records.set_column(1, "n", pa.array(["x"] * records.num_rows))
        if do == "nothing": return None
        if do == "exit": sys.exit(5)
        return records.set_column(1, "n", pa.array([8] * records.num_rows, pa.int32()))

    @weft.function(returns={"total": "int"})
    class Total:
        def create(self): return 0
        def add(self, total, row):
            if row["do"] == "raise": raise ValueError("not this one")
            return total + row["n"]
        def result(self, total): return {"total": total} if total < 2**40 else [total]
'''
SCHEMA = {
    "id": "long",
    "n": "long",
    "do": "string",
    "tags": "array<int>",
    "m": "map<string,int>",
    "day": "date",
    "at": "timestamp",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    folder = tmp_path_factory.mktemp("project")
    (folder / "rules.py").write_text(dedent(RULES))
    project = {
        "app_name": "shop",
        "processing": {"parallelism": 1},
        "streams": {"s": {"source": {"mock": {}}, "schema": SCHEMA, "event_time": "at"}},
        "pipelines": {
            "rows": {"from": "s", "steps": [{"function": "rules:row"}]},
            "batches": {"from": "s", "steps": [{"function": "rules:batch"}]},
            "totals": {
                "from": "s",
                "window": {"type": "tumbling", "size_ms": 1000},
                "by": ["do"],
                "reducer": "rules:Total",
                "aggregate": {"count": "count(*)"},
            },
        },
    }
    (folder / "weft.yaml").write_text(yaml.safe_dump(project, sort_keys=False))
    with play(folder, storage=tmp_path_factory.mktemp("storage")) as running:
        yield running


def record(do: str, number: int = 1, **more: Any) -> dict[str, Any]:
    at = f"2026-01-01T00:{number // 60:02d}:{number % 60:02d}Z"
    return {"id": number, "n": 5, "do": do, "tags": [], "at": at, **more}


def fed(run: Play, stream: str, *records: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """The rows and the dead letters that these records brought."""
    rows, dead = len(run.rows(stream)), len(run.rows(f"{stream}.dead"))
    run.feed("s", records)
    return run.rows(stream)[rows:], run.rows(f"{stream}.dead")[dead:]


def test_a_row_that_a_function_fails_for_is_a_dead_letter_with_the_reason_and_others_go_on(
    run: Play,
) -> None:
    bad = {
        "list": "it returned [1] (list), and should return a dict",
        "text": "column 'n': expected bigint, found 'many' (str)",
        "huge": f"column 'n': expected bigint, found {2**70} (int)",
        "half": "column 'n': expected bigint, found 1.5 (float)",
        "nan": "column 'n': expected bigint, found nan (float)",
        "mutate": "ValueError: after it was changed",
        "exit": "SystemExit: 5",
        "interrupt": "KeyboardInterrupt",
    }
    rows, dead = fed(
        run, "rows", record("fine", 0), *(record(do, 1) for do in bad), record("fine", 2)
    )
    assert [(row["id"], row["n"], dict(row["m"])) for row in rows] == [
        (0, 6, {"seen": 1}),
        (2, 6, {"seen": 1}),
    ]
    kept = {json.loads(letter["record"])["do"]: letter for letter in dead}
    assert {do: letter["reason"] for do, letter in kept.items()} == bad
    assert {letter["step"] for letter in dead} == {"step:0"}
    assert json.loads(kept["mutate"]["record"])["n"] == 5
    given = json.loads(kept["mutate"]["record"])
    assert (given["id"], given["do"], given["tags"]) == (1, "mutate", [])
    ledger = run.knots("rows")[-1].ledger
    assert (ledger.rows_in, ledger.out, ledger.dead, ledger.missing()) == (10, 2, 8, 0)


def test_what_a_function_returns_beside_its_columns_changes_nothing(run: Play) -> None:
    rows, dead = fed(run, "rows", record("more", 3), record("less", 4), record("subclass", 5))
    assert dead == []
    assert [(row["id"], row["n"], row["do"]) for row in rows] == [
        (3, 5, "more"),
        (4, None, None),
        (5, 7, "subclass"),
    ]
    assert all(row["_weft"]["id"] for row in run.rows("rows", weft=True))


def test_prints_threads_and_dropped_rows_do_no_harm(run: Play) -> None:
    rows, dead = fed(run, "rows", record("drop", 6), record("thread", 7), record("fine", 8))
    assert ([row["id"] for row in rows], dead) == ([7, 8], [])


def test_a_message_of_any_length_and_content_is_cut(run: Play) -> None:
    _, [letter] = fed(run, "rows", record("shout", 9))
    assert letter["reason"].startswith("ValueError: x x")
    assert len(letter["reason"]) == 500


@pytest.mark.parametrize(
    ("do", "reason"),
    [
        ("raise", "KeyError: 'gone'"),
        ("rows", "2 rows went in and 0 came out"),
        ("columns", "it returned the columns id, without one 'n'"),
        ("types", "column 'n': expected bigint, found string: "),
        ("nothing", "it returned None, and should return a RecordBatch"),
        ("exit", "SystemExit: 5"),
    ],
)
def test_all_rows_of_a_batch_that_a_function_fails_for_are_dead_letters(
    run: Play, do: str, reason: str
) -> None:
    rows, dead = fed(run, "batches", record(do, 10), record(do, 11))
    assert rows == []
    assert len(dead) == 2 and all(letter["reason"].startswith(reason) for letter in dead)


def test_a_batch_function_may_return_narrower_columns(run: Play) -> None:
    rows, dead = fed(run, "batches", record("fine", 12))
    assert ([row["n"] for row in rows], dead) == ([8], [])


def test_a_time_that_python_has_no_value_for_is_a_dead_letter_where_python_begins(
    run: Play,
) -> None:
    run.attach(stream="s", steps=[{"set": {"day": "date_add(day, 2932896)"}}], id="far")
    records = [record("fine", 13, day="2026-01-01"), record("fine", 14)]
    rows, [letter] = fed(run, "rows", *records)
    run.retire("far")
    assert [row["id"] for row in rows] == [14]
    assert letter["reason"].startswith("column 'day': 1005")
    assert json.loads(letter["record"])["day"].startswith("1005")
    assert letter["reason"].endswith("is outside the years 1 to 9999 of Python")
    rows, _ = fed(run, "rows", record("fine", 15, day="0001-01-01"))
    assert rows[0]["day"] == date(1, 1, 1)


def test_a_pane_that_its_reducer_fails_for_is_a_dead_letter(run: Play) -> None:
    records = [
        record("raise", 100),
        record("fine", 100),
        record("fine", 100),
        record("wide", 100, n=2**35),
        record("list", 100, n=2**41),
    ]
    fed(run, "totals", *records)
    rows, dead = fed(run, "totals", record("end", 200))
    assert [(row["do"], row["count"], row["total"]) for row in rows if row["do"] == "fine"] == [
        ("fine", 2, 10)
    ]
    reasons = sorted(letter["reason"] for letter in dead if letter["step"] == "reducer")
    assert reasons == [
        "ValueError: not this one",
        "column 'total': expected int, found 34359738368 (int)",
        "it returned [2199023255552] (list), and should return a dict",
    ]


def test_a_function_that_cannot_be_loaded_fails_its_batch_with_the_last_line_of_the_reason(
    tmp_path: Path,
) -> None:
    (tmp_path / "rules.py").write_text("def clean(record): return record\n")
    project = {
        "app_name": "shop",
        "streams": {"s": {"source": {"mock": {}}, "schema": {"id": "long"}}},
        "pipelines": {"p": {"from": "s", "steps": [{"function": "rules:clean"}]}},
    }
    (tmp_path / "weft.yaml").write_text(yaml.safe_dump(project, sort_keys=False))
    with play(tmp_path, storage=tmp_path / "storage") as run:
        broken = run.project.to_dict()
        broken["functions"][0]["modules"]["rules"] = (
            "import not_there_at_all\n\ndef clean(record): return record\n"
        )
        broken["functions"][0]["version"] = "0" * 64
        run.api.put("/project", json=broken).raise_for_status()
        with pytest.raises(WeftError) as caught:
            run.feed("s", [{"id": 1}])
    assert "No module named 'not_there_at_all'" in caught.value.message
