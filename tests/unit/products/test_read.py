"""What a project file says of a product becomes its tree, and everything malformed is refused with its path."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from weft.declared.key import keys
from weft.declared.read import schema_of
from weft.loading.document import from_text
from weft.products.form import MAX_DEPTH, PartKeys, ProductKeys
from weft.products.read import read_product
from weft.products.tree import Part, Product, ProductError

PROFILE = """
root: users
fields: [email, username]
filter: not deleted
parts:
  starred_repos:
    many: stars
    on: {username: username}
    fields: {repo: repo_name}
    order: [starred_at desc, upper(repo_name) ASC, id]
    limit: 100
    required: true
    parts:
      repo: {one: repos, on: {owner: repo_owner, name: repo_name}, inline: true, fields: [description]}
  totals: {many: stars, on: [username], aggregate: {stars: count(*), last: max(starred_at)}, inline: true}
"""
LINES = {"many": "lines", "on": "id"}


def test_a_product_is_read() -> None:
    repo = Part(
        "repos",
        "repo",
        on=(("owner", "repo_owner"), ("name", "repo_name")),
        fields=(("description", "description"),),
        inline=True,
    )
    starred = Part(
        "stars",
        "starred_repos",
        many=True,
        on=(("username", "username"),),
        fields=(("repo", "repo_name"),),
        order=(("starred_at", True), ("upper(repo_name)", False), ("id", False)),
        limit=100,
        required=True,
        parts=(repo,),
    )
    totals = Part(
        "stars",
        "totals",
        many=True,
        on=(("username", "username"),),
        aggregate=(("stars", "count(*)"), ("last", "max(starred_at)")),
        inline=True,
    )
    fields = (("email", "email"), ("username", "username"))
    root = Part("users", fields=fields, filter="not deleted", parts=(starred, totals))
    assert read_product("user-profile", from_text(PROFILE).value) == Product("user-profile", root)


def test_what_is_left_out_has_its_default() -> None:
    assert read_product("p", {"root": "orders"}) == Product("p", Part("orders"))
    form = {"root": "orders", "parts": {"lines": LINES}}
    lines = Part("lines", "lines", many=True, on=(("id", "id"),))
    assert read_product("p", form) == Product("p", Part("orders", parts=(lines,)))


def part(**said: Any) -> dict[str, Any]:
    return {"root": "orders", "parts": {"lines": {**LINES, **said}}}


LINE = ("parts", "lines")


@pytest.mark.parametrize(
    ("form", "code", "path"),
    [
        ([], "wrong-type", ()),
        ({}, "missing-key", ("root",)),
        ({"root": ""}, "wrong-type", ("root",)),
        ({"root": "a", "file": 1}, "unknown-key", ("file",)),
        ({"root": "a", "fields": "email"}, "wrong-type", ("fields",)),
        ({"root": "a", "fields": ["a", 1]}, "wrong-type", ("fields", 1)),
        ({"root": "a", "fields": ["a", "a"]}, "unknown-value", ("fields", 1)),
        ({"root": "a", "fields": {"a": "1 +"}}, "unknown-value", ("fields", "a")),
        ({"root": "a", "fields": {"a": "select 1"}}, "unknown-value", ("fields", "a")),
        ({"root": "a", "fields": {"a b": "a"}}, "unknown-value", ("fields", "a b")),
        ({"root": "a", "fields": {"_weft": "a"}}, "unknown-value", ("fields", "_weft")),
        ({"root": "a", "fields": {1: "a"}}, "wrong-type", ("fields",)),
        ({"root": "a", "filter": True}, "wrong-type", ("filter",)),
        ({"root": "a", "filter": "a >"}, "unknown-value", ("filter",)),
        ({"root": "a", "order": ["a"]}, "unknown-key", ("order",)),
        ({"root": "a", "parts": []}, "wrong-type", ("parts",)),
        ({"root": "a", "parts": {"b": None}}, "wrong-type", ("parts", "b")),
        ({"root": "a", "parts": {True: LINES}}, "wrong-type", ("parts",)),
        ({"root": "a", "parts": {"b": {"on": "id"}}}, "missing-key", ("parts", "b", "one")),
        ({"root": "a", "parts": {"b": {"one": "c"}}}, "missing-key", ("parts", "b", "on")),
        (part(one="c"), "missing-key", (*LINE, "one")),
        (part(on={}), "unknown-value", (*LINE, "on")),
        (part(on=[]), "unknown-value", (*LINE, "on")),
        (part(on=["a", 2]), "wrong-type", (*LINE, "on", 1)),
        (part(on={"a": None}), "wrong-type", (*LINE, "on", "a")),
        (part(on={1: "a"}), "wrong-type", (*LINE, "on")),
        (part(on=3), "wrong-type", (*LINE, "on")),
        (part(order=[1]), "wrong-type", (*LINE, "order", 0)),
        (part(order={"a": "desc"}), "wrong-type", (*LINE, "order")),
        (part(order=["a desc nulls last"]), "unknown-value", (*LINE, "order", 0)),
        (part(order="a,"), "unknown-value", (*LINE, "order")),
        (part(limit=0), "out-of-range", (*LINE, "limit")),
        (part(limit=True), "wrong-type", (*LINE, "limit")),
        (part(required="yes"), "wrong-type", (*LINE, "required")),
        (part(inline=True), "unknown-value", (*LINE, "inline")),
        (part(fields=[]), "unknown-value", (*LINE, "fields")),
        (part(aggregate={}), "wrong-type", (*LINE, "aggregate")),
        (part(aggregate={"n": "count(*) + 1"}), "unknown-value", (*LINE, "aggregate", "n")),
        (part(aggregate={"n": "price"}), "unknown-value", (*LINE, "aggregate", "n")),
        (part(aggregate={"n": "collect_list(a)"}), "unknown-value", (*LINE, "aggregate", "n")),
        (part(aggregate={"n": "sum(distinct a)"}), "unknown-value", (*LINE, "aggregate", "n")),
        (part(aggregate={"n": "count(*)"}, limit=2), "unknown-value", (*LINE, "limit")),
        (part(aggregate={"n": "count(*)"}, fields=["a"]), "unknown-value", (*LINE, "fields")),
        (part(parts={"x": {"one": "y", "onn": "id"}}), "unknown-key", (*LINE, "parts", "x", "onn")),
    ],
)
def test_what_is_malformed_is_refused_with_its_path(form: Any, code: str, path: Any) -> None:
    with pytest.raises(ProductError) as raised:
        read_product("p", form)
    assert (raised.value.code, raised.value.ids["path"]) == (f"product.{code}", path)


def one(**said: Any) -> dict[str, Any]:
    return {"one": "customers", "on": "id", **said}


@pytest.mark.parametrize(
    ("fields", "parts", "clashing"),
    [
        (["a"], {"A": LINES}, "A"),
        ({"a": "b"}, {"x": one(inline=True, fields=["c", "a"])}, "x"),
        ([], {"x": one(fields=["a"], inline=True), "y": one(fields=["A"], inline=True)}, "y"),
        (["n"], {"x": {**LINES, "inline": True, "aggregate": {"n": "count(*)"}}}, "x"),
        (["a"], {"x": one(inline=True, fields=[], parts={"a": LINES})}, "x"),
    ],
)
def test_one_name_stands_once_in_a_document(fields: Any, parts: Any, clashing: str) -> None:
    with pytest.raises(ProductError) as raised:
        read_product("p", {"root": "orders", "fields": fields, "parts": parts})
    assert raised.value.ids["path"] == ("parts", clashing)


def test_the_nearest_word_is_told_for_an_unknown_key() -> None:
    with pytest.raises(ProductError) as raised:
        read_product("p", part(ordr="a"))
    assert "'order'" in str(raised.value.hint)


def nested(depth: int) -> dict[str, Any]:
    return {"x": {**LINES, "parts": nested(depth - 1)}} if depth > 1 else {"x": LINES}


def test_parts_are_as_deep_as_the_limit_and_no_deeper() -> None:
    read = read_product("p", {"root": "a", "parts": nested(MAX_DEPTH)})
    assert read.depth == MAX_DEPTH + 1
    with pytest.raises(ProductError) as raised:
        read_product("p", {"root": "a", "parts": nested(MAX_DEPTH + 1)})
    assert raised.value.code == "product.out-of-range"
    within: dict[str, Any] = {"x": dict(LINES)}
    within["x"]["parts"] = within
    with pytest.raises(ProductError):
        read_product("p", {"root": "a", "parts": within})


@pytest.mark.parametrize("name", [name for name, key in keys(PartKeys).items() if key.example])
def test_every_example_of_a_part_is_read(name: str) -> None:
    key = keys(PartKeys)[name]
    read_product("p", {"root": "a", "parts": {"x": {**key.beside, name: key.example}}})


@pytest.mark.parametrize("name", list(keys(ProductKeys)))
def test_every_example_of_a_product_is_read(name: str) -> None:
    root = {} if name == "sql" else {"root": "a"}
    read_product("p", {**root, name: keys(ProductKeys)[name].example})


def test_the_schema_for_editors_knows_all_keys() -> None:
    assert set(schema_of(PartKeys)["properties"]) == set(keys(PartKeys))
    assert set(schema_of(ProductKeys)["properties"]) == set(keys(ProductKeys))


_KEYS = some.sampled_from([*keys(PartKeys), "root", "x", ""])
_PLAIN = some.none() | some.booleans() | some.integers() | some.text(max_size=8)
_ANY = some.recursive(
    _PLAIN | some.sampled_from(["count(*)", "id", "a desc"]),
    lambda below: (
        some.lists(below, max_size=3) | some.dictionaries(_KEYS | _PLAIN, below, max_size=4)
    ),
    max_leaves=12,
)


@given(_ANY, _ANY)
def test_no_form_raises_anything_else(form: Any, below: Any) -> None:
    for written in (form, {"root": "a", "parts": {"x": {**LINES, "parts": form, "fields": below}}}):
        with suppress(ProductError):
            read_product("p", written)
