"""Products that show whole transactions only: no document is of half of one, whatever comes first and whoever dies."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.products.committed import COMMITS, arriving, cuts, snapshot, whole_project
from tests.products.played import POINTS, assembled
from tests.products.world import make_world
from weft.errors import WeftError
from weft.loading.load import load
from weft.testing import Play, play

TABLES = {
    name: {"topic": f"app.public.{name}", "key": "id", "columns": {"id": "int", "n": "int"}}
    for name in ("left", "right")
}
PROJECT: dict[str, Any] = {
    "app_name": "whole",
    "tables": {**TABLES, COMMITS: {"topic": "app.transaction", "transactions": True, "key": "id"}},
    "products": {
        "pair": {
            "root": "left",
            "fields": ["n"],
            "parts": {"right": {"one": "right", "on": "id", "fields": {"m": "n"}, "inline": True}},
            "transactions": COMMITS,
        }
    },
}


def change(lsn: int, n: int, transaction: str | None, op: str = "u") -> dict[str, Any]:
    found: dict[str, Any] = {
        "op": op,
        "after": {"id": 1, "n": n},
        "source": {"lsn": lsn, "snapshot": "false"},
    }
    return found | ({"transaction": {"id": transaction}} if transaction else {})


def end(transaction: str, **counts: int) -> dict[str, Any]:
    counted = [
        {"data_collection": f"public.{name}", "event_count": count}
        for name, count in counts.items()
    ]
    return {"status": "END", "id": transaction, "data_collections": counted}


def pair(run: Play) -> list[tuple[Any, Any]]:
    return [(row["n"], row["m"]) for row in run.documents("pair")]


def waits(run: Play, text: str) -> bool:
    """Whether the product is said to wait for something, or for nothing; a worker says so in its own time."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        [found] = [one for one in run.api.get("/pipelines").json() if one["id"] == "pair"]
        if text in found["waits"] and bool(text) == bool(found["waits"]):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("seed", [4, 11])
def test_documents_are_those_of_a_moment_between_two_commits(tmp_path: Path, seed: int) -> None:
    world = make_world(seed, transactions=14)
    rng, moments = Random(seed), cuts(world)
    with play(whole_project(world), storage=tmp_path) as run:
        for table, events in snapshot(world).items():
            if table in world.product.tables():
                run.append(table, events)
        run.settle()
        assert assembled(run, world) == moments[0]
        for batch in arriving(world, rng):
            for table, events in batch.items():
                if table in (*world.product.tables(), COMMITS):
                    run.append(table, events)
            if rng.random() < 0.3:
                run.crash(at=rng.choice(POINTS))
                run.settle()
                run.resume()
            run.settle()
            assert assembled(run, world) in moments
        assert assembled(run, world) == moments[-1]
        assert run.rows("documents.dead") == []


def test_a_transaction_is_seen_when_all_of_it_is_there_and_what_is_awaited_is_told(
    tmp_path: Path,
) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("left", [change(1, 1, "7:1", "c")])
        run.feed(COMMITS, [{"status": "BEGIN", "id": "7:1"}, end("7:1", left=1, right=1)])
        assert pair(run) == [] and waits(run, "transaction 7 ")
        run.feed("right", [change(2, 1, "7:1", "c")])
        assert pair(run) == [(1, 1)] and waits(run, "")
        # The next one is whole before the one that was committed first.
        run.feed("left", [change(3, 2, "8:3"), change(5, 3, "9:5")])
        run.feed(COMMITS, [end("8:3", left=1, right=1), end("9:5", left=1)])
        assert pair(run) == [(1, 1)]
        run.feed("right", [change(4, 2, "8:3")])
        assert pair(run) == [(3, 2)]
        # A connector that starts again tells the end of what it has told: nobody waits for it.
        run.feed(COMMITS, [end("8:3", left=1, right=1), end("10:6", right=1)])
        run.feed("right", [change(4, 2, "8:3"), change(6, 9, "10:6")])
        assert pair(run) == [(3, 9)] and waits(run, "")


def test_what_names_no_transaction_is_a_dead_letter_and_what_cannot_be_read_blocks_nobody(
    tmp_path: Path,
) -> None:
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("left", [change(1, 1, None, "c"), {**change(2, 1, None, "c")}])
        assert pair(run) == []
        reasons = {row["reason"] for row in run.rows("pair.dead")}
        assert len(reasons) == 1 and "provide.transaction.metadata" in reasons.pop()
        bad = {**change(4, 2, "8:3"), "after": {"id": 1, "n": "no number"}}
        run.feed("left", [change(3, 2, "8:3", "c"), bad])
        run.feed(COMMITS, [end("8:3", left=2)])
        assert pair(run) == [] and waits(run, "1 of 2")
        run.feed("left", [change(5, 3, "9:5")])
        run.feed(COMMITS, [end("9:5", left=1)])
        assert pair(run) == [(3, None)] and waits(run, "")


@pytest.mark.parametrize(
    ("tables", "product"),
    [
        ({COMMITS: {**TABLES["left"]}}, {}),
        ({"left": {**TABLES["left"], "topic": "a,b"}}, {}),
        ({}, {"parallelism": 2}),
        ({}, {"transactions": "left"}),
    ],
)
def test_what_could_not_wait_is_refused(tables: dict[str, Any], product: dict[str, Any]) -> None:
    whole = {**PROJECT["products"]["pair"], **product}
    project = {**PROJECT, "tables": {**PROJECT["tables"], **tables}, "products": {"pair": whole}}
    with pytest.raises(WeftError):
        load(project)
