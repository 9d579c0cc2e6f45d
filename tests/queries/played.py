"""A case on the real engine: its events in batches as they arrive, and what its queries hold after each of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import duckdb

from tests.products.document import normalised
from tests.products.envelope import Envelope
from tests.products.history import Change
from tests.products.oracle import filled
from tests.products.played import POINTS
from tests.products.table import Table
from tests.queries.case import Case, Source
from weft.testing import Play

Told = tuple[Change, Envelope]


def arriving(case: Case, rng: Random, batches: int) -> list[list[Told]]:
    """The events in batches: some change places, some come again."""
    told = case.told()
    for _ in range(rng.choice((0, len(told) // 4))):
        place = rng.randrange(len(told) - 1)
        told[place : place + 2] = reversed(told[place : place + 2])
    for _ in range(rng.choice((0, 1, 2))):
        place = rng.randint(1, len(told))
        told[place:place] = told[max(0, place - rng.randint(1, 8)) : place]
    cuts = sorted(rng.choices(range(len(told) + 1), k=batches - 1))
    return [told[a:b] for a, b in zip([0, *cuts], [*cuts, len(told)], strict=True) if a < b]


def differences(run: Play, case: Case, rng: Random, *, batches: int, crashes: float) -> list[str]:
    """Play a case; what differed from SQL, after which batch."""
    seen: list[Change] = []
    wrong: list[str] = []
    for number, batch in enumerate(arriving(case, rng, batches)):
        for table in case.tables:
            run.append(table, [event for change, event in batch if change.table == table])
        seen += [change for change, _ in batch]
        if rng.random() < crashes:
            run.crash(at=rng.choice(POINTS))
            run.settle()
            run.resume()
        run.settle()
        base = filled(tables_of(case, seen))
        wrong += [
            f"case {case.seed}, batch {number}: {source.name}"
            for source in case.made
            if found(run, source) != asked(base, source)
        ]
    return [*wrong, *(f"case {case.seed}: {one}" for one in untidy(run, case))]


def tables_of(case: Case, seen: list[Change]) -> dict[str, Table]:
    """The tables as the changes that have arrived tell them: of each row the one with the highest position."""
    tables = {name: one.copy() for name, one in case.tables.items()}
    emptied = dict.fromkeys(tables, 0)
    newest: dict[tuple[str, Any], Change] = {}
    for change in seen:
        if change.op == "t":
            emptied[change.table] = max(emptied[change.table], change.position)
        else:
            known = newest.get((change.table, change.key))
            if known is None or change.position >= known.position:
                newest[change.table, change.key] = change
    for (name, key), change in newest.items():
        if change.after is not None and change.position >= emptied[name]:
            tables[name].rows[key] = dict(change.after)
    return tables


def found(run: Play, source: Source) -> list[str]:
    """The rows that the engine has, in an order."""
    return sorted(_row(one) for one in run.documents(source.name))


def asked(base: duckdb.DuckDBPyConnection, source: Source) -> list[str]:
    """The rows that SQL says, in an order."""
    return sorted(map(_row, rows_of(base, source)))


def rows_of(base: duckdb.DuckDBPyConnection, source: Source) -> list[dict[str, Any]]:
    """The rows that SQL says."""
    answer = base.execute(source.sql)
    names = [column[0] for column in answer.description]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def _row(row: dict[str, Any]) -> str:
    return repr(sorted(normalised(row).items()))


def untidy(run: Play, case: Case) -> Iterator[str]:
    """Results that came twice in a batch, or without having changed, or with another op than they should."""
    for source in case.made:
        known: dict[str, str] = {}
        turns: set[tuple[int, str]] = set()
        for row in run.rows(source.name, weft=True):
            op, knot = row["_change"]["op"], row["_weft"]["knot"]
            key = _row({name: row[name] for name in source.key})
            value = _row({name: row[name] for name in source.columns})
            expected = "c" if key not in known else "d" if op == "d" else "u"
            if (knot, key) in turns or op != expected or (known.get(key) == value and op != "d"):
                yield f"{source.name} has {op} for {value} in knot {knot}"
            turns.add((knot, key))
            known[key] = value
            if op == "d":
                del known[key]
