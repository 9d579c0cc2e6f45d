"""Recorded knots run again: they prove themselves, or say where they differ; what is different stays apart."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weft
from weft.clock import parse_iso
from weft.loading.load import load
from weft.locations.location import locate
from weft.runtime import checkpoints
from weft.testing import Play, play

PROJECT: dict[str, Any] = {
    "app_name": "shop",
    "processing": {"parallelism": 2},
    "streams": {
        "orders": {
            "source": {"feed": {}},
            "schema": {"id": "long", "country": "string", "total": "double", "at": "timestamp"},
            "key": "id",
            "event_time": "at",
            "watermarks": {"delay_seconds": 0},
        }
    },
    "pipelines": {
        "clean": {
            "from": "orders",
            "steps": [{"filter": "total > 0"}, {"set": {"country": "upper(country)"}}],
            "to": "clean-orders",
        },
        "revenue": {
            "from": "clean-orders",
            "window": {"type": "tumbling", "size_ms": 10_000},
            "by": ["country"],
            "aggregate": {"orders": "count(*)", "revenue": "sum(total)"},
            "to": "revenue",
        },
    },
}


MARK = """
import weft


@weft.function(adds={{"mark": "string"}})
def mark(record: dict) -> dict:
    return {{**record, "mark": "{mark}"}}
"""


def orders(batch: int) -> list[dict[str, Any]]:
    return [
        {
            "id": batch * 10 + n,
            "country": "de" if n % 2 else "at",
            "total": n - 1,
            "at": f"2026-01-01T00:00:{batch * 4 + n % 3:02}Z",
        }
        for n in range(4)
    ]


def replay(run: Play, stream: str, **asked: Any) -> dict[str, Any]:
    response = run.api.post("/replays", json={"stream": stream, **asked})
    answer: dict[str, Any] = response.json()
    assert response.status_code == 200, answer
    assert answer["status"] == "done", answer
    return answer


@contextmanager
def played(storage: Path) -> Iterator[Play]:
    with play(PROJECT, storage=storage) as running:
        for batch in range(6):
            running.feed("orders", orders(batch))
        yield running


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    """A run that tests only ask about."""
    with played(tmp_path_factory.mktemp("past") / "s") as running:
        yield running


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Play]:
    """A run that a test goes on with."""
    with played(tmp_path / "s") as running:
        yield running


@pytest.mark.parametrize("stream", ["orders", "clean-orders", "revenue"])
def test_a_replay_of_everything_verifies(past: Play, stream: str) -> None:
    found = replay(past, stream, after=0)
    assert found["verified"] is True
    assert found["legs"][0]["knots"] == 6
    assert found["comparison"]["changed"] == found["comparison"]["missing"] == 0


def test_a_replay_from_the_source_on_verifies(past: Play) -> None:
    found = replay(past, "revenue", after=2, upto=5, source="orders")
    assert found["verified"] is True
    assert [leg["pipeline"] for leg in found["legs"]] == ["orders", "clean", "revenue"]
    assert [leg["knots"] for leg in found["legs"]] == [3, 3, 3]


@pytest.mark.parametrize("stream", ["clean-orders", "revenue"])
def test_a_replay_at_the_speed_of_then_takes_as_long_and_verifies(past: Play, stream: str) -> None:
    tied = {knot.number: parse_iso(knot.now) for knot in past.knots(stream)}
    first, last = min(tied), max(tied)
    started = time.monotonic()
    found = replay(past, stream, after=0, speed=2)
    assert time.monotonic() - started >= (tied[last] - tied[first]).total_seconds() / 2
    assert found["verified"] is True
    assert found["legs"][0]["behind_s"] >= 0
    assert replay(past, stream, after=0)["legs"][0]["behind_s"] is None


def test_the_knot_of_a_record_is_run_again(past: Play) -> None:
    row = past.rows("clean-orders", weft=True)[-1]
    name, number = row["_weft"]["id"], row["_weft"]["knot"]
    found = replay(past, "clean-orders", record=name)
    assert (found["verified"], found["after"], found["upto"]) == (True, number - 1, number)
    both = past.api.post("/replays", json={"stream": "clean-orders", "record": name, "after": 1})
    assert both.json()["code"] == "replay.span"
    gone = past.api.post("/replays", json={"stream": "clean-orders", "record": "no such one"})
    assert gone.status_code == 404


def test_a_replay_leaves_no_trace_in_what_is_live(run: Play) -> None:
    before = _live(run)
    replay(run, "revenue", after=2, change={"leave_out": {"orders": "country = 'de'"}})
    replay(run, "clean-orders", after=0, source="orders")
    assert _live(run) == before
    run.feed("orders", orders(6))
    assert len(run.knots("revenue")) == 7


def test_rules_lookups_and_functions_of_the_time_are_run_again(tmp_path: Path) -> None:
    with play(PROJECT, storage=tmp_path / "s") as run:
        run.feed("orders", orders(0))
        steps = [{"set": {"seen": "current_timestamp()", "dice": "rand()"}}]
        rule = run.attach(stream="clean-orders", steps=steps, percent=50)
        run.feed("orders", orders(1))
        run.attach(stream="orders", steps=[{"filter": "id % 2 = 0"}], output="even")
        run.feed("orders", orders(2))
        run.retire(rule.id)
        run.feed("orders", orders(3))
        for stream in ("orders", "clean-orders", "revenue"):
            assert replay(run, stream, after=0)["verified"] is True


def test_a_what_if_rule_shows_what_it_would_have_changed(past: Play) -> None:
    rule = {"stream": "clean-orders", "steps": [{"set": {"total": "total * 2"}}]}
    found = replay(past, "clean-orders", after=3, change={"rules": [rule]})
    assert found["verified"] is None
    compared = found["comparison"]
    # Of four orders in a knot, those with a total of 1 and 2 passed the filter.
    assert (compared["same"], compared["changed"]) == (0, 6)
    assert compared["by_column"] == {"total": 6}
    assert compared["totals"]["total"] == [9.0, 18.0]


def test_a_what_if_reaches_the_window_downstream(past: Play) -> None:
    found = replay(past, "revenue", after=0, change={"leave_out": {"orders": "country = 'de'"}})
    compared = found["comparison"]
    assert [leg["stream"] for leg in found["legs"]] == ["orders", "clean-orders", "revenue"]
    assert compared["missing"] > 0
    assert all(row["recorded"]["country"] == "DE" for row in compared["examples"])
    assert compared["extra"] == compared["changed"] == 0


def test_an_empty_what_if_equals_the_record(past: Play) -> None:
    found = replay(past, "revenue", after=0, change={"leave_out": {"orders": "id < 0"}})
    compared = found["comparison"]
    assert compared["same"] == len(past.rows("revenue")) > 0
    assert compared["changed"] == compared["missing"] == compared["extra"] == 0


def test_records_that_came_too(past: Play) -> None:
    more = {"id": 99, "country": "DE", "total": 100.0, "at": "2026-01-01T00:00:13Z"}
    found = replay(past, "revenue", after=3, change={"add": {"clean-orders": [more]}})
    [row] = found["comparison"]["examples"]
    assert row["replayed"]["revenue"] - row["recorded"]["revenue"] == 100.0


def test_a_rule_taken_out_of_the_past(run: Play) -> None:
    rule = run.attach(stream="clean-orders", steps=[{"set": {"country": "'XX'"}}])
    run.feed("orders", orders(6))
    found = replay(run, "clean-orders", after=6, change={"without": [rule.id]})
    assert found["comparison"]["by_column"] == {"country": 2}
    assert {row["replayed"]["country"] for row in found["comparison"]["examples"]} == {"AT", "DE"}


def test_another_window_is_run_from_the_first_record_on(past: Play) -> None:
    window = {**PROJECT["pipelines"]["revenue"], "window": {"type": "tumbling", "size_ms": 20_000}}
    tried = {**PROJECT, "pipelines": {**PROJECT["pipelines"], "revenue": window}}
    form = load(tried).to_dict()
    found = replay(past, "revenue", after=0, change={"project": form})
    assert "from no state" in found["steps"][0]
    assert found["comparison"]["missing"] > 0
    assert found["comparison"]["extra"] > 0


def test_a_definition_that_was_deployed_anew_is_run_as_it_was(run: Play) -> None:
    steps = [{"filter": "total > 1"}]
    clean = {**PROJECT["pipelines"]["clean"], "steps": steps}
    run.apply({**PROJECT, "pipelines": {**PROJECT["pipelines"], "clean": clean}})
    run.feed("orders", orders(6))
    found = replay(run, "clean-orders", after=0)
    assert found["verified"] is True
    assert found["legs"][0]["knots"] == 7


def test_after_a_rollback_what_is_live_verifies(run: Play) -> None:
    run.rollback("orders", to=3)
    for batch in range(6, 8):
        run.feed("orders", orders(batch))
    for stream in ("orders", "clean-orders", "revenue"):
        assert replay(run, stream, after=1)["verified"] is True
    gone = run.api.post("/replays", json={"stream": "clean-orders", "upto": 5})
    assert gone.json()["code"] == "replay.not-live"


@pytest.mark.parametrize("stream", ["clean-orders", "revenue"])
def test_knots_behind_others_that_were_rolled_back_are_run_from_the_live_one_before(
    run: Play, stream: str
) -> None:
    run.rollback("orders", to=3)
    first, *_, last = [knot.number for knot in run.knots(stream) if knot.number > 3]
    assert first > 4
    found = replay(run, stream, after=first - 1, upto=last)
    assert found["verified"] is True
    assert (found["after"], found["first_knot"]) == (3, first)
    assert f"knots {first} to {last} of {stream}" in found["steps"][-2]


def test_what_was_tried_behind_knots_that_were_rolled_back_brings_none_of_them_back(
    run: Play,
) -> None:
    run.attach(stream="clean-orders", id="big", steps=[{"set": {"total": "total * 100"}}])
    run.feed("orders", orders(6))
    run.retire("big")
    run.rollback("clean-orders", to=3)
    gone = [k.number for k in run.knots("clean-orders", all=True) if 3 < k.number <= 7]
    first = min(knot.number for knot in run.knots("clean-orders") if knot.number > 3)
    rule = {"stream": "clean-orders", "steps": [{"filter": "country = 'AT'"}]}
    tried = replay(run, "clean-orders", after=first - 1, change={"rules": [rule]})
    done = run.api.post(f"/replays/{tried['id']}/promote?author=ada").json()
    assert done["status"] == "done", done
    run.settle()
    live = [knot.number for knot in run.knots("clean-orders")]
    assert live[:3] == [1, 2, 3] and not set(live) & set(gone)
    later = [row for row in run.rows("clean-orders") if row["id"] >= 30]
    assert later and {row["country"] for row in later} == {"AT"}
    assert max(row["total"] for row in later) < 10
    [attached] = run.api.get("/rules?active=true").json()
    assert attached["author"] == "ada"


def test_a_what_if_is_compared_with_what_ran_and_not_with_what_is_deployed(run: Play) -> None:
    def defined(**pipelines: Any) -> dict[str, Any]:
        return {**PROJECT, "pipelines": {**PROJECT["pipelines"], **pipelines}}

    strict = {**PROJECT["pipelines"]["clean"], "steps": [{"filter": "total > 100"}]}
    run.apply(defined(clean=strict))
    wide = {**PROJECT["pipelines"]["revenue"], "window": {"type": "tumbling", "size_ms": 20_000}}
    form = load(defined(clean=strict, revenue=wide)).to_dict()
    found = replay(run, "revenue", after=0, upto=6, change={"project": form})
    assert [leg["stream"] for leg in found["legs"]] == ["clean-orders", "revenue"]
    assert found["comparison"]["extra"] == found["comparison"]["same"] == 0
    assert found["comparison"]["missing"] > 0
    deployed = load(defined(clean=strict)).to_dict()
    found = replay(run, "clean-orders", after=0, upto=6, change={"project": deployed})
    assert found["comparison"]["missing"] == 12
    # A setting is changed in what ran: the filter of today is nothing to it.
    settings = {"pipelines.revenue.window.size_ms": 20_000}
    found = replay(run, "revenue", after=0, upto=6, change={"settings": settings})
    assert [leg["stream"] for leg in found["legs"]] == ["revenue"]
    assert found["comparison"]["extra"] > 0
    settings = {"pipelines.revenue.window.size_ms": 10_000}
    asked = {"stream": "revenue", "after": 0, "upto": 6, "change": {"settings": settings}}
    assert run.api.post("/replays", json=asked).json()["code"] == "replay.no-effect"


def test_another_version_of_a_function_is_tried_on_knots_of_before_it(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(MARK.format(mark="old"))
    clean = {"from": "orders", "steps": [{"function": "rules:mark"}], "to": "clean-orders"}
    project = {**PROJECT, "pipelines": {"clean": clean}}
    with play(project, storage=tmp_path / "s", folder=tmp_path) as run:
        run.feed("orders", orders(0))
        (tmp_path / "rules.py").write_text(MARK.format(mark="new"))
        fixed = load(project, folder=tmp_path)
        run.api.put("/project", json=fixed.to_dict()).raise_for_status()
        run.settle()
        run.feed("orders", orders(1))
        [version] = {one.version for one in fixed.functions.values()}
        change = {"functions": {"rules:mark": version[:12]}}
        found = replay(run, "clean-orders", after=0, upto=1, change=change)
        assert found["comparison"]["by_column"] == {"mark": 4}
        asked = {"stream": "clean-orders", "after": 1, "upto": 2, "change": change}
        assert run.api.post("/replays", json=asked).json()["code"] == "replay.no-effect"
        done = run.api.post(f"/replays/{found['id']}/promote").json()
        assert done["status"] == "done", done
        run.settle()
        assert {row["mark"] for row in run.rows("clean-orders")} == {"new"}


@pytest.mark.parametrize("point", ["weave", "between"])
def test_a_worker_that_dies_goes_on_with_the_replay(run: Play, point: str) -> None:
    before = _live(run)
    run.crash(point, visit=3)
    asked = {"stream": "revenue", "after": 1, "source": "orders", "wait_s": 0}
    replaying = run.api.post("/replays", json=asked).json()["id"]
    run.wait_for_crash()
    run.resume()
    found = _finished(run, replaying)
    assert found["verified"] is True
    assert _live(run) == before


def test_an_altered_input_is_named(run: Play, tmp_path: Path) -> None:
    file = _files(run, "clean-orders")[2]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    answer = run.api.post("/replays", json={"stream": "revenue", "after": 0}).json()
    told = answer.get("first") or answer
    assert file.name in str(told), answer


def test_rows_of_an_output_that_differ_are_shown(run: Play) -> None:
    file = _files(run, "clean-orders")[2]
    table = pq.read_table(file)
    at = table.schema.get_field_index("total")
    pq.write_table(table.set_column(at, "total", pa.array([77.0] * len(table))), file)
    found = replay(run, "clean-orders", after=0)
    assert found["verified"] is True  # what is made again has the hash that was recorded


def test_what_cannot_be_replayed_is_refused(past: Play) -> None:
    before = _workspaces(past)

    def refused(**asked: Any) -> str:
        response = past.api.post("/replays", json=asked)
        assert 400 <= response.status_code < 500, response.json()
        return str(response.json()["code"])

    assert refused(stream="none") == "stream.missing"
    assert refused(stream="revenue", upto=99) == "knot.missing"
    assert refused(stream="revenue", after=5, upto=5) == "replay.impossible"
    assert refused(stream="orders", source="revenue") == "replay.impossible"
    assert refused(stream="orders", change={"without": ["nobody"]}) == "rule.missing"
    late = {"leave_out": {"revenue": "true"}}
    assert refused(stream="orders", change=late) == "replay.no-effect"
    assert refused(stream="orders", change={"leave_out": {"orders": "nothing = 1"}}).startswith(
        "expression"
    )
    assert refused(stream="orders", since="yesterday") == "replay.time"
    assert refused(stream="orders", since="2036-01-01T00:00:00Z") == "replay.nothing"
    assert _workspaces(past) == before


def test_a_replay_without_room_is_refused_and_cleared_up(past: Play, monkeypatch: Any) -> None:
    before = _workspaces(past)
    usage = shutil.disk_usage(past.storage.root)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    answer = past.api.post("/replays", json={"stream": "revenue", "after": 0}).json()
    assert answer["code"] == "replay.no-room"
    assert _workspaces(past) == before


def test_what_was_tried_becomes_true(run: Play) -> None:
    rule = {"stream": "clean-orders", "steps": [{"set": {"total": "total * 2"}}]}
    tried = replay(run, "clean-orders", after=3, change={"rules": [rule]})
    before = run.rows("clean-orders")
    planned = run.api.post(f"/replays/{tried['id']}/promote?dry_run=true").json()
    assert any("clean-orders after knot 3" in step["text"] for step in planned["steps"])
    assert run.rows("clean-orders") == before
    done = run.api.post(f"/replays/{tried['id']}/promote").json()
    assert done["status"] == "done", done
    run.settle()
    totals = [row["total"] for row in sorted(run.rows("clean-orders"), key=lambda row: row["id"])]
    assert totals == [1.0, 2.0] * 3 + [2.0, 4.0] * 3
    assert replay(run, "revenue", after=0)["verified"] is True


def test_a_rule_that_was_wrong_is_taken_out_of_the_past(run: Play) -> None:
    rule = run.attach(stream="clean-orders", steps=[{"set": {"total": "-total"}}])
    run.feed("orders", orders(6))
    tried = replay(run, "clean-orders", after=6, change={"without": [rule.id]})
    done = run.api.post(f"/replays/{tried['id']}/promote").json()
    assert done["status"] == "done", done
    run.settle()
    assert all(row["total"] > 0 for row in run.rows("clean-orders"))
    proof = replay(run, "clean-orders", after=0)
    assert proof["verified"] is True
    again = run.api.post(f"/replays/{proof['id']}/promote").json()
    assert again["code"] == "replay.nothing-tried"


def test_a_notebook_gets_rows_and_a_comparison(past: Play) -> None:
    rows, compared = weft.replay(
        "clean-orders", knots=(3, 4), leave_out={"orders": "country = 'de'"}, weaver=past.address
    )
    assert set(rows["country"]) == {"AT"}
    assert (compared.same, compared.missing) == (2, 2)


def test_a_workspace_can_be_dropped(past: Play) -> None:
    found = replay(past, "clean-orders", after=0)
    assert Path(found["workspace"]).is_dir()
    past.api.delete(f"/replays/{found['id']}").raise_for_status()
    assert not Path(found["workspace"]).exists()
    assert past.api.get(f"/replays/{found['id']}").json()["verified"] is True


def _finished(run: Play, id: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found: dict[str, Any] = run.api.get(f"/replays/{id}").json()
        if found["status"] in ("done", "failed", "aborted"):
            return found
        time.sleep(0.1)
    raise AssertionError(found)


def _workspaces(run: Play) -> set[str]:
    return {folder.name for folder in (Path(run.storage.root) / "replays").glob("*")}


def _files(run: Play, stream: str) -> list[Path]:
    return sorted(Path(run.storage.table(stream)).glob("*.parquet"))


def _live(run: Play) -> dict[str, str]:
    """The hash of every file of the live streams, pipelines and sources, and of what the weaver says of them."""
    root = Path(run.storage.root)
    for pipeline, stream in (
        ("orders", "orders"),
        ("clean", "clean-orders"),
        ("revenue", "revenue"),
    ):
        newest = run.knots(stream)[-1]
        checkpoints.wait_for_commit(
            locate(run.storage.checkpoint(pipeline, newest.epoch)), newest.batch
        )
    folders = [root / "streams", root / "pipelines", root / "sources"]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
    found = {
        str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if ".crc" not in file.name
    }
    knots = [run.api.get("/knots", params={"stream": s}).text for s in ("orders", "revenue")]
    return found | {"knots": hashlib.sha256("".join(knots).encode()).hexdigest()}
