"""A weave is text: what steps and rules compile to, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import sqlglot

from weft.schema.schema import Schema
from weft.steps.step import steps_from
from weft.weaving.rule import Rule
from weft.weaving.weave import Layers, Moment, Weave, compile_weave

ORDERS = Schema.of({"id": "long", "email": "string", "total": "decimal(10,2)"})
MOMENT = Moment(datetime(2026, 1, 1, tzinfo=UTC), 7)


def weave(steps: list[Any] | None = None, *rules: Rule, schema: Schema = ORDERS) -> Weave:
    return compile_weave(
        schema,
        stream="orders",
        key=("id",),
        steps=steps_from(steps or []),
        rules=rules,
        functions={},
        moment=MOMENT,
    )


def rule(*steps: Any, **fields: Any) -> Rule:
    return Rule(**{"id": "r", "stream": "orders", "steps": steps_from(list(steps)), **fields})


def text(woven: Weave) -> str:
    return "\n".join(sql for layer in layers(woven) for _, sql in layer)


def layers(woven: Weave) -> Sequence[Sequence[tuple[str, str]]]:
    [stage] = woven.stages
    assert isinstance(stage, Layers)
    return stage.layers


def assert_parses(woven: Weave) -> None:
    for layer in layers(woven):
        for _, sql in layer:
            assert sqlglot.parse_one(sql, read="spark")


def test_its_columns_parse_one_by_one() -> None:
    woven = weave(
        [{"filter": "total > 0"}, {"set": {"email": "lower(email)"}}], rule({"drop": "email"})
    )
    assert_parses(woven)
    assert [target.stream for target in woven.targets] == ["orders.dead", "orders"]


def test_verdicts_say_which_step_or_rule_dropped_a_row() -> None:
    woven = weave([{"filter": "total > 0"}], rule({"filter": "id > 1"}))
    counts = {"null": 5, **{str(code): code for code in range(len(woven.verdicts))}}
    out, filtered, dead = woven.ledger_counts(counts)
    assert out == 5 and set(filtered) == {"step:0", "rule:r"}
    assert dead == 0


def test_only_expressions_that_can_fail_are_wrapped() -> None:
    assert "weft_try" not in text(weave([{"filter": "total > 0"}]))
    assert "weft_try" in text(weave([{"set": {"share": "1 / total"}}]))


def test_many_copies_of_a_value_are_counted() -> None:
    few = weave([{"set": {f"copy_{n}": "email" for n in range(20)}}])
    many = weave([{"set": {f"copy_{n}": "email" for n in range(200)}}])
    assert "weft_kept" not in text(few)
    assert 100 < text(many).count("weft_kept") < 200


def test_a_long_list_of_conditions_is_tried_beyond_a_limit() -> None:
    conditions = [{"filter": " or ".join(f"id = {n}" for n in range(250))} for _ in range(8)]
    assert "weft_try" not in text(weave(conditions[:1]))
    assert "weft_try" in text(weave(conditions))


def test_what_functions_spend_is_carried_from_step_to_step() -> None:
    woven = weave([{"set": {"email": "email || email"}}, {"set": {"email": "email || 'x'"}}])
    assert text(woven).count("weft_try(_weft_spent, ") == 2


def test_a_side_stream_leaves_the_main_row_alone() -> None:
    woven = weave(
        [],
        rule({"set": {"email": "'x'"}}, output="side"),
        rule({"filter": "true"}, id="q", stream="side"),
    )
    assert [target.stream for target in woven.targets] == [
        "side",
        "side.dead",
        "orders.dead",
        "orders",
    ]
    assert "rule:q" in [verdict.by for verdict in woven.verdicts]


def test_a_share_of_the_keys_is_decided_by_rule_and_key() -> None:
    assert "xxhash64('r', `id`)" in text(weave([], rule({"filter": "true"}, percent=10)))


def test_the_clock_is_that_of_the_knot() -> None:
    woven = weave([{"set": {"at": "current_timestamp()"}}])
    assert woven.pinned and "current_timestamp" not in text(woven).lower()
    assert not weave([{"filter": "total > 0"}]).pinned


def test_names_that_look_like_sql_stay_names() -> None:
    odd = Schema.of({"a b": "string", "it`s": "string", "select": "long"})
    woven = weave([{"filter": "`select` > 1"}, {"rename": {"a b": "from"}}], schema=odd)
    assert_parses(woven)
