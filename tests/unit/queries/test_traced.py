"""Results and rows found by one another, said without Spark."""

from __future__ import annotations

from typing import Any

import pytest

from weft.loading.load import load
from weft.queries.traced import Lookup, Traced, traced

TABLES = {
    "orders": {"topic": "o", "key": "id", "columns": {"id": "long", "Customer": "long"}},
    "people": {"topic": "p", "key": ["code", "land"], "columns": {"code": "int", "land": "string"}},
}


def _traced(**pipeline: Any) -> Traced:
    loaded = load({"app_name": "traced", "tables": TABLES, "pipelines": {"made": pipeline}})
    return traced(loaded.pipeline("made"), loaded)


def _join(kind: str) -> Traced:
    said = {"on": {"customer": "CODE"}, "type": kind}
    return _traced(**{"from": ["orders", "people"], "join": said})


def test_names_are_those_of_the_columns_however_they_are_written() -> None:
    found = _traced(
        **{"from": "orders", "group": {"by": ["CUSTOMER"], "aggregate": {"n": "count(*)"}}}
    )
    assert found.lookups == (Lookup("orders", (("Customer", "Customer"),)),)
    assert found.taken == {"Customer": {"orders": "Customer"}}


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full"])
def test_a_partner_is_found_by_its_key_and_by_what_is_equal(kind: str) -> None:
    left, right = _join(kind).lookups
    assert left.by == (("id", "id"),)
    assert right.by == (("code", "Customer"), ("land", "land")) and right.given == ("Customer",)
    both = {"orders": "Customer", "people": "code"}
    assert _join(kind).taken["Customer"] == (
        both if kind in ("right", "full") else {"orders": "Customer"}
    )
    sides = (left.unless, right.unless)
    assert sides == ((("side", "right"), ("side", "left")) if kind == "full" else (None, None))


@pytest.mark.parametrize("kind", ["semi", "anti"])
def test_all_partners_are_found_of_a_row_that_is_only_kept_or_not(kind: str) -> None:
    found = _join(kind)
    assert found.lookups[1] == Lookup("people", (("code", "Customer"),), ("Customer",))
    assert found.taken == {name: {"orders": name} for name in ("id", "Customer")}


def test_a_document_is_found_by_the_key_of_its_root_whose_plain_fields_are_taken() -> None:
    fields = {"who": "customer", "twice": "customer * 2"}
    product = {
        "root": "orders",
        "fields": fields,
        "parts": {"p": {"one": "people", "on": {"code": "customer"}}},
    }
    loaded = load({"app_name": "traced", "tables": TABLES, "products": {"made": product}})
    found = traced(loaded.pipeline("made"), loaded)
    assert found.lookups == (Lookup("orders", (("id", "id"),)),)
    assert found.taken == {"id": {"orders": "id"}, "who": {"orders": "Customer"}}
    assert found.keys == {"orders": ("id",), "people": ("code", "land")}
