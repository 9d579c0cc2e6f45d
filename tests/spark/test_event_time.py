"""Event time follows its column: windows go by what the steps made of it, and so does the watermark."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from weft.clock import to_ms
from weft.testing import Play, play

SECOND = {"type": "tumbling", "size_ms": 10_000}


def project(steps: list[Any], **streams: Any) -> dict[str, Any]:
    """Orders, moved in time by steps, and counted by ten seconds: in one pipeline, and behind another."""
    return {
        "app_name": "times",
        "streams": {
            "orders": {
                "source": "feed",
                "schema": {"id": "long", "at": "timestamp", "then": "timestamp"},
                "key": "id",
                "event_time": "at",
            },
            **streams,
        },
        "pipelines": {
            "moved": {"from": "orders", "steps": steps},
            "behind": {"from": "moved", "window": SECOND, "aggregate": {"n": "count(*)"}},
            "within": {
                "from": "orders",
                "steps": steps,
                "window": SECOND,
                "aggregate": {"n": "count(*)"},
            },
        },
    }


def record(number: int, second: int, day: int = 2) -> dict[str, Any]:
    at, then = (f"2026-01-{d:02d}T00:00:{second:02d}Z" for d in (day, day + 1))
    return {"id": number, "at": at, "then": then}


def panes(run: Play, stream: str) -> list[tuple[int, int, int]]:
    """Day and second at which each pane's window starts, and how many records it holds."""
    return [
        (row["window"]["start"].day, row["window"]["start"].second, row["n"])
        for row in run.rows(stream)
    ]


@pytest.mark.parametrize(
    ("steps", "day"),
    [
        ([{"set": {"at": "at + interval 1 day"}}], 3),
        ([{"set": {"at": "at - interval 1 day"}}], 1),
        ([{"select": {"id": "id", "at": "`then`"}}], 3),
        ([{"rename": {"at": "now"}}, {"set": {"now": "now - interval 1 day"}}], 1),
    ],
)
def test_windows_go_by_the_times_that_steps_made(
    steps: list[Any], day: int, tmp_path: Path
) -> None:
    with play(project(steps), storage=tmp_path / "storage") as run:
        run.feed("orders", [record(1, 1), record(2, 2)])
        run.feed("orders", [record(3, 12)])
        run.feed("orders", [record(4, 25)])
        for stream in ("behind", "within"):
            assert panes(run, stream) == [(day, 0, 2), (day, 10, 1)]
            assert run.rows(f"{stream}.late") == []
        # A record that is late now is late by the clock of the moved times.
        run.feed("orders", [record(5, 3)])
        for stream in ("behind", "within"):
            assert [row["id"] for row in run.rows(f"{stream}.late")] == [5]


def test_a_stream_that_declares_another_event_time_goes_by_it(tmp_path: Path) -> None:
    declared = project([], moved={"event_time": "then"})
    with play(declared, storage=tmp_path / "storage") as run:
        run.feed("orders", [record(1, 1)])
        run.feed("orders", [record(2, 12)])
        assert panes(run, "behind") == [(3, 0, 1)]
        assert panes(run, "within") == [(2, 0, 1)]
        [told] = run.api.get("/watermarks", params={"stream": "moved"}).json()
        assert list(told["partitions"]) == ["orders/0"]
        assert told["watermark"] == to_ms(datetime(2026, 1, 3, 0, 0, 12, tzinfo=UTC))


def test_what_steps_drop_moves_no_clock_of_their_own(tmp_path: Path) -> None:
    steps = [{"filter": "id < 10"}, {"set": {"at": "at - interval 1 day"}}]
    with play(project(steps), storage=tmp_path / "storage") as run:
        run.feed("orders", [record(1, 1)])
        run.feed("orders", [record(11, 50)])
        run.feed("orders", [record(2, 2)])
        run.feed("orders", [record(3, 12)])
        for stream in ("behind", "within"):
            assert panes(run, stream) == [(1, 0, 2)]
            assert run.rows(f"{stream}.late") == []


def test_a_rule_does_not_change_the_time_that_its_stream_goes_by(tmp_path: Path) -> None:
    with play(project([]), storage=tmp_path / "storage") as run:
        for output in (None, "aside"):
            rule = {"stream": "moved", "steps": [{"set": {"at": "now()"}}], "output": output}
            answer = run.api.post("/rules", json=rule)
            assert (answer.status_code, answer.json()["code"]) == (422, "rule.event-time")
        other = {"stream": "moved", "steps": [{"set": {"then": "now()"}}]}
        assert run.api.post("/rules", json=other).is_success


def test_a_function_gives_the_times_that_it_returns(tmp_path: Path) -> None:
    (tmp_path / "moves.py").write_text(
        "from datetime import timedelta\n\n"
        "def later(record):\n"
        "    record['at'] += timedelta(seconds=5)\n"
        "    return record\n"
    )
    moving = project([{"function": "moves:later"}])
    with play(moving, folder=tmp_path, storage=tmp_path / "storage") as run:
        run.feed("orders", [record(1, 7)])
        run.feed("orders", [record(2, 40)])
        for stream in ("behind", "within"):
            assert panes(run, stream) == [(2, 10, 1)]


def test_key_and_event_time_may_be_parts_of_structs(tmp_path: Path) -> None:
    nested = {
        "app_name": "nested",
        "streams": {
            "orders": {
                "source": "feed",
                "schema": {
                    "customer": "struct<id:long,name:string>",
                    "payload": "struct<ts:timestamp>",
                },
                "key": "customer.id",
                "event_time": "payload.ts",
            }
        },
        "pipelines": {
            "kept": {"from": "orders", "steps": [{"set": {"customer_id": "customer.id"}}]},
            "counted": {
                "from": "kept",
                "window": SECOND,
                "by": ["customer_id"],
                "aggregate": {"n": "count(*)"},
            },
        },
    }
    good = [
        {"customer": {"id": n % 2}, "payload": {"ts": f"2026-01-02T00:00:{n:02d}Z"}}
        for n in range(4)
    ]
    with play(nested, storage=tmp_path / "storage") as run:
        run.feed(
            "orders",
            [*good, {"customer": {"id": 9}, "payload": {"ts": None}}, {"customer": {"id": 9}}],
        )
        run.feed("orders", [{"customer": {"id": 0}, "payload": {"ts": "2026-01-02T00:00:30Z"}}])
        assert [row["reason"] for row in run.rows("orders.dead")] == [
            "column 'payload.ts': it is missing, and it is the event time",
            "column 'payload': it is missing, and it is the event time",
        ]
        changed = {"set": {"customer": "struct(-1L as id, 'x' as name)"}}
        run.attach(stream="orders", steps=[changed], percent=50)
        run.feed("orders", good)
        assert sorted((row["customer_id"], row["n"]) for row in run.rows("counted")) == [
            (0, 2),
            (1, 2),
        ]
        touched = {row["customer"]["id"] == -1 for row in run.rows("orders")}
        assert False in touched
