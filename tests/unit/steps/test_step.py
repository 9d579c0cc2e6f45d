"""Steps: their written form, what they do to columns, which columns they read."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from weft.errors import WeftError
from weft.schema.change import with_change
from weft.schema.schema import Schema
from weft.steps.compile import apply_schema, compile_steps, reads
from weft.steps.function import FunctionVersion
from weft.steps.step import composed_version, from_dict, steps_from, to_dict

ORDERS = Schema.of({"id": "long", "Email": "string", "total": "decimal(10,2)"})

FORMS: list[dict[str, Any]] = [
    {"filter": "total > 0"},
    {"set": {"email": "lower(email)"}},
    {"set": [{"z": "1"}, {"a": "2"}]},
    {"drop": ["email"]},
    {"select": ["id", "total"]},
    {"select": {"id": "id + 1"}},
    {"rename": {"id": "key"}},
    {"function": "rules:mask"},
    {"function": {"ref": "rules:mask", "params": {"keep": 2}}},
]


@pytest.mark.parametrize("form", FORMS, ids=[next(iter(form)) for form in FORMS])
def test_a_step_survives_json_with_sorted_keys(form: dict[str, Any]) -> None:
    step = from_dict(form)
    written = orjson.loads(orjson.dumps(to_dict(step), option=orjson.OPT_SORT_KEYS))
    assert from_dict(written) == step
    assert step.describe()


def test_the_order_of_set_columns_survives_json_with_sorted_keys() -> None:
    step = from_dict({"set": {"z": "1", "a": "2"}})
    written = orjson.loads(orjson.dumps(to_dict(step), option=orjson.OPT_SORT_KEYS))
    assert apply_schema([from_dict(written)], ORDERS).names == (*ORDERS.names, "z", "a")


def test_one_name_does_for_a_list_of_one() -> None:
    assert from_dict({"drop": "id"}) == from_dict({"drop": ["id"]})


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ("filter", "step.invalid"),
        ({}, "step.invalid"),
        ({"filter": "a", "drop": "b"}, "step.invalid"),
        ({"flter": "a"}, "step.unknown-kind"),
        ({"filter": ["a"]}, "step.invalid"),
        ({"filter": None}, "step.invalid"),
        ({"set": "a = 1"}, "step.invalid"),
        ({"set": {}}, "step.invalid"),
        ({"drop": []}, "step.invalid"),
        ({"drop": [1]}, "step.invalid"),
        ({"rename": ["a"]}, "step.invalid"),
        ({"rename": {"a": 1}}, "step.invalid"),
        ({"function": {"params": {}}}, "step.invalid"),
        ({"function": {"ref": "a:b", "with": {}}}, "step.invalid"),
    ],
)
def test_a_wrong_step_is_refused(form: Any, code: str) -> None:
    with pytest.raises(WeftError) as caught:
        from_dict(form)
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.parametrize(
    ("form", "columns"),
    [
        ({"filter": "total > 0"}, {"id": "bigint", "Email": "string", "total": "decimal(10,2)"}),
        (
            {"set": {"email": "length(email)", "double": "total * 2"}},
            {"id": "bigint", "Email": "int", "total": "decimal(10,2)", "double": "decimal(12,2)"},
        ),
        ({"drop": ["EMAIL"]}, {"id": "bigint", "total": "decimal(10,2)"}),
        ({"select": ["total", "email"]}, {"total": "decimal(10,2)", "Email": "string"}),
        ({"select": {"key": "id", "ok": "total > 0"}}, {"key": "bigint", "ok": "boolean"}),
        (
            {"rename": {"id": "key"}},
            {"key": "bigint", "Email": "string", "total": "decimal(10,2)"},
        ),
    ],
)
def test_a_step_tells_the_columns_after_it(form: dict[str, Any], columns: dict[str, str]) -> None:
    assert apply_schema([from_dict(form)], ORDERS).to_dict() == columns


def test_all_expressions_of_a_set_see_the_record_as_it_came() -> None:
    with pytest.raises(WeftError) as caught:
        apply_schema(steps_from([{"set": {"a": "1", "b": "a + 1"}}]), ORDERS)
    assert caught.value.code == "expression.unknown-column"
    assert caught.value.ids["expression"] == "b"


def test_the_step_that_does_not_fit_is_named() -> None:
    with pytest.raises(WeftError) as caught:
        compile_steps(steps_from([{"filter": "total > 0"}, {"drop": "nothing"}]), ORDERS)
    assert caught.value.ids["step"] == 1


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"set": {"_weft": "1"}}, "step.reserved-column"),
        ({"rename": {"id": "_weft_id"}}, "step.reserved-column"),
        ({"drop": "_weft"}, "step.reserved-column"),
        ({"set": {"a b": "1"}}, "step.bad-name"),
        ({"set": {"a\nb": "1"}}, "step.bad-name"),
        ({"set": {"x": "null"}}, "step.type"),
        ({"set": {"x": "array()"}}, "step.type"),
        ({"set": {"x": "interval 1 day"}}, "step.type"),
        ({"set": {"ID": "1", "id": "2"}}, "step.duplicate-column"),
        ({"select": ["id", "ID"]}, "step.duplicate-column"),
        ({"rename": {"id": "email"}}, "schema.duplicate-column"),
        ({"function": "rules:mask"}, "step.unknown-function"),
    ],
)
def test_a_step_that_does_not_fit_is_refused(form: dict[str, Any], code: str) -> None:
    with pytest.raises(WeftError) as caught:
        apply_schema([from_dict(form)], ORDERS)
    assert caught.value.code == code


def make_function(**fields: Any) -> FunctionVersion:
    defaults: dict[str, Any] = {"ref": "rules:mask", "version": "1", "form": "row", "modules": {}}
    return FunctionVersion(**(defaults | fields))


@pytest.mark.parametrize("form", ["row", "batch"])
def test_no_function_is_called_for_rows_that_replace_one_another(form: str) -> None:
    step = [from_dict({"function": "rules:mask"})]
    with pytest.raises(WeftError) as caught:
        apply_schema(step, with_change(ORDERS), {"rules:mask": make_function(form=form)})
    assert caught.value.code == "step.changing"


def test_a_function_keeps_adds_or_replaces_columns() -> None:
    step = [from_dict({"function": "rules:mask"})]
    same = apply_schema(step, ORDERS, {"rules:mask": make_function()})
    assert same == ORDERS
    adds = make_function(adds=Schema.of({"score": "double", "email": "binary"}))
    assert apply_schema(step, ORDERS, {"rules:mask": adds}).to_dict() == {
        "id": "bigint",
        "email": "binary",
        "total": "decimal(10,2)",
        "score": "double",
    }
    returns = make_function(returns=Schema.of({"score": "double"}))
    assert apply_schema(step, ORDERS, {"rules:mask": returns}).names == ("score",)


def test_the_columns_that_steps_read_are_told_by_their_first_names() -> None:
    steps = steps_from(
        [
            {"rename": {"total": "amount"}},
            {"set": {"double": "amount * 2"}},
            {"filter": "double > 3"},
        ]
    )
    assert reads(steps, ORDERS) == {"total"}


def test_a_function_may_read_every_column() -> None:
    steps = steps_from([{"function": "rules:mask"}])
    assert reads(steps, ORDERS, {"rules:mask": make_function()}) == set(ORDERS.names)


def test_the_version_of_a_list_of_steps_follows_steps_order_and_functions() -> None:
    steps = steps_from([{"filter": "total > 0"}, {"function": "rules:mask"}])
    version = composed_version(steps, {"rules:mask": "1"})
    assert version == composed_version(steps, {"rules:mask": "1"})
    assert version != composed_version(steps, {"rules:mask": "2"})
    assert version != composed_version(steps[::-1], {"rules:mask": "1"})
