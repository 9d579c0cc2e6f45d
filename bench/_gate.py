"""A worker of the gate's bench: tries rules of a file, tells a line a batch what became of them, and may die of it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from bench._hostile import CANARY
from bench._hostile import Rule as Hostile
from tests.spark.hostile import HOSTILE, hostile_rows
from weft.errors import WeftError
from weft.gate.spark import select
from weft.runtime import session
from weft.runtime.weaving import run_stages
from weft.schema.weft import WEFT, WEFT_TYPE
from weft.weaving.rule import Rule
from weft.weaving.weave import Moment, compile_weave
from weft.windows import panes
from weft.windows.aggregate import checked_aggregate
from weft.windows.attached import batch_of
from weft.windows.window import WindowSpec

EVERY = 15
"""Of the hostile records, one of so many is taken."""
TOGETHER = 8
ONCE = ("growth", "pattern", "depth")
"""Kinds of rules that do not try to get at anything, so that running them once is enough."""
MOMENT = Moment(datetime(2026, 1, 1, tzinfo=UTC), 7)
WINDOW = WindowSpec.from_dict({"type": "tumbling", "size_ms": 60_000})
FAILURES = (PySparkException, Py4JJavaError)

Numbered = tuple[int, Hostile]


class Tried:
    """Rules by number, what is refused of them, and the batches of those that are not."""

    def __init__(self, spark: SparkSession, scratch: Path) -> None:
        self._scratch = scratch
        long = spark.range(1).selectExpr("repeat('a', 100000) as s")
        hostile = hostile_rows(spark).withColumn("n", sql.monotonically_increasing_id())
        rows = hostile.where(sql.col("n") % EVERY == 0).unionByName(long, allowMissingColumns=True)
        weft = (
            "named_struct('id', string(n), 'knot', 1L, 'at', timestamp_millis(1), 'source', 'r', 'partition', 0, "
            "'event_time', timestamp_millis(coalesce(n, 0)), 'watermark', cast(null as timestamp))"
        )
        self._rows = (
            rows.withColumn(WEFT, sql.expr(weft).cast(str(WEFT_TYPE)))
            .drop("n")
            .coalesce(1)
            .localCheckpoint()
        )

    def refusal(self, rule: Hostile, number: int) -> str | None:
        """Why a rule is refused before it runs, or None."""
        try:
            if "aggregate" in rule:
                self._panes([(number, rule)])
            else:
                self._woven([(number, rule)])
        except WeftError as error:
            return error.code
        except (AnalysisException, ParseException):
            return "rule.refused-by-spark"
        return None

    def run(self, rules: Sequence[Numbered]) -> list[int]:
        """Run accepted rules on the rows; those whose result holds the canary, or differs the second time, escape."""
        one = self._outcomes(rules)
        two = one if rules[0][1]["kind"] in ONCE else self._outcomes(rules)
        pairs = zip(rules, one, two, strict=True)
        return [number for (number, _), first, second in pairs if first is None or first != second]

    def _outcomes(self, rules: Sequence[Numbered]) -> list[int | None]:
        """A hash of all that each rule makes; None where the canary is in it."""
        frame, columns = self._panes(rules) if "aggregate" in rules[0][1] else self._woven(rules)
        texts = [f"weft_try(0L, cast({column} as string)).v0" for column in columns]
        shown = select(frame, [[(f"c{place}", text) for place, text in enumerate(texts)]])
        hashes = [sql.bit_xor(sql.xxhash64(name)) for name in shown.columns]
        seen = [sql.max(sql.contains(name, sql.lit(CANARY))) for name in shown.columns]
        found = shown.select(*hashes, *seen).first()
        assert found is not None
        pairs = zip(found[: len(rules)], found[len(rules) :], strict=True)
        return [None if has_canary else hashed for hashed, has_canary in pairs]

    def _woven(self, rules: Sequence[Numbered]) -> tuple[DataFrame, list[str]]:
        """The rows with rules applied, each into a stream of its own, and what to look at of each."""
        asked = [
            {"id": f"r{number}", "stream": "rows", "steps": rule["steps"], "output": f"s{number}"}
            for number, rule in rules
        ]
        weave = compile_weave(
            HOSTILE,
            stream="rows",
            key=(),
            steps=(),
            rules=[Rule.from_dict(one) for one in asked],
            functions={},
            moment=MOMENT,
        )
        base = self._rows.withColumn("_weft_bad", sql.lit(None).cast("string"))
        woven = run_stages(
            base.withColumn("_weft_raw", sql.lit(None).cast("binary")), weave.stages, {}
        )
        sides = {target.stream: target.column for target in weave.targets}
        return woven, [f"struct({sides[f's{n}']}, {sides[f's{n}.dead']})" for n, _ in rules]

    def _panes(self, rules: Sequence[Numbered]) -> tuple[DataFrame, list[str]]:
        """The rows aggregated in a window, and the columns of the pane."""
        aggregates = [
            checked_aggregate(f"a{number}", rule["aggregate"], HOSTILE)[0] for number, rule in rules
        ]
        window = panes.attach(
            self._rows.sparkSession,
            [self._rows.schema],
            window=WINDOW,
            by=(),
            aggregates=aggregates,
            buckets=1,
            pipeline="gate",
            state="memory",
        )
        batch = batch_of(self._rows, [], self._rows.count())
        frame = window.run([batch], checkpoint=mkdtemp(dir=self._scratch), batch=0, partitions=1)
        return frame, [f"struct(pane.a{number}, dead)" for number, _ in rules]


def _told(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def _batches(accepted: Sequence[Numbered]) -> list[list[Numbered]]:
    """Rules that are tried together, those of a kind."""
    kinds = dict.fromkeys(rule["kind"] for _, rule in accepted)
    return [
        some[at : at + TOGETHER]
        for kind in kinds
        for some in [[one for one in accepted if one[1]["kind"] == kind]]
        for at in range(0, len(some), TOGETHER)
    ]


def main(rules: Path) -> None:
    """Try the rules of a file, a line each with its number."""
    spark = session.create("local[1]", app="gate", conf={"spark.driver.memory": "1g"})
    spark._jvm.System.setProperty("weft.canary", CANARY)  # type: ignore[union-attr]
    spark.sql(f"select '{CANARY}' as secret").createOrReplaceTempView("canary")
    spark.conf.set("weft.canary", CANARY)
    tried = Tried(spark, rules.parent)
    _told(ready=True)
    accepted: list[Numbered] = []
    try:
        for line in rules.read_text().splitlines():
            number, rule = json.loads(line)
            _told(begin=[number])
            try:
                code = tried.refusal(rule, number)
            except FAILURES as error:
                _told(failed=number, reason=str(error)[:300])
                continue
            if code:
                _told(refused=number, code=code)
            else:
                accepted.append((number, rule))
        waiting = _batches(accepted)
        while waiting:
            batch = waiting.pop()
            numbers = [number for number, _ in batch]
            began = time.monotonic()
            _told(begin=numbers)
            try:
                escaped = tried.run(batch)
                _told(accepted=numbers, escaped=escaped, seconds=time.monotonic() - began)
            except FAILURES as error:
                if len(batch) == 1:
                    _told(failed=numbers[0], reason=str(error)[:300])
                else:
                    waiting += [[one] for one in batch]
    except Py4JNetworkError:
        os._exit(3)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
