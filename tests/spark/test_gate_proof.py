"""The catalogue against the Spark that is installed: the same types, nothing that Spark refuses, nothing that fails its
batch, and no record that is computed otherwise because of the one before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from tests.spark.hostile import HOSTILE, catalogue, hostile_rows
from weft.errors import WeftError
from weft.gate.expression import Checked, ExpressionError, check
from weft.gate.proven import PROVEN
from weft.gate.spark import select

Answer = TypeVar("Answer")

TOGETHER = 200
# Of how many calls one is computed: making plans and code for them is what takes the time.
TOTAL = {"NO_CODEGEN": 1, "CODEGEN_ONLY": 10}
TRIED = {"NO_CODEGEN": 10, "CODEGEN_ONLY": 40}


@pytest.fixture(scope="module")
def accepted() -> dict[str, Checked]:
    """Every call of the catalogue that the gate takes."""
    found: dict[str, Checked] = {}
    for text in catalogue():
        with suppress(ExpressionError):
            found[text] = check(text, HOSTILE)
    return found


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Hostile records with their number, computed once."""
    numbered = hostile_rows(spark).withColumn("number", sql.monotonically_increasing_id())
    return numbered.localCheckpoint()


@pytest.fixture(scope="module")
def reversed_rows(rows: DataFrame) -> DataFrame:
    """The same, the last first."""
    return rows.orderBy(sql.desc("number")).coalesce(1).localCheckpoint()


@pytest.fixture(params=list(TOTAL))
def mode(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    """Without and with generated code."""
    spark.conf.set("spark.sql.codegen.factoryMode", request.param)
    spark.conf.set("spark.sql.codegen.wholeStage", str(request.param == "CODEGEN_ONLY").lower())
    yield request.param
    spark.conf.unset("spark.sql.codegen.factoryMode")
    spark.conf.unset("spark.sql.codegen.wholeStage")


def each(texts: Sequence[str], ask: Callable[[list[str]], list[Answer]]) -> dict[str, Answer | str]:
    """What is answered for each text, or why there is no answer; many are asked at once."""
    answers: dict[str, Answer | str] = {}
    waiting = [list(texts[at : at + TOGETHER]) for at in range(0, len(texts), TOGETHER)]
    while waiting:
        some = waiting.pop()
        try:
            answers |= zip(some, ask(some), strict=True)
        except (PySparkException, Py4JJavaError, WeftError) as error:
            if len(some) == 1:
                answers[some[0]] = " ".join(str(error).split())[:300]
            else:
                half = len(some) // 2
                waiting += [some[:half], some[half:]]
    return answers


def selected(rows: DataFrame, expressions: Sequence[str]) -> DataFrame:
    columns = [(f"c{place}", expression) for place, expression in enumerate(expressions)]
    return select(rows, [[("number", "number"), *columns]])


def types(rows: DataFrame, expressions: Sequence[str]) -> list[str]:
    fields = selected(rows, expressions).schema.fields[1:]
    return [field.dataType.simpleString() for field in fields]


def run(rows: DataFrame, expressions: Sequence[str]) -> list[None]:
    selected(rows, expressions).write.format("noop").mode("overwrite").save()
    return [None] * len(expressions)


def outcomes(rows: DataFrame, expressions: Sequence[str]) -> list[int]:
    """One number for all values and reasons of each expression, whatever the order of the records."""
    tried = selected(rows, [f"weft_try(0L, {expression})" for expression in expressions])
    shown = [
        [
            ("number", "number"),
            *((f"e{place}", f"c{place}.error") for place in range(len(expressions))),
            *(
                (f"v{place}", f"weft_try(0L, cast(c{place}.v0 as string))")
                for place in range(len(expressions))
            ),
        ]
    ]
    hashes = [
        sql.bit_xor(sql.xxhash64("number", f"e{place}", f"v{place}.v0"))
        for place in range(len(expressions))
    ]
    found = select(tried, shown).select(*hashes).first()
    assert found is not None
    return list(found)


def normal(kind: str) -> str:
    return kind.replace("`", "").replace(" ", "")


def test_spark_takes_what_the_gate_takes_and_has_its_types(
    rows: DataFrame, accepted: dict[str, Checked]
) -> None:
    said = {one.sql: normal(str(one.type)) for one in accepted.values()}
    found = each(list(said), lambda some: types(rows, some))
    differing = [
        f"{text}: {kind}, Spark: {found[text]}"
        for text, kind in said.items()
        if not any(word in kind for word in ("unknown", "null", "interval"))
        or str(found[text]).startswith("[")
        if normal(str(found[text])) != kind
    ]
    assert not differing, "\n".join([str(len(differing)), *differing[:30]])


def test_what_is_called_total_never_raises(
    rows: DataFrame, accepted: dict[str, Checked], mode: str
) -> None:
    total = [one.sql for one in accepted.values() if one.total][:: TOTAL[mode]]
    answers = each(total, lambda some: run(rows, some))
    raising = [f"{text}: {answer}" for text, answer in answers.items() if answer]
    assert not raising, "\n".join([str(len(raising)), *raising[:30]])


def test_what_is_tried_never_fails_its_batch_nor_another_record(
    rows: DataFrame, reversed_rows: DataFrame, accepted: dict[str, Checked], mode: str
) -> None:
    tried = [one.sql for one in accepted.values() if not one.total][:: TRIED[mode]]
    forth = each(tried, lambda some: outcomes(rows, some))
    raising = [f"{text}: {answer}" for text, answer in forth.items() if isinstance(answer, str)]
    assert not raising, "\n".join([str(len(raising)), *raising[:30]])
    back = each(tried, lambda some: outcomes(reversed_rows, some))
    differing = [text for text in tried if forth[text] != back[text]]
    assert not differing, "\n".join([str(len(differing)), *differing[:30]])


def test_every_function_that_is_called_proven_is_tried_here(accepted: dict[str, Checked]) -> None:
    tried = {name for one in accepted.values() if one.total for name in one.functions}
    assert tried >= PROVEN - {"like", "ilike"}
