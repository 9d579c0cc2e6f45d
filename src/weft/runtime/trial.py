"""A rule tried on recorded rows: what it would add, remove and change, and what it would cost. Writes nothing."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from weft.clock import SystemClock
from weft.runtime import session
from weft.runtime.collected import collected, plain
from weft.runtime.fill import one_rule
from weft.runtime.weaving import run_stages
from weft.schema.schema import Schema
from weft.schema.weft import WEFT
from weft.streams.rows import Chunk, read, recent
from weft.streams.tables import Tables
from weft.weaving.rule import Rule
from weft.weaving.tried import (
    ChangedRow,
    DeadRow,
    Trial,
    TrialExamples,
    TriedKnots,
    TriedLedger,
)
from weft.weaving.weave import Moment

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

MOST_ROWS = 20_000
EXAMPLES = 5


def trial(
    worker: Worker, rule: Rule, *, schema: dict[str, Any], key: list[str], knots: int, head: int
) -> Trial:
    """Run a rule over the last knots of its stream and compare rows before and after."""
    table = Tables(worker.spark, worker.storage).open(rule.stream)
    columns = Schema.from_json(schema)
    forked = session.fork(worker.spark)
    if not table.exists():
        return Trial()
    found = recent(table, rule.stream, max(0, head - knots), head, rows=MOST_ROWS)
    chunk = found.chunk
    if chunk is None or not chunk.rows:
        return Trial()
    # As if in place: what becomes of each row is the same, wherever it would be written.
    weave = one_rule(
        columns, replace(rule, output=None), key, worker, Moment(SystemClock().now(), head)
    )
    before = read(forked, chunk, columns).cache()
    try:
        woven = run_stages(before, weave.stages, worker.functions).select("out", "dead", "verdict")
        trial, verdicts = _compare(before, woven)
        cost = _cost(before, woven, chunk)
    finally:
        before.unpersist()
    _, filtered, dead = weave.ledger_counts(verdicts)
    out = chunk.rows - sum(filtered.values()) - dead
    return replace(
        trial,
        knots=TriedKnots(chunk.first, chunk.last),
        rows=chunk.rows,
        recorded=found.recorded,
        ledger=TriedLedger(chunk.rows, out, filtered, dead),
        cost_us_per_row=cost,
    )


def _compare(before: DataFrame, woven: DataFrame) -> tuple[Trial, Counter[str]]:
    old = {row[WEFT]["id"]: row for row in collected(before)}
    new: dict[str, dict[str, Any]] = {}
    verdicts: Counter[str] = Counter()
    reasons: list[DeadRow] = []
    for row in collected(woven):
        verdicts["null" if row["verdict"] is None else str(row["verdict"])] += 1
        if row["out"] is not None:
            new[row["out"][WEFT]["id"]] = row["out"]
        elif row["dead"] is not None and len(reasons) < EXAMPLES:
            reasons.append(DeadRow(row["dead"]["step"], row["dead"]["reason"]))
    by_column: Counter[str] = Counter()
    changed = 0
    examples: list[ChangedRow] = []
    for name, after in new.items():
        differing = _differing(old[name], after)
        by_column.update(differing)
        changed += bool(differing)
        if differing and len(examples) < EXAMPLES:
            was = {c: plain(old[name].get(c)) for c in differing}
            examples.append(ChangedRow(name, was, {c: plain(after.get(c)) for c in differing}))
    removed = [name for name in old if name not in new]
    trial = Trial(
        removed=len(removed),
        changed=changed,
        unchanged=len(new) - changed,
        changed_by_column=dict(by_column),
        examples=TrialExamples(
            tuple(plain(_user(old[name])) for name in removed[:EXAMPLES]),
            tuple(examples),
            tuple(reasons),
        ),
    )
    return trial, verdicts


def _cost(before: DataFrame, woven: DataFrame, chunk: Chunk) -> float:
    """Microseconds that the rule takes per row, beside reading it; the better of two runs."""

    def seconds(frame: DataFrame) -> float:
        started = time.perf_counter()
        frame.write.format("noop").mode("overwrite").save()
        return time.perf_counter() - started

    with_rule = min(seconds(woven), seconds(woven))
    without = min(seconds(before), seconds(before))
    return round(max(0.0, with_rule - without) * 1e6 / max(1, chunk.rows), 2)


def _differing(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    names = dict.fromkeys([*_user(before), *_user(after)])
    # As JSON holds them: NaN is no other value than NaN.
    return [name for name in names if plain(before.get(name)) != plain(after.get(name))]


def _user(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not name.startswith(WEFT)}
