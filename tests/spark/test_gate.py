"""Rules that would take a worker down, or its time: their records become dead letters, and the stream goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.projects import CLEAN, order, shop
from weft.gate.spark import select
from weft.testing import Play, play

TOO_MUCH = ("[VALUE_TOO_LARGE]", "[RECORD_TOO_COSTLY]")
# A batch with any of these ends in seconds, also on a busy machine in two minutes; without the gate none of them ends.
LONGEST_S = 120.0

GROWING = [
    "replace(repeat(country, 50000), 'E', repeat('b', 100000))",
    "repeat(repeat(repeat(email, 1000), 1000), 1000)",
    "aggregate(sequence(1, 60), 'x', (a, x) -> a || a)",
    "aggregate(sequence(1, 60), 'x', (a, x) -> repeat(a, 2))",
    "array_join(array_repeat(email, 100000), repeat('-', 100000))",
    "concat_ws(repeat('-', 1000000), sequence(1, 1000))",
    "lpad(email, 16777000, repeat('-', 1000)) || rpad(email, 16777000, '-')",
    "format_string('%1000000000s', email)",
    "to_json(transform(sequence(1, 100000), v -> repeat(email, 1000)))",
    "cast(array_repeat(array_repeat(email, 10000), 10000) as string)",
    "regexp_replace(repeat(email, 10000), '.', repeat('x', 10000))",
    "string(substring(cast(email as binary), -128, -2147483648))",
    "string(size(sequence(1, 1000000000)))",
    "string(size(flatten(transform(sequence(1, 10000), v -> sequence(1, 10000)))))",
    "hex(repeat(email, 1000000))",
    "translate(repeat(email, 900000), 'e', 'é') || repeat(email, 900000)",
    "string(size(array_insert(array(email), cast(id as int) * 2000000000, email)))",
]
SLOW = [
    "if(repeat(email, 100) like '%a%a%a%a%a%a%a%a%a%a%a%a%a%b', email, email)",
    "if(repeat('a', 5000) rlike 'a*a*a*a*a*a*a*a*a*a*b', email, email)",
    "if(repeat('a', 5000) rlike '(a|a)*b', email, email)",
    "if(repeat('a', 5000) rlike '(a+)+$b', email, email)",
    "regexp_replace(repeat('a', 5000), '(x+x+)+y|(a+)+b|(.*a){20}c', '')",
    "string(levenshtein(repeat(email, 100000), repeat(country, 100000)))",
    "string(aggregate(sequence(1, 1000000), 0, (a, x) -> aggregate(sequence(1, 1000), 0, (b, y) -> y)))",
    "string(size(array_distinct(transform(sequence(1, 30000), v -> array(v)))))",
    "string(locate(repeat('a', 1000000) || 'b', repeat('a', 8000000)))",
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    with play(shop(clean=CLEAN), storage=tmp_path_factory.mktemp("gate")) as running:
        running.feed("orders", [order(0)])  # what the first batch takes is no rule's fault
        yield running


def woven(run: Play, expression: str, **columns: Any) -> tuple[list[Any], list[Any]]:
    """The email that a rule makes of one order, and the dead letter that it makes of it: one of both."""
    out, dead = len(run.rows("orders")), len(dead_letters(run))
    rule = run.attach(stream="orders", steps=[{"set": {"email": expression}}])
    began = time.monotonic()
    run.feed("orders", [order(1, **{"email": "eve@example.org", "country": "DE", **columns})])
    assert time.monotonic() - began < LONGEST_S
    run.api.post(f"/rules/{rule.id}/retire").raise_for_status()
    return [row["email"] for row in run.rows("orders")[out:]], dead_letters(run)[dead:]


def dead_letters(run: Play) -> list[dict[str, Any]]:
    known = [stream["name"] for stream in run.api.get("/streams").json()]
    return run.rows("orders.dead") if "orders.dead" in known else []


def test_rules_that_are_deep_are_woven_together_as_each_was_checked_alone(run: Play) -> None:
    deep = "email"
    for _ in range(6):
        deep = f"transform(array({deep}), v -> {deep})"
    steps = [{"set": {f"made{number}": deep}} for number in range(4)]
    rules = [run.attach(stream="orders", steps=steps) for _ in range(2)]
    before = len(run.rows("orders"))
    run.feed("orders", [order(7)])
    for rule in rules:
        run.api.post(f"/rules/{rule.id}/retire").raise_for_status()
    assert len(run.rows("orders")) == before + 1


def test_a_struct_of_constants_keeps_its_names(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("a",)], "s string")
    made = select(rows, [[("one", "named_struct('id', -1L, 'name', 'x')")]]).first()
    assert made is not None
    assert made["one"].asDict() == {"id": -1, "name": "x"}


def test_conditions_inside_conditions_are_planned_in_time(spark: SparkSession) -> None:
    nested = "s"
    for _ in range(30):
        nested = f"coalesce({nested}, t)"
    rows = spark.createDataFrame([("a", "b")], "s string, t string")
    chosen = f"case when s = 'a' then {nested} else upper({nested}) end"
    made = select(rows, [[("one", chosen), ("two", f"lower({nested})")]]).first()
    assert made is not None
    assert tuple(made) == ("a", "a")


@pytest.mark.parametrize("expression", GROWING)
def test_a_value_that_would_be_too_large_is_a_dead_letter(run: Play, expression: str) -> None:
    made, [letter] = woven(run, expression)
    assert made == []
    assert letter["reason"].startswith(TOO_MUCH)
    assert json.loads(letter["record"])["email"] == "eve@example.org"


@pytest.mark.parametrize("expression", SLOW)
def test_work_that_would_take_for_ever_ends(run: Play, expression: str) -> None:
    made, letters = woven(run, expression)
    assert len(made) + len(letters) == 1
    assert all(letter["reason"].startswith(TOO_MUCH) for letter in letters)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("try_element_at(array(email), cast(total as int) - 1)", "[INVALID_INDEX_OF_ZERO]"),
        ("string(cast(email as timestamp))", "[CAST_INVALID_INPUT]"),
        ("string(to_timestamp('to' || 'day'))", "[C"),
        ("string(cast(lower('NOW') as date))", "[CAST_INVALID_INPUT]"),
        ("string(cast(trim(' now ') as timestamp_ntz))", "[CAST_INVALID_INPUT]"),
        ("string(map(email, 1, email, 2))", "[DUPLICATED_MAP_KEY]"),
    ],
)
def test_what_raises_is_a_dead_letter_and_reads_no_clock(
    run: Play, expression: str, reason: str
) -> None:
    made, [letter] = woven(run, expression, email="now", total="1")
    assert made == []
    assert letter["reason"].startswith(reason)


@pytest.mark.parametrize("word", ["now", "today", "Tomorrow", " yesterday ", "epoch"])
@pytest.mark.parametrize("kind", ["timestamp", "date", "timestamp_ntz"])
def test_words_for_times_are_refused_where_the_clock_would_answer(
    run: Play, word: str, kind: str
) -> None:
    steps = [{"set": {"email": f"string(cast('{word}' as {kind}))"}}]
    answer = run.api.post("/rules", json={"stream": "orders", "steps": steps})
    assert (answer.status_code, answer.json()["code"]) == (422, "expression.clock")


def test_a_dead_letter_holds_the_record_as_it_was_where_it_failed(run: Play) -> None:
    dead = len(dead_letters(run))
    rule = run.attach(
        stream="orders",
        steps=[
            {"set": {"email": "upper(email)"}},
            {"rename": {"country": "land"}},
            {"set": {"total": "cast(cast(land as int) as decimal(10,2))"}},
            {"rename": {"land": "country"}},
        ],
    )
    run.feed("orders", [order(7, country="de")])
    run.api.post(f"/rules/{rule.id}/retire").raise_for_status()
    [letter] = dead_letters(run)[dead:]
    record = json.loads(letter["record"])
    assert (letter["step"], record["email"], record["land"]) == (
        f"rule:{rule.id}",
        "USER7@EXAMPLE.ORG",
        "de",
    )


def test_a_record_may_spend_so_much_in_all_its_steps(run: Play) -> None:
    """Each step stays below the limit of one value, and all of them below that of a record only together."""
    large = {"email": "repeat(country, 7000000)"}
    steps = [{"set": large}, {"set": {"email": "'small'"}}]
    dead = len(dead_letters(run))
    rule = run.attach(stream="orders", steps=steps * 6)
    run.feed("orders", [order(1)])
    run.api.post(f"/rules/{rule.id}/retire").raise_for_status()
    [letter] = dead_letters(run)[dead:]
    assert letter["reason"].startswith("[RECORD_TOO_COSTLY]")


def test_a_rule_that_spends_too_much_leaves_the_others_alone(run: Play) -> None:
    costly = "string(aggregate(sequence(1, 900000), 0, (a, x) -> aggregate(sequence(1, 99), 0, (b, y) -> y)))"
    rules = [
        run.attach(stream="orders", steps=[{"set": {"email": text}}], output=f"side-{place}")
        for place, text in enumerate([costly, "string(cast(id as int) + 1)"])
    ]
    run.feed("orders", [order(1)])
    for rule in rules:
        run.api.post(f"/rules/{rule.id}/retire").raise_for_status()
    [letter] = run.rows("side-0.dead")
    assert letter["reason"].startswith("[RECORD_TOO_COSTLY]")
    assert [row["email"] for row in run.rows("side-1")] == ["2"]


def test_the_worker_is_the_same_and_the_stream_goes_on(run: Play) -> None:
    before = len(run.rows("clean-orders"))
    run.feed("orders", [order(4)])
    assert len(run.rows("clean-orders")) == before + 1
