"""Windows, joins and deduplication as pipelines: panes, late records, state and watermarks through REST."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.spark.projects import CLEAN, ORDERS, REVENUE, order, shop
from weft.clock import ManualClock
from weft.errors import WeftError
from weft.runtime.faults import POINTS
from weft.testing import Play, play
from weft.windows import panes as attaching
from weft.windows.attached import Attached, AttachError

LONGEST_S = 60.0


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Play]:
    with play(shop(clean=CLEAN, revenue=REVENUE), storage=tmp_path) as running:
        yield running


def at(second: int, number: int, **columns: Any) -> dict[str, Any]:
    return order(number, at=f"2026-01-01T00:00:{second:02d}Z", total="2", country="de", **columns)


def panes(run: Play, stream: str = "revenue") -> list[tuple[int, int, str, int]]:
    """Each pane: the second its window starts, how many orders, its kind, its revision."""
    return [
        (
            row["window"]["start"].second,
            row["orders"],
            row["window"]["kind"],
            row["window"]["revision"],
        )
        for row in run.rows(stream)
    ]


def test_panes_come_on_time_are_revised_and_too_late_records_are_kept(run: Play) -> None:
    run.feed("orders", [at(1, 1), at(3, 2)])
    assert panes(run) == []
    run.feed("orders", [at(12, 3)])
    assert panes(run) == [(0, 2, "on_time", 0)]
    run.feed("orders", [at(4, 4)])
    assert panes(run)[1:] == [(0, 3, "late", 1)]
    run.feed("orders", [at(30, 5)])
    run.feed("orders", [at(5, 6)])
    [late] = run.rows("revenue.late")
    assert late["id"] == 6 and late["window_start"].second == 0 and late["lateness_ms"] == 25_000
    knot = run.knots("revenue")[-1]
    assert (knot.ledger.rows_in, knot.ledger.late, knot.ledger.absorbed) == (1, 1, 0)


def test_what_is_open_can_be_looked_up_now_and_as_of_an_earlier_knot(run: Play) -> None:
    run.feed("orders", [at(1, 1), at(2, 2)])
    first = run.knots("revenue")[-1].number
    run.feed("orders", [at(3, 3), {**at(4, 4), "country": "fr"}])
    [de, fr] = run.api.get("/windows", params={"pipeline": "revenue"}).json()["windows"]
    assert (de["key"], de["records"], fr["key"], fr["records"]) == ("de", 3, "fr", 1)
    state = {"pipeline": "revenue", "prefix": "d"}
    now = run.api.get("/state", params=state).raise_for_status().json()
    assert [entry["values"]["orders"] for entry in now["entries"]] == [3]
    then = run.api.get("/state", params={**state, "knot": first}).raise_for_status().json()
    assert [entry["values"]["orders"] for entry in then["entries"]] == [2]
    assert run.api.get("/state", params={"pipeline": "clean"}).json()["code"] == "state.none"


def test_watermarks_are_told_by_partition_with_what_holds_them_back(run: Play) -> None:
    run.feed("orders", [at(20, 1)], partition=0)
    run.feed("orders", [at(9, 2)], partition=1)
    [told] = run.api.get("/watermarks", params={"stream": "orders"}).json()
    assert set(told["partitions"]) == {"0", "1"}
    assert told["watermark"] is not None and told["lag_ms"] > 0
    [below] = run.api.get("/watermarks", params={"stream": "revenue"}).json()
    assert below["inputs"] == {"clean-orders": told["watermark"]}


def test_events_from_the_future_are_counted_and_neither_close_windows_nor_keep_them_open(
    run: Play,
) -> None:
    run.feed("orders", [at(1, 1), {**at(0, 2), "at": "2999-01-01T00:00:00Z"}])
    assert panes(run) == []
    run.feed("orders", [at(12, 3), {**at(0, 4), "at": "2999-01-01T00:00:00Z"}])
    assert panes(run) == [(0, 1, "on_time", 0)]
    [told] = run.api.get("/watermarks", params={"stream": "orders"}).json()
    assert told["partitions"]["0"]["ahead"] == 2


def test_time_goes_on_when_a_rule_drops_every_record(run: Play) -> None:
    run.feed("orders", [at(1, 1)])
    run.attach(stream="orders", steps=[{"filter": "id < 2"}], id="nobody")
    run.feed("orders", [at(12, 2)])
    assert panes(run) == [(0, 1, "on_time", 0)]


@pytest.mark.parametrize("state", ["rocksdb", "memory"])
def test_state_survives_a_changed_number_of_partitions(tmp_path: Path, state: str) -> None:
    project = shop(clean=CLEAN, revenue=REVENUE)
    project["processing"]["state"] = state
    with play(project, storage=tmp_path) as run:
        run.feed("orders", [at(1, 1)])
        run.feed("orders", [{**at(2, 2), "country": "fr"}])
        path = "/pipelines/revenue/repartition"
        plan = run.api.post(f"{path}?dry_run=true", json={"partitions": 3})
        assert plan.json()["status"] == "planned"
        for partitions in (3, 1):
            done = run.post(path, {"partitions": partitions})
            assert done["result"]["windows"] == 2
            run.feed("orders", [at(3, partitions)])
        run.resume()
        run.feed("orders", [at(12, 4)])
        assert sorted(panes(run)) == [(0, 1, "on_time", 0), (0, 3, "on_time", 0)]


def test_an_added_aggregate_starts_with_the_next_window(run: Play) -> None:
    run.feed("orders", [at(1, 1)])
    more = {**REVENUE, "aggregate": {**REVENUE["aggregate"], "largest": "max(total)"}}
    run.apply(shop(clean=CLEAN, revenue=more))
    run.feed("orders", [at(12, 2)])
    run.feed("orders", [at(23, 3)])
    rows = run.rows("revenue")
    assert [row["orders"] for row in rows] == [1, 1]
    assert str(rows[1]["largest"]) == "2.00"


def test_duplicates_are_absorbed_and_windows_see_the_rest(tmp_path: Path) -> None:
    once = {
        "from": "orders",
        "dedupe": {"by": ["id"], "within_seconds": 60},
        "steps": [{"filter": "total > 0"}],
        "window": {"type": "tumbling", "size_ms": 10_000},
        "aggregate": {"orders": "count(*)"},
        "to": "counts",
    }
    with play(shop(counted=once), storage=tmp_path) as run:
        run.feed("orders", [at(1, 1), at(2, 2), at(2, 1)])
        run.feed("orders", [at(3, 2), at(4, 3)])
        assert sorted(row["id"] for row in run.rows("counted-input")) == [1, 2, 3]
        assert [knot.ledger.absorbed for knot in run.knots("counted-input")] == [1, 1]
        run.feed("orders", [at(12, 4)])
        assert panes(run, "counts") == [(0, 3, "on_time", 0)]


def test_duplicates_of_a_stream_without_time_are_told_by_when_they_were_written(
    tmp_path: Path,
) -> None:
    project = {
        "app_name": "shop",
        "processing": {"parallelism": 1},
        "streams": {"s": {"source": {"mock": {}}, "schema": {"id": "long", "product": "string"}}},
        "pipelines": {
            "once": {"from": "s", "dedupe": {"by": ["product"], "within_seconds": 60}, "to": "o"}
        },
    }
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    with play(project, storage=tmp_path, clock=clock) as run:
        run.feed("s", [{"id": 1, "product": "pen"}, {"id": 2, "product": "pen"}])
        clock.advance(timedelta(seconds=59))
        run.feed("s", [{"id": 3, "product": "pen"}, {"id": 4, "product": "ink"}])
        run.crash("write", visit=2)
        clock.advance(timedelta(seconds=2))
        run.feed("s", [{"id": 5, "product": "pen"}, {"id": 6, "product": "ink"}])
        clock.advance(timedelta(seconds=5))  # the dead worker's lease is over
        run.resume()
        assert [row["id"] for row in run.rows("o")] == [1, 4, 5]
        assert run.rows("o.late") == []
        assert [knot.ledger.absorbed for knot in run.knots("o")] == [1, 1, 1]
        # A key is forgotten when its time has passed and something new came.
        windows = run.knots("o")[-1].watermarks.windows
        assert windows == 2


PAYMENTS = {
    "source": {"mock": {}},
    "schema": {"order_id": "long", "paid": "string", "paid_at": "timestamp"},
    "key": "order_id",
    "event_time": "paid_at",
}


def joining(kind: str, on: dict[str, str]) -> dict[str, Any]:
    """Orders and payments that meet within ten seconds."""
    project = shop(
        joined={
            "from": ["orders", "payments"],
            "join": {"type": kind, "on": on},
            "window": {"type": "tumbling", "size_ms": 10_000},
            "to": "paid-orders",
        }
    )
    project["streams"] = {"orders": ORDERS, "payments": PAYMENTS}
    return project


def payment(second: int, number: int, paid: str) -> dict[str, Any]:
    return {"order_id": number, "paid": paid, "paid_at": f"2026-01-01T00:00:{second:02d}Z"}


def test_two_streams_are_joined_within_a_window(tmp_path: Path) -> None:
    with play(joining("left", {"id": "order_id"}), storage=tmp_path) as run:
        run.feed("orders", [at(1, 1), at(2, 2)])
        run.feed("payments", [payment(5, 1, "card")])
        run.feed("orders", [at(30, 9)])
        assert run.rows("paid-orders") == []
        run.feed("payments", [payment(30, 9, "cash")])
        rows = sorted(run.rows("paid-orders"), key=lambda row: row["id"])
        assert [(row["id"], row["paid"]) for row in rows] == [(1, "card"), (2, None)]


@pytest.mark.parametrize(
    ("one", "other", "keys"),
    [
        (("int", 7), ("long", 2**40), [7, 2**40]),
        (("long", 2**53 + 1), ("int", 3), [2**53 + 1, 3]),
        (("decimal(6,2)", "7.50"), ("double", 2.5e30), [7.5, 2.5e30]),
        (
            ("date", "2026-01-02"),
            ("timestamp", "2026-01-03T04:05:06Z"),
            [datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 3, 4, 5, 6, tzinfo=UTC)],
        ),
    ],
)
def test_keys_of_two_types_meet(
    tmp_path: Path, one: tuple[str, Any], other: tuple[str, Any], keys: list[Any]
) -> None:
    """A key is equal to that of the other stream where SQL says so, whatever type each stream has it in."""
    both = "2026-01-05" if one[0] == "date" else 8
    project: dict[str, Any] = {
        "app_name": "keys",
        "streams": {
            name: {
                "source": {"mock": {}},
                "schema": {"key": kind, name: "string", f"{name}_at": "timestamp"},
                "event_time": f"{name}_at",
            }
            for name, kind in (("left", one[0]), ("right", other[0]))
        },
        "pipelines": {
            kind: {
                "from": ["left", "right"],
                "join": {"on": ["key"], "type": kind},
                "window": {"type": "tumbling", "size_ms": 5000},
            }
            for kind in ("inner", "full")
        },
    }

    def records(name: str, second: int, *keys: Any) -> list[dict[str, Any]]:
        moment = f"2026-01-01T00:00:{second:02d}Z"
        return [{"key": key, name: str(key), f"{name}_at": moment} for key in keys]

    with play(project, storage=tmp_path) as run:
        run.feed("left", records("left", 1, one[1], both))
        run.feed("right", records("right", 2, other[1], both))
        for name in ("left", "right"):
            run.feed(name, records(name, 30, both))
        run.feed("right", records("right", 3, other[1]))
        inner = [(row["left"], row["right"]) for row in run.rows("inner")]
        assert inner == [(str(both), str(both))]
        found = {(row["left"], row["right"]): row["key"] for row in run.rows("full")}
        assert set(found) == {(str(one[1]), None), (None, str(other[1])), (str(both), str(both))}
        assert [found[str(one[1]), None], found[None, str(other[1])]] == keys
        late = run.rows("full.late")
        assert [row["right"]["right"] for row in late] == [str(other[1])]


def test_a_stream_ahead_of_the_other_makes_no_record_late(tmp_path: Path) -> None:
    """A window that has not closed takes every record of its own, as it does in Flink and in Beam."""
    streams = {
        name: {
            "source": {"mock": {}},
            "schema": {"key": "string", value: "long", at: "timestamp"},
            "event_time": at,
        }
        for value, at, names in (
            ("value", "at", ("fast", "slow", "left")),
            ("price", "paid_at", ("right",)),
        )
        for name in names
    }
    window = {"type": "tumbling", "size_ms": 5000}
    pipelines = {
        "sums": {
            "from": ["fast", "slow"],
            "by": ["key"],
            "window": window,
            "aggregate": {"total": "sum(value)"},
        },
        "pairs": {"from": ["left", "right"], "join": {"on": ["key"]}, "window": window},
    }
    project = {
        "app_name": "ahead",
        "processing": {"parallelism": 1},
        "watermarks": {"idle_seconds": 1e6},
        "streams": streams,
        "pipelines": pipelines,
    }

    def record(stream: str, key: str, value: int, second: str) -> dict[str, Any]:
        _, number, moment = streams[stream]["schema"]
        return {"key": key, number: value, moment: f"2026-01-01T00:00:{second}Z"}

    with play(project, storage=tmp_path) as run:
        for ahead, behind, result in (("fast", "slow", "sums"), ("left", "right", "pairs")):
            run.feed(ahead, [record(ahead, "x", 1, "01")])
            run.feed(behind, [record(behind, "x", 10, "02")])
            run.feed(ahead, [record(ahead, "other", 0, "09.5")])
            run.feed(ahead, [record(ahead, "x", 2, "03")])
            assert run.rows(result) == []
            run.feed(behind, [record(behind, "other", 0, "09.5")])
            assert run.rows(f"{result}.late") == []
        assert [(row["key"], row["total"]) for row in run.rows("sums")] == [("x", 13)]
        pairs = [(row["value"], row["price"]) for row in run.rows("pairs")]
        assert sorted(pairs) == [(1, 10), (2, 10)]


def test_rules_and_branches_work_on_the_streams_of_a_join(tmp_path: Path) -> None:
    with play(joining("full", {"ID": "Order_Id"}), storage=tmp_path) as run:
        run.attach(stream="orders", steps=[{"set": {"email": "'hidden'"}}])
        with pytest.raises(WeftError) as caught:
            run.attach(stream="payments", steps=[{"drop": "order_id"}])
        assert caught.value.code == "rule.breaks-pipeline"
        run.api.post("/branches", json={"stream": "payments", "name": "trial"}).raise_for_status()
        run.attach(stream="trial", steps=[{"set": {"paid": "upper(paid)"}}], id="loud")
        run.api.post("/branches/trial/promote").raise_for_status()
        run.feed("orders", [at(1, 1)])
        run.feed("payments", [payment(5, 1, "card"), payment(6, 7, "cash")])
        run.feed("orders", [at(30, 9)])
        run.feed("payments", [payment(30, 9, "cash")])
        rows = sorted(run.rows("paid-orders"), key=lambda row: row["id"])
        assert [(row["id"], row["email"], row["paid"]) for row in rows] == [
            (1, "hidden", "CARD"),
            (7, None, "CASH"),
        ]


def test_state_in_memory_gives_the_same_panes(tmp_path: Path) -> None:
    project = shop(clean=CLEAN, revenue=REVENUE)
    project["processing"] = {"parallelism": 1, "state": "memory"}
    with play(project, storage=tmp_path) as run:
        run.feed("orders", [at(1, 1), at(3, 2)])
        run.crash("write")
        run.feed("orders", [at(12, 3)])
        run.resume()
        assert panes(run) == [(0, 2, "on_time", 0)]


def test_a_window_survives_a_crash_at_every_point_of_its_batch(tmp_path: Path) -> None:
    with play(shop(revenue={**REVENUE, "from": "orders"}), storage=tmp_path) as run:
        run.feed("orders", [at(1, 1)])
        for number, point in enumerate(POINTS, 1):
            run.crash(point, visit=2)  # the first is the source's
            run.feed("orders", [at(6 * number + 1, number)])
            run.resume()
        assert panes(run) == [
            (start, orders, "on_time", 0) for start, orders in ((0, 2), (10, 2), (20, 1), (30, 2))
        ]


def test_a_window_without_event_time_is_refused_before_it_runs(tmp_path: Path) -> None:
    project = shop(revenue={**REVENUE, "from": "orders"})
    project["streams"] = {"orders": {k: v for k, v in ORDERS.items() if k != "event_time"}}
    with pytest.raises(WeftError) as refused, play(project, storage=tmp_path):
        pass
    assert refused.value.code.startswith("project")


def test_state_of_another_version_is_computed_anew_once_it_is_asked_for(tmp_path: Path) -> None:
    with play(shop(revenue={**REVENUE, "from": "orders"}), storage=tmp_path) as run:
        run.feed("orders", [at(1, 1), at(2, 2)])
        run.feed("orders", [at(12, 3)])
        run.crash("pinned")
        run.feed("orders", [at(13, 4)])
        for layout in tmp_path.glob("pipelines/revenue/**/layout.json"):
            told = json.loads(layout.read_text())
            del told["form"]
            layout.write_text(json.dumps(told))
        with pytest.raises(WeftError) as refused:
            run.resume()
        assert refused.value.code == "checkpoint.state-form"
        run.post("/rollbacks", {"stream": "revenue", "to": 0})
        run.resume()
        run.feed("orders", [at(25, 5)])
        assert sorted(panes(run)) == [(0, 2, "on_time", 0), (10, 2, "on_time", 0)]


def test_a_window_that_cannot_be_attached_fails_and_other_pipelines_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Attached:
        raise AttachError("Its state cannot be read.")

    with play(shop(clean=CLEAN), storage=tmp_path) as run:
        run.feed("orders", [at(1, 1)])
        monkeypatch.setattr(attaching, "attach", refuse)
        with pytest.raises(AttachError):
            run.apply(shop(clean=CLEAN, revenue=REVENUE))
        monkeypatch.undo()
        run.append("orders", [at(12, 2)])
        deadline = time.monotonic() + LONGEST_S
        while not panes(run):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert panes(run) == [(0, 1, "on_time", 0)]
