"""Updating queries against SQL: random tables, random queries over them, random changes that arrive late, mixed, out of
order and again, with crashes. `python -m bench.queries [--quick]`; `CASES=40 FIRST=500` plays others.

After each batch every query holds what DuckDB says of the tables as they are then, or its case is counted as wrong.
`growth` is the time of a batch with one change of a group of 200,000 rows over that of one of 1,000, by turns.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from bench._report import Figures, Measure, run, say
from tests.queries.case import make_case
from tests.queries.played import differences
from weft.testing import play

CASES = int(os.environ.get("CASES", "200"))
QUICK = 6
SMALL, LARGE, LOADED, TURNS = 1_000, 200_000, 50_000, 15
FIRST = int(os.environ.get("FIRST", "1000"))


def cases(quick: bool) -> Figures:
    """Play so many cases to their ends."""
    wrong = 0
    count = QUICK if quick else CASES
    for number, seed in enumerate(range(FIRST, FIRST + count), start=1):
        found = _play(seed)
        wrong += bool(found)
        for one in found:
            say(one)
        if number % 10 == 0:
            say(f"{number} cases, {wrong} wrong")
    return {"cases": count, "wrong": wrong}


def _play(seed: int) -> list[str]:
    case = make_case(seed)
    with (
        TemporaryDirectory(prefix="weft-bench-") as storage,
        play(case.project(), storage=Path(storage)) as played,
    ):
        return differences(played, case, Random(seed), batches=6, crashes=0.2)


def growth(quick: bool) -> Figures:
    """What one change costs in a large group and in a small one, which stand in the same state."""
    sizes = {1: SMALL, 2: SMALL * 10 if quick else LARGE}
    table = {"topic": "rows", "key": "id", "columns": {"id": "long", "g": "int", "v": "double"}}
    queries = {
        "sums": {
            "group": {"by": "g", "aggregate": {"n": "count(*)", "s": "sum(v)", "m": "avg(v)"}}
        },
        "ranks": {"group": {"by": "g", "aggregate": {"least": "min(v)", "last": "max_by(id, v)"}}},
        "first": {"top": {"by": "g", "order": "v desc", "limit": 5}},
    }
    project = {
        "app_name": "growth",
        "processing": {"queue_size": LARGE},
        "tables": {"rows": table},
        "pipelines": {name: {"from": "rows", **said} for name, said in queries.items()},
    }
    with (
        TemporaryDirectory(prefix="weft-bench-") as storage,
        play(project, storage=Path(storage)) as played,
    ):
        for group, size in sizes.items():
            for start in range(0, size, LOADED):
                ids = range(start, min(size, start + LOADED))
                played.feed("rows", [_event(one, group, one * 7919 % 100_003, one) for one in ids])
        for turn in range(TURNS):
            for group in sizes:
                played.feed("rows", [_event(turn * 37, group, 1e6 + turn, LARGE + turn)])
        found = {}
        for name in queries:
            times = [knot.duration_ms or 0 for knot in played.knots(name)[-2 * TURNS :]]
            found[f"growth_{name}"] = round(median(times[1::2]) / median(times[::2]), 2)
        return found


def _event(id: int, group: int, value: float, position: int) -> dict[str, Any]:
    row = {"id": id * 10 + group, "g": group, "v": value}
    return {"op": "u", "after": row, "source": {"lsn": position + 1, "snapshot": "false"}}


PARTS = {
    "cases": Measure(("cases", "wrong"), cases),
    "growth": Measure(("growth_sums", "growth_ranks", "growth_first"), growth),
}

if __name__ == "__main__":
    run("queries", __doc__, PARTS)
