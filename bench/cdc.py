"""Documents that follow a database, against PostgreSQL that queries them again after each change.

`python -m bench.cdc [--quick] [--only load,cpu,fanout,freshness,products,growth]`. The five tables and the documents
are those of the example `user-profile`. CPU of Weft is that of weaver, worker and Spark; Kafka's is told beside it and
counts for no side.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from typing import Any

from bench._cdc_data import Size
from bench._cdc_freshness import freshness
from bench._cdc_postgres import Requery
from bench._cdc_stand import PER_SECOND, Stand
from bench._report import Figures, Measure, run, say

SIZE, QUICK_SIZE = Size(20_000, hot=20_000), Size(500, hot=500)
FEW, QUICK_FEW = Size(2_000, hot=2_000), Size(200, hot=200)
"""Where it is not about how many rows there are."""
GROWTH, QUICK_GROWTH = 10, 4
"""How many times as many rows there are in a growing database."""
PRODUCTS, QUICK_PRODUCTS = 100, 10
CHANGES, QUICK_CHANGES = 60_000, 5_000
ROUNDS = 3
WARM, QUICK_WARM = 8, 1
"""Rounds at the start in which code is compiled, and which count for no side: a minute of changes, after which Java's
compilers have little left to do, as in whatever runs for days."""
COMPARED = 100


class Bench:
    """The parts that share a stand, which the first of them starts."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._stand: Stand | None = None

    def load(self, quick: bool) -> Figures:
        """Rows a second from the first that is read to the last document, Spark being cold."""
        stand = self._at(quick)
        return {"load_rows_per_s": round(stand.rows / stand.loading_s)}

    def cpu(self, quick: bool) -> Figures:
        """PostgreSQL's CPU for a change over ours, turn by turn.

        It queries after each change, and to compare also as we work: once a second what that second changed.
        """
        stand = self._at(quick)
        changes, warm, rounds = _rounds(quick)
        ours, each, batched = [], [], []
        with Requery(stand.folder / "postgres") as requery:
            requery.load(stand.world)
            for number in range(warm + rounds):
                made = stand.world.changes(changes)
                ours.append(stand.spend(made, what="cpu").cpu_us)
                requery.apply(made)
                if number + 1 < warm:
                    continue  # it has nothing to compile, and needs one round to have read its tables
                each.append(_told("each change", changes, *requery.requery(made)))
                found = requery.requery_batches(made, each=PER_SECOND)
                batched.append(_told("each second", changes, *found))
            self._compare(stand, requery)
        cost, one, many = (statistics.median(costs[-rounds:]) for costs in (ours, each, batched))
        return {"cpu_gain": round(one / cost, 2), "cpu_gain_batched": round(many / cost, 2)}

    def fanout(self, quick: bool) -> Figures:
        """Seconds until the documents of all who starred one repository have its new description."""
        stand = self._at(quick)
        taken = []
        for turn in range(1 if quick else ROUNDS):
            change = stand.world.rename_hot(f"renamed {turn}")
            spent = stand.spend([change], what="fanout")
            if spent.documents != stand.world.size.hot:
                raise RuntimeError(f"{spent.documents} documents of {stand.world.size.hot} changed")
            taken.append(spent.seconds)
        return {"fanout_s": round(statistics.median(taken), 2)}

    def alone(self, measure: Callable[[bool], Figures]) -> Callable[[bool], Figures]:
        """A part that has the machine to itself: what others share is ended first."""

        def measured(quick: bool) -> Figures:
            self._stand = None
            self._stack.close()
            return measure(quick)

        return measured

    def _at(self, quick: bool) -> Stand:
        if self._stand is None:
            self._stand = self._stack.enter_context(Stand(QUICK_SIZE if quick else SIZE))
        return self._stand

    def _compare(self, stand: Stand, requery: Requery) -> None:
        keys = stand.world.emails(COMPARED)
        ours, theirs = stand.weft.documents(keys), requery.documents(keys)
        for key in keys:
            if _plain(ours[key]) != _plain(theirs[key]):
                raise RuntimeError(f"the sides differ: {ours[key]} and {theirs[key]}")
        say(f"cpu        {len(keys)} documents of both sides are equal")


def products(quick: bool) -> Figures:
    """Our CPU for a change with many products over that with one; those added are over tables that do not change."""
    costs = []
    for number in (1, QUICK_PRODUCTS if quick else PRODUCTS):
        with Stand(QUICK_FEW if quick else FEW, products=number) as stand:
            costs.append(_cost(stand, quick, what="products"))
            say(f"products   {number}: {costs[-1]:,.0f} µs CPU a change")
    return {"products_growth": round(costs[1] / costs[0], 2)}


def growth(quick: bool) -> Figures:
    """Our CPU for a change with ten times the rows over that with as many as elsewhere, the same documents touched."""
    costs = []
    few = QUICK_FEW if quick else SIZE
    for forges in (1, QUICK_GROWTH if quick else GROWTH):
        with Stand(replace(few, forges=forges)) as stand:
            costs.append(_cost(stand, quick, what="growth"))
            say(f"growth     {stand.rows:,} rows: {costs[-1]:,.0f} µs CPU a change")
    return {"growth": round(costs[1] / costs[0], 2)}


def _cost(stand: Stand, quick: bool, *, what: str) -> float:
    """Microseconds of CPU for a change: the median of rounds, after those in which code is compiled."""
    changes, warm, rounds = _rounds(quick)
    spent = [stand.spend(stand.world.changes(changes), what=what) for _ in range(warm + rounds)]
    return statistics.median(each.cpu_us for each in spent[warm:])


def _told(when: str, changes: int, cpu_s: float, documents: int) -> float:
    """Say what PostgreSQL needed, and give the microseconds of CPU for a change."""
    cpu_us = cpu_s / changes * 1e6
    say(f"cpu        postgres after {when}: {documents:,} documents; {cpu_us:,.0f} µs CPU a change")
    return cpu_us


def _rounds(quick: bool) -> tuple[int, int, int]:
    """How many changes a round has, how many rounds warm up, and how many count."""
    return (QUICK_CHANGES, QUICK_WARM, 1) if quick else (CHANGES, WARM, ROUNDS)


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """A document with its times as times, which each side writes its own way."""
    pulls = [
        {**pull, "created_at": datetime.fromisoformat(pull["created_at"])}
        for pull in document["pull_requests"]
    ]
    return {**document, "pull_requests": pulls}


if __name__ == "__main__":
    with ExitStack() as stack:
        bench = Bench(stack)
        parts = {
            "load": Measure(("load_rows_per_s",), bench.load),
            "cpu": Measure(("cpu_gain", "cpu_gain_batched"), bench.cpu),
            "fanout": Measure(("fanout_s",), bench.fanout),
            "freshness": Measure(("freshness_p95_ms",), bench.alone(freshness)),
            "products": Measure(("products_growth",), bench.alone(products)),
            "growth": Measure(("growth",), bench.alone(growth)),
        }
        run("cdc", __doc__, parts)
