"""The way of records through a weave, as text: what is hashed, of which records, and when."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sqlglot

from tests.unit.weaving.test_weave import MOMENT, ORDERS, rule
from weft.project.provenance import LAZY, ProvenanceSpec
from weft.steps.function import FunctionVersion
from weft.steps.step import steps_from
from weft.weaving.rule import Rule
from weft.weaving.weave import Layers, Weave, compile_weave

FULL = ProvenanceSpec("full")
SAMPLED = ProvenanceSpec("sampled", 0.01)
MASK = FunctionVersion(
    ref="rules:mask",
    version="ab" * 32,
    form="row",
    modules={"rules": "def mask(record): return record\n"},
)


def weave(
    steps: list[Any], *rules: Rule, spec: ProvenanceSpec = FULL, key: tuple[str, ...] = ("id",)
) -> Weave:
    return compile_weave(
        ORDERS,
        stream="orders",
        key=key,
        steps=steps_from(steps),
        rules=rules,
        functions={"rules:mask": MASK},
        moment=MOMENT,
        provenance=spec,
    )


def columns(woven: Weave) -> list[tuple[str, str]]:
    """The columns of all layers, in order."""
    stages = [stage for stage in woven.stages if isinstance(stage, Layers)]
    return [column for stage in stages for layer in stage.layers for column in layer]


def hashed(woven: Weave) -> list[list[str]]:
    """The columns of each hash that is computed."""
    made = [sql for name, sql in columns(woven) if name.startswith("_weft_hash_")]
    calls = [found[1] for sql in made if (found := re.search(r"weft_hash\((.*?)\)", sql))]
    return [[name.strip(" `") for name in call.split(",")] for call in calls]


def test_nothing_is_hashed_where_nothing_is_written() -> None:
    woven = weave([{"set": {"email": "lower(email)"}}], spec=LAZY)
    assert "weft_hash" not in str(columns(woven)) and woven.transformations == ()
    assert [target.stream for target in woven.targets] == ["orders.dead", "orders"]


def test_it_goes_to_a_stream_of_its_own_before_the_stream_itself() -> None:
    woven = weave([{"filter": "total > 0"}])
    assert [target.stream for target in woven.targets] == [
        "orders.dead",
        "orders.provenance",
        "orders",
    ]
    for _, sql in columns(woven):
        assert sqlglot.parse_one(sql, read="spark")


def test_values_that_a_step_replaces_go_along_until_they_are_hashed() -> None:
    woven = weave([{"set": {"email": "lower(email)"}}, {"drop": "total"}])
    assert hashed(woven) == [
        ["_weft.id", "id", "_weft_was_0", "_weft_was_1"],
        ["_weft.id", "id", "email", "_weft_was_1"],
        ["_weft.id", "id", "email"],
    ]


def test_steps_that_change_no_value_are_hashed_once() -> None:
    woven = weave([{"filter": "total > 0"}, {"rename": {"email": "mail"}}, {"filter": "id > 1"}])
    assert hashed(woven) == [["_weft.id", "id", "mail", "total"]]
    assert [one.by for one in woven.transformations] == ["step:0", "step:1", "step:2"]


def test_versions_are_those_of_each_step() -> None:
    lower, drop = {"set": {"email": "lower(email)"}}, {"drop": "total"}
    both = [one.version for one in weave([lower, drop]).transformations]
    [alone] = weave([drop]).transformations
    assert len(set(both)) == 2 and both[1] == alone.version
    [called] = weave([{"function": "rules:mask"}]).transformations
    assert called.version not in both


def test_each_step_of_a_rule_is_one_and_has_a_verdict_of_its_own() -> None:
    woven = weave([], rule({"filter": "id > 1"}, {"filter": "id > 2"}))
    assert [one.by for one in woven.transformations] == ["rule:r", "rule:r"]
    filtered = [verdict for verdict in woven.verdicts if verdict.kind == "filtered"]
    assert [verdict.place for verdict in filtered] == [0, 1]
    counts = {"null": 1, **{str(n): 2 for n in range(len(woven.verdicts))}}
    assert woven.ledger_counts(counts)[1] == {"rule:r": 4}


def test_what_is_done_to_a_copy_is_no_part_of_the_way() -> None:
    aside = rule({"set": {"email": "'x'"}}, {"filter": "id > 1"}, output="side")
    woven = weave([], aside, rule({"filter": "true"}, id="q", stream="side"))
    assert woven.transformations == ()
    assert len(hashed(woven)) == 1


def test_a_sample_is_by_the_key_as_it_comes_in_or_by_the_record() -> None:
    first = next(sql for name, sql in columns(weave([], spec=SAMPLED)) if name == "_weft_chosen")
    assert first == "pmod(xxhash64('provenance', `id`), 10000) < 100"
    made = columns(weave([{"set": {"n": "id"}}], spec=SAMPLED, key=("n",)))
    unkeyed = next(sql for name, sql in made if name == "_weft_chosen")
    assert "xxhash64('provenance', _weft.id)" in unkeyed


def test_the_hash_of_the_row_written_is_the_last_that_the_record_has() -> None:
    share = rule({"set": {"email": "'x'"}}, percent=10)
    last = dict(columns(weave([{"set": {"email": "lower(email)"}}], share)))["hash"]
    inside, outside = re.findall(r"_weft_hash_\d", last)
    assert int(inside[-1]) > int(outside[-1])
    side = rule({"function": "rules:mask"}, output="side")
    assert dict(columns(weave([], side)))["hash"] == "CAST(NULL AS BINARY)"


@pytest.mark.parametrize(("spec", "is_asked"), [(FULL, False), (SAMPLED, True)])
def test_what_was_before_a_python_function_is_hashed_before_it(
    spec: ProvenanceSpec, is_asked: bool
) -> None:
    woven = weave([{"set": {"email": "'x'"}}, {"function": "rules:mask"}], spec=spec)
    first = woven.stages[0]
    assert isinstance(first, Layers)
    early = [sql for name, sql in first.layers[-1] if name.startswith("_weft_hash_")]
    assert len(early) == 2 and all("weft_hash" in sql for sql in early)
    assert all(("_weft_chosen" in sql) == is_asked for sql in early)
    names = [name for name, _ in columns(woven)]
    assert len(hashed(woven)) == 3 and "_weft_told" in names
