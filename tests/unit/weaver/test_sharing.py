"""Pipelines move between workers: to where it helps, one at a time, and only where labels allow it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from tests.unit.weaver.chain import PROJECT
from weft.clock import ManualClock
from weft.loading.load import load
from weft.weaver.sharing import EVERY, LONGEST, Sharing, next_move
from weft.weaver.store.memory import MemoryStore
from weft.weaver.weaver import Weaver
from weft.weaver.workers import Running, WorkerReport

NOW = timedelta(seconds=100)


def anywhere(pipeline: str, worker: str) -> bool:
    return True


def test_the_busiest_gives_what_makes_both_most_even() -> None:
    held = {"a": {"x": 1.0, "y": 0.5, "z": 0.1}, "b": {}, "c": {"v": 0.7}}
    move = next_move(held, anywhere, now=NOW)
    assert move is not None
    assert (move.pipeline, move.source, move.target) == ("x", "a", "b")


def test_what_does_nothing_is_shared_too() -> None:
    held: dict[str, dict[str, float]] = {"a": {"x": 0.0, "y": 0.0, "z": 0.0}, "b": {}}
    move = next_move(held, anywhere, now=NOW)
    assert move is not None and move.target == "b"
    assert next_move({"a": {"x": 0.0, "y": 0.0}, "b": {"z": 0.0}}, anywhere, now=NOW) is None


def test_one_that_is_all_the_load_stays_where_it_is() -> None:
    assert next_move({"a": {"x": 2.0}, "b": {}}, anywhere, now=NOW) is None


def test_nothing_moves_to_where_it_may_not_run() -> None:
    held: dict[str, dict[str, float]] = {"a": {"x": 1.0, "y": 1.0}, "b": {}}
    assert next_move(held, lambda pipeline, worker: worker == "a", now=NOW) is None


def test_a_move_ends_when_it_is_done_and_the_next_one_waits() -> None:
    sharing = Sharing()
    held: dict[str, dict[str, float]] = {"a": {"x": 1.0, "y": 1.0}, "b": {}}
    sharing.update(held, anywhere, settled=True, now=NOW)
    move = sharing.move
    assert move is not None
    assert sharing.forbids(move.pipeline, "a") and not sharing.forbids(move.pipeline, "b")
    sharing.update({"a": {"y": 1.0}, "b": {"x": 1.0}}, anywhere, settled=True, now=NOW)
    assert sharing.move is None
    uneven: dict[str, dict[str, float]] = {"a": {"y": 1.0, "w": 1.0}, "b": {}}
    sharing.update(uneven, anywhere, settled=True, now=NOW + EVERY / 2)
    assert sharing.move is None
    sharing.update(uneven, anywhere, settled=True, now=NOW + EVERY)
    assert sharing.move is not None


def test_a_move_to_one_that_is_gone_or_too_slow_is_given_up() -> None:
    for after, left in (
        (timedelta(), {"a": {"x": 1.0}}),
        (LONGEST * 2, {"a": {"x": 1.0}, "b": {}}),
    ):
        sharing = Sharing()
        both: dict[str, dict[str, float]] = {"a": {"x": 1.0, "y": 1.0}, "b": {}}
        sharing.update(both, anywhere, settled=True, now=NOW)
        assert sharing.move is not None
        sharing.update(left, anywhere, settled=True, now=NOW + after)
        assert sharing.move is None


class Two:
    """Two workers that do as they are told."""

    def __init__(self, placement: dict[str, Any] | None = None) -> None:
        self.clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.weaver = Weaver(MemoryStore(), clock=self.clock)
        pipelines = {
            name: {"from": "orders", "steps": [{"filter": "id > 0"}], "to": name}
            for name in ("one", "two", "three")
        }
        processing = {"placement": placement} if placement else {}
        project = load({**PROJECT, "pipelines": pipelines, "processing": processing})
        writes, _ = self.weaver.catalog.deploy(project)
        self.weaver.store.apply(writes)
        self.runs: dict[str, dict[str, Running]] = {}
        self.labels: dict[str, tuple[str, ...]] = {}

    def sync(self, worker: str) -> set[str]:
        """One exchange; what is no longer assigned is stopped by the next."""
        running = self.runs.setdefault(worker, {})
        labels = self.labels.get(worker, ())
        report = WorkerReport(worker, "h", 1, "local[1]", "now", dict(running), labels=labels)
        self.weaver.workers.note(report)
        given = self.weaver.workers.assign(report)
        self.runs[worker] = {name: Running(one.token) for name, one in given.items()}
        self.clock.advance(timedelta(seconds=1))
        return set(given)


def test_a_worker_that_joins_takes_its_share_one_by_one() -> None:
    two = Two()
    for _ in range(3):
        assert two.sync("a") == {"orders", "one", "two", "three"}
    seen = [(two.sync("a"), two.sync("b")) for _ in range(40)]
    assert [len(one) for one in seen[-1]] == [2, 2]
    assert seen[-1][0] | seen[-1][1] == {"orders", "one", "two", "three"}
    for before, after in pairwise(seen):
        assert len(before[0] - after[0]) <= 1
        assert not (after[0] & after[1])
    settled = seen[-10:]
    assert all(one == settled[0] for one in settled)


def test_what_is_on_its_way_to_one_that_dies_comes_back() -> None:
    two = Two()
    for _ in range(3):
        two.sync("a")
    two.sync("b")
    for _ in range(60):
        two.sync("a")
    assert two.sync("a") == {"orders", "one", "two", "three"}


def test_labels_say_who_runs_what() -> None:
    two = Two({"two": ["large"], "orders": ["large"]})
    for _ in range(3):
        assert two.sync("a") == {"one", "three"}
    two.labels["b"] = ("large", "other")
    for _ in range(40):
        found = (two.sync("a"), two.sync("b"))
    assert found == ({"one", "three"}, {"orders", "two"})
