"""Updating queries against SQL: random tables, random queries over them, random changes that arrive late, mixed, out of
order and again, with crashes. `python -m bench.queries [--quick]`; `CASES=40 FIRST=500` plays others.

After each batch every query holds what DuckDB says of the tables as they are then, or its case is counted as wrong.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench._report import Figures, Measure, run, say
from tests.queries.case import make_case
from tests.queries.played import differences
from weft.testing import play

CASES = int(os.environ.get("CASES", "200"))
QUICK = 6
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


PARTS = {"cases": Measure(("cases", "wrong"), cases)}

if __name__ == "__main__":
    run("queries", __doc__, PARTS)
