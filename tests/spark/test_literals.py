"""Text is text: what a person writes in quotes reaches the records as it is, whatever a session is set to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.projects import CLEAN, orders, shop
from weft.gate.expression import check
from weft.gate.spark import select
from weft.runtime import session
from weft.schema.schema import Schema, literal, quoted
from weft.testing import Play, play

TEXTS = [
    "${HOME}",
    "${env:HOME}",
    "${system:user.dir}",
    "${spark.sql.shuffle.partitions}",
    "${hiveconf:a} ${a}",
    "${",
    "}",
    "{input}",
    "weft_batch",
    "{}",
    "%s",
    "it's",
    'a "word"',
    "`name`",
    "back\\slash",
    "\\",
    "\\\\",
    "\\'",
    "\\u0041",
    "\\%",
    "a\\_b",
    "nul\x00inside",
    "\x01\x1a\x7f\x85",
    "line\nline\r\n\ttab",
    "\u2028\u2029\ufeff",
    "ß😀e\u0301",
    "-- not a comment",
    "/* not */ /*+ a hint */",
    "'); drop table orders; --",
    "?",
    ":name",
    "$$dollars$$",
    "now()",
    "rand()",
]
# How a literal can be written; each means to Spark what Spark says that it means.
WRITTEN = [
    r"'\u0041\U0001F600'",
    r"'\101\0\Z\b'",
    r"'a\%b\_c'",
    r"'\x\q\''",
    "'it''s'",
    '"it\'s"',
    r"r'raw\n'",
    r'R"raw\"',
    r"'\ud83d\ude00'",
    "'${HOME}'",
    "'a -- b' /* c */ -- d",
]
TYPES = Schema.of({"text": "string"})


@pytest.fixture(params=["false", "true"], ids=["as it is", "with substitution"])
def forked(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    """A session, and one whose own parser replaces variables."""
    made = session.fork(spark)
    made.conf.set("spark.sql.variable.substitute", request.param)
    made.conf.set("a", "1")
    return made


def value(spark: SparkSession, sql: str, name: str = "made") -> Any:
    [row] = select(spark.range(1), [[(name, sql)]]).collect()
    assert row.asDict().keys() == {name}
    return row[0]


@pytest.mark.parametrize("text", TEXTS, ids=[ascii(text) for text in TEXTS])
def test_a_text_comes_back_as_it_was(forked: SparkSession, text: str) -> None:
    assert value(forked, check(literal(text), TYPES).sql) == text


@pytest.mark.parametrize("written", WRITTEN)
def test_a_literal_means_what_it_means_to_spark(forked: SparkSession, written: str) -> None:
    forked.conf.set("spark.sql.variable.substitute", "false")
    meant = forked.sql(f"SELECT {written}").collect()[0][0]
    assert value(forked, check(written, TYPES).sql) == meant


@pytest.mark.parametrize("name", [text for text in TEXTS if "\x00" not in text], ids=ascii)
def test_a_name_is_a_name(forked: SparkSession, name: str) -> None:
    assert value(forked, f"named_struct({literal(name)}, 1).{quoted(name)}", name=name) == 1


def test_settings_of_a_session_do_not_change_how_sql_is_read(spark: SparkSession) -> None:
    forked = session.fork(spark)
    forked.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    forked.conf.set("spark.sql.ansi.doubleQuotedIdentifiers", "true")
    assert value(forked, r"'it\'s \\d'") == "it's \\d"
    assert value(forked, '"text"') == "text"


def test_a_fork_replaces_nothing_whatever_the_session_says(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.variable.substitute", "true")
    try:
        assert session.fork(spark).conf.get("spark.sql.variable.substitute") == "false"
    finally:
        spark.conf.set("spark.sql.variable.substitute", "false")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    storage: Path = tmp_path_factory.mktemp("literals")
    with play(shop(clean=CLEAN), storage=storage) as running:
        yield running


def test_a_rule_writes_texts_as_they_are(run: Play) -> None:
    steps = [{"set": {f"text_{n}": literal(text) for n, text in enumerate(TEXTS)}}]
    run.attach(stream="orders", steps=steps, output="texts", id="texts")
    run.feed("orders", orders(0, 2))
    [first, _] = run.rows("texts")
    assert [first[f"text_{n}"] for n in range(len(TEXTS))] == TEXTS


def test_pieces_of_sql_in_literals_do_not_come_together(run: Play) -> None:
    piece = '].`a}`, java_method("java.lang.System", "getenv", "HOME"), map("a","b")['
    steps: list[dict[str, Any]] = [
        {
            "set": {
                "m": "map('k', named_struct('a}', email))",
                "s": "named_struct('${', map('k','v'))",
            }
        },
        {"set": {"country": f"coalesce('{piece}', s.`${{`['}}Q'])"}},
        {"drop": ["m", "s"]},
    ]
    run.attach(stream="orders", steps=steps, output="pieces", id="pieces")
    run.feed("orders", orders(2, 1))
    assert [row["country"] for row in run.rows("pieces")] == [piece]
