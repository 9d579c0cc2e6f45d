"""A worker of the gate's bench: tries rules of a file, tells a line a batch what became of them, and may die of it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from bench._hostile import CANARY
from tests.spark.hostile import HOSTILE, hostile_rows
from weft.errors import WeftError
from weft.project.pane import checked_aggregate
from weft.runtime import kernel, session
from weft.runtime.analysis import analyze
from weft.runtime.relay import WEFT
from weft.runtime.weaving import run_stages
from weft.weaving.rule import Rule
from weft.weaving.weave import Moment, compile_weave
from weft.windows import panes
from weft.windows.window import WindowSpec

ROWS = 40
TOGETHER = 6
MOMENT = Moment(datetime(2026, 1, 1, tzinfo=UTC), 7)
WINDOW = WindowSpec.from_dict({"type": "tumbling", "size_ms": 60_000})
FAILURES = (PySparkException, Py4JJavaError)


class Tried:
    """Rules by number, what is refused of them, and the batches of those that are not."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        long = spark.range(2).selectExpr("repeat('a', 100000 + cast(id as int)) as s")
        hostile = hostile_rows(spark, ROWS).unionByName(long, allowMissingColumns=True)
        weft = "named_struct('id', string(n), 'knot', 1L, 'at', timestamp_millis(1), 'source', 'r', 'partition', 0,"
        weft += " 'event_time', timestamp_millis(n), 'watermark', cast(null as timestamp))"
        self._rows = (
            hostile.withColumn("n", sql.monotonically_increasing_id())
            .withColumn("_weft", sql.expr(weft).cast(WEFT))
            .drop("n")
            .coalesce(1)
            .localCheckpoint()
        )

    def refusal(self, rule: dict[str, Any], number: int) -> str | None:
        """Why a rule is refused, or None; the way that a weaver and its worker take."""
        try:
            if "aggregate" in rule:
                checked_aggregate("made", rule["aggregate"], HOSTILE)
                self._panes([rule])
            else:
                asked = _rule(rule, number)
                compile_weave(
                    HOSTILE,
                    stream="rows",
                    key=(),
                    steps=(),
                    rules=(asked,),
                    functions={},
                    moment=MOMENT,
                )
                analyze(self._spark, {}, HOSTILE.to_json(), asked.to_dict())
        except WeftError as error:
            return error.code
        return None

    def run(self, rules: Sequence[tuple[int, dict[str, Any]]]) -> list[int]:
        """Run accepted rules on the rows, twice; those whose result holds the canary, or differs, have escaped."""
        one, two = self._outcomes(rules), self._outcomes(rules)
        return [
            number
            for place, (number, _) in enumerate(rules)
            if one[place] != two[place] or one[place] is None
        ]

    def _outcomes(self, rules: Sequence[tuple[int, dict[str, Any]]]) -> list[int | None]:
        """A hash of all that each rule makes; None where the canary is in it."""
        if "aggregate" in rules[0][1]:
            frame = self._panes([rule for _, rule in rules])
            columns = [f"pane.a{place}" for place in range(len(rules))]
        else:
            base = self._rows.withColumn("_weft_bad", sql.lit(None).cast("string"))
            weave = compile_weave(
                HOSTILE,
                stream="rows",
                key=(),
                steps=(),
                rules=tuple(_rule(rule, number) for number, rule in rules),
                functions={},
                moment=MOMENT,
            )
            raw = base.withColumn("_weft_raw", sql.lit(None).cast("binary"))
            frame = run_stages(raw, weave, {})
            sides = {target.stream: target.column for target in weave.targets}
            columns = [f"struct({sides[f's{n}']}, {sides[f's{n}.dead']})" for n, _ in rules]
        shown = kernel.select(
            frame,
            [
                [
                    (f"c{n}", f"weft_try(0L, cast({column} as string)).v0")
                    for n, column in enumerate(columns)
                ]
            ],
        )
        measured = [
            one
            for n in range(len(rules))
            for one in (
                sql.bit_xor(sql.xxhash64(f"c{n}")).alias(f"h{n}"),
                sql.max(sql.coalesce(sql.contains(f"c{n}", sql.lit(CANARY)), sql.lit(False))).alias(
                    f"x{n}"
                ),
            )
        ]
        found = shown.select(*measured).first()
        assert found is not None
        return [None if found[f"x{n}"] else found[f"h{n}"] for n in range(len(rules))]

    def _panes(self, rules: Sequence[dict[str, Any]]) -> DataFrame:
        return panes.attach(
            self._rows.withColumn("_control", sql.lit(None).cast("string")),
            window=WINDOW,
            by=(),
            aggregates=[
                checked_aggregate(f"a{place}", rule["aggregate"], HOSTILE)[0]
                for place, rule in enumerate(rules)
            ],
            buckets=1,
            pipeline="gate",
            state="memory",
        )


def _rule(rule: dict[str, Any], number: int) -> Rule:
    return Rule.from_dict(
        {"id": f"r{number}", "stream": "rows", "steps": rule["steps"], "output": f"s{number}"}
    )


def _told(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def _batches(accepted: list[tuple[int, dict[str, Any]]]) -> list[list[tuple[int, dict[str, Any]]]]:
    """Rules that are tried together; aggregates are with their own."""
    kinds = [
        [one for one in accepted if ("aggregate" in one[1]) is wanted] for wanted in (False, True)
    ]
    return [some[at : at + TOGETHER] for some in kinds for at in range(0, len(some), TOGETHER)]


def main(rules: Path) -> None:
    """Try the rules of a file, a line each with its number."""
    java = f"-Dweft.canary={CANARY} {session.JAVA}"
    spark = session.create(
        "local[1]",
        app="gate",
        conf={"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": java},
    )
    spark.sql(f"select '{CANARY}' as secret").createOrReplaceTempView("canary")
    spark.conf.set("weft.canary", CANARY)
    tried = Tried(spark)
    _told(ready=True)
    accepted: list[tuple[int, dict[str, Any]]] = []
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
