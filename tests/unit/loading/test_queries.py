"""Queries over changing streams: their columns and keys, and what is refused with what to do instead."""

from __future__ import annotations

from typing import Any

import pytest

from weft.loading.deployed import checked
from weft.loading.load import load
from weft.loading.problem import ProjectError
from weft.project.change import compare_pipeline
from weft.project.definition import Project
from weft.queries.change import compare_kept

TABLES = {
    "orders": {
        "topic": "o",
        "key": "id",
        "columns": {"id": "long", "customer": "long", "total": "double", "tags": "map<string,int>"},
    },
    "customers": {"topic": "c", "key": "code", "columns": {"code": "int", "name": "string"}},
    "visits": {"topic": "v", "key": ["id", "day"], "columns": {"id": "long", "day": "date"}},
}
EVENTS = {"source": "mock", "schema": {"id": "long", "at": "timestamp"}, "event_time": "at"}
COUNT = {"n": "count(*)"}


def project(**pipelines: Any) -> Project:
    return load(
        {
            "app_name": "shop",
            "streams": {"events": EVENTS},
            "tables": TABLES,
            "pipelines": pipelines,
        }
    )


def joined(left: str, right: str, **said: Any) -> dict[str, Any]:
    return {"from": [left, right], "join": said}


def columns_of(found: Project, stream: str) -> dict[str, str]:
    return {one.name: str(one.type) for one in found.stream(stream).schema if one.name != "_change"}


@pytest.mark.parametrize(
    ("kind", "key", "customer"),
    [
        ("inner", ("id", "customer"), "bigint"),
        ("left", ("id", "customer"), "bigint"),
        ("right", ("id", "customer"), "bigint"),
        ("full", ("id", "customer", "side"), "bigint"),
    ],
)
def test_a_join_has_the_keys_of_both_sides_under_their_left_names(
    kind: str, key: tuple[str, ...], customer: str
) -> None:
    found = project(j=joined("orders", "customers", on={"customer": "code"}, type=kind))
    assert found.stream("j").changing and found.stream("j").key == key
    extra = {"side": "string"} if kind == "full" else {}
    assert columns_of(found, "j") == {
        "id": "bigint",
        "customer": customer,
        "total": "double",
        "tags": "map<string,int>",
        "name": "string",
        **extra,
    }


def test_columns_that_must_be_equal_are_as_wide_as_what_they_take() -> None:
    narrow = {"on": {"code": "customer"}}
    found = project(
        inner=joined("customers", "orders", **narrow),
        right=joined("customers", "orders", **narrow, type="right"),
        semi=joined("customers", "orders", **narrow, type="semi"),
    )
    assert columns_of(found, "inner")["code"] == "int"
    assert columns_of(found, "right")["code"] == "bigint"
    assert found.stream("right").key == ("code", "id")
    assert columns_of(found, "semi") == {"code": "int", "name": "string"}
    assert found.stream("semi").key == ("code",)


def test_a_key_that_both_have_is_one() -> None:
    found = project(
        days=joined("orders", "visits", on="id"),
        named={
            **joined("orders", "visits", on="id"),
            "steps": [{"rename": {"day": "visited"}}, {"drop": ["tags"]}],
        },
    )
    assert found.stream("days").key == ("id", "day")
    assert found.stream("named").key == ("id", "visited")


def test_a_group_and_first_rows_see_what_steps_have_made() -> None:
    found = project(
        sizes={
            "from": "orders",
            "steps": [{"set": {"size": "cast(total as int)"}}],
            "group": {"by": ["size"], "aggregate": {"n": "count(*)", "last": "max_by(id, total)"}},
        },
        first={"from": "sizes", "top": {"by": "n", "order": ["last desc", "size"], "limit": 3}},
    )
    assert columns_of(found, "sizes") == {"size": "int", "n": "bigint", "last": "bigint"}
    assert found.stream("sizes").key == found.stream("first").key == ("size",)
    assert found.stream("sizes-input").changing and found.stream("sizes-input").key == ("id",)
    assert found.pipeline("sizes").inputs == ("sizes-input",)


def test_what_is_deployed_is_what_was_written() -> None:
    found = project(
        j={**joined("orders", "customers", on={"customer": "code"}, parallelism=2), "to": "x"},
        g={"from": "x", "group": {"by": "name", "aggregate": {"b": "sum(total)", "a": "min(id)"}}},
        t={"from": "g", "top": {"order": ["b desc", "a"], "limit": 1}, "sinks": [{"console": {}}]},
    )
    again = checked(found.to_dict())
    assert again.hash == found.hash
    assert list(columns_of(again, "g")) == ["name", "b", "a"]


GROUP = {"by": "customer", "aggregate": COUNT}
TOP = {"order": "total", "limit": 2}
WRONG = [
    (joined("orders", "customers", on={"custmer": "code"}), "schema.unknown-column", "join.on"),
    (joined("orders", "customers", on={"customer": "cod"}), "schema.unknown-column", "join.on"),
    (joined("orders", "customers", on={"customer": "name"}), "project.join", "join.on"),
    (joined("orders", "orders", on="id"), "project.duplicate-input", "from"),
    (joined("orders", "visits", on={"total": "id"}), "project.join", "join.on"),
    (
        joined("orders", "visits", on={"customer": "id"}, type="outer"),
        "project.unknown-value",
        "join.type",
    ),
    (joined("orders", "events", on="id"), "project.not-changing", "join"),
    ({**joined("orders", "visits", on="id"), "dedupe": {}}, "project.operators", "dedupe"),
    (
        {**joined("orders", "visits", on="id"), "window": {"type": "tumbling", "size_ms": 1000}},
        "project.changing",
        "join",
    ),
    ({"from": ["orders"], "join": {"on": "id"}}, "project.join", "from"),
    (
        {**joined("orders", "customers", on={"customer": "code"}), "steps": [{"drop": ["id"]}]},
        "project.changing",
        "steps",
    ),
    (
        {"from": "events", "group": {"by": "id", "aggregate": COUNT}},
        "project.not-changing",
        "group",
    ),
    (
        {"from": "orders", "group": {"by": "costumer", "aggregate": COUNT}},
        "schema.unknown-column",
        "group.by",
    ),
    ({"from": "orders", "group": {"by": "tags", "aggregate": COUNT}}, "query.type", "group.by"),
    ({"from": "orders", "group": {"by": "id"}}, "project.missing-key", "group"),
    (
        {"from": "orders", "group": {"by": "id", "aggregate": {}}},
        "project.wrong-type",
        "group.aggregate",
    ),
    (
        {"from": "orders", "group": {"by": "id", "aggregate": {"x": "last(total)"}}},
        "aggregate.changing",
        "group.aggregate.x",
    ),
    (
        {"from": "orders", "group": {"by": "id", "aggregate": {"x": "sum(tags)"}}},
        "aggregate.type",
        "group.aggregate.x",
    ),
    (
        {"from": "orders", "group": {"by": "id", "aggregate": {"x": "max(tags)"}}},
        "query.type",
        "group.aggregate.x",
    ),
    (
        {"from": "orders", "group": {"by": "id", "aggregate": {"x": "sum(totl)"}}},
        "expression.unknown-column",
        "group.aggregate.x",
    ),
    (
        {"from": "orders", "group": {"by": "id", "aggregate": {"id": "count(*)"}}},
        "schema.duplicate-column",
        "group.aggregate",
    ),
    ({"from": "orders", "group": GROUP, "top": TOP}, "project.operators", "top"),
    ({"from": ["orders", "visits"], "group": GROUP}, "project.changing", "from"),
    (
        {"from": "orders", "steps": [{"drop": ["id"]}], "group": GROUP},
        "project.changing",
        "steps",
    ),
    (
        {"from": "orders", "by": "customer", "aggregate": COUNT},
        "project.window-missing",
        "aggregate",
    ),
    ({"from": "orders", "top": {**TOP, "order": "tags"}}, "query.type", "top.order"),
    ({"from": "orders", "top": {**TOP, "order": "rand()"}}, "changing.expression", "top.order"),
    ({"from": "orders", "top": {**TOP, "limit": 0}}, "project.out-of-range", "top.limit"),
    ({"from": "orders", "top": {"order": "total"}}, "project.missing-key", "top"),
    ({"from": "orders", "top": {**TOP, "by": "nobody"}}, "schema.unknown-column", "top.by"),
]


@pytest.mark.parametrize(("pipeline", "code", "path"), WRONG)
def test_what_cannot_be_is_refused_where_it_stands(
    pipeline: dict[str, Any], code: str, path: str
) -> None:
    with pytest.raises(ProjectError) as refused:
        project(p=pipeline)
    found = refused.value.problems[0]
    assert (found.code, found.path) == (code, f"pipelines.p.{path}")
    assert found.hint


def test_records_that_do_not_replace_one_another_are_joined_in_a_window() -> None:
    with pytest.raises(ProjectError) as refused:
        project(
            copy={"from": "events", "steps": [{"rename": {"at": "seen"}}]},
            p=joined("events", "copy", on="id"),
        )
    assert [one.code for one in refused.value.problems] == ["project.window-missing"]


@pytest.mark.parametrize("said", [{"type": "semi"}, {"parallelism": 2}])
def test_a_join_with_a_window_has_nothing_of_one_without(said: dict[str, Any]) -> None:
    window = {"type": "tumbling", "size_ms": 1000}
    with pytest.raises(ProjectError) as refused:
        project(
            copy={"from": "events", "steps": [{"rename": {"at": "seen"}}]},
            p={**joined("events", "copy", on="id", **said), "window": window},
        )
    assert [one.code for one in refused.value.problems] == ["project.join"]


def test_a_full_join_says_whose_rows_are_alone_in_a_column_of_its_own() -> None:
    renamed = {"from": "customers", "steps": [{"rename": {"name": "side"}}]}
    full = joined("orders", "renamed", on={"customer": "code"}, type="full")
    with pytest.raises(ProjectError) as refused:
        project(renamed=renamed, p=full)
    assert [one.code for one in refused.value.problems] == ["project.join"]


def test_the_key_of_results_is_no_other_than_theirs() -> None:
    said = {"from": "orders", "group": GROUP}
    streams = {"p": {"key": "n"}}
    with pytest.raises(ProjectError) as refused:
        load({"app_name": "shop", "tables": TABLES, "streams": streams, "pipelines": {"p": said}})
    assert [one.code for one in refused.value.problems] == ["project.changing"]


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str]]:
    old, new = project(q=before), project(q=after)
    found = [*compare_pipeline("q", old, new), *compare_kept("q", old, new)]
    return [(one.pipeline, one.verdict) for one in found]


@pytest.mark.parametrize(
    ("before", "after", "verdicts"),
    [
        ({"group": GROUP}, {"group": GROUP}, []),
        ({"group": GROUP}, {"group": {**GROUP, "by": ["id"]}}, ["refused", "recomputed"]),
        (
            {"group": GROUP},
            {"group": {**GROUP, "aggregate": {**COUNT, "m": "max(id)"}}},
            ["recomputed"],
        ),
        ({"group": GROUP}, {"group": {**GROUP, "parallelism": 2}}, ["recomputed"]),
        ({"top": TOP}, {"top": {**TOP, "limit": 3}}, ["recomputed"]),
        ({"top": TOP}, {"steps": [{"filter": "total > 0"}]}, ["recomputed"]),
        ({"group": GROUP}, {"top": TOP}, ["refused", "recomputed"]),
    ],
)
def test_what_a_query_has_kept_is_of_its_definition(
    before: dict[str, Any], after: dict[str, Any], verdicts: list[str]
) -> None:
    found = changes({"from": "orders", **before}, {"from": "orders", **after})
    assert [verdict for _, verdict in found] == verdicts


def test_a_column_that_a_query_does_not_take_may_come_and_others_may_not() -> None:
    pipelines = {
        "g": {"from": "orders", "group": GROUP},
        "t": {"from": "orders", "top": TOP},
        "semi": joined("customers", "orders", on={"code": "customer"}, type="semi"),
    }
    wider = {**TABLES["orders"], "columns": {**TABLES["orders"]["columns"], "note": "string"}}
    said = {"app_name": "shop", "tables": {**TABLES, "orders": wider}, "pipelines": pipelines}
    old, new = project(**pipelines), load(said)
    found = {name: [one.verdict for one in compare_kept(name, old, new)] for name in pipelines}
    assert found == {"g": [], "t": ["recomputed"], "semi": []}


def test_the_rows_of_a_changing_stream_are_all_kept() -> None:
    document = {
        "app_name": "shop",
        "streams": {"cities": {"history": {"keep_days": 1}}},
        "tables": {
            "users": {"topic": "users", "key": "id", "columns": {"id": "long", "city": "string"}}
        },
        "pipelines": {"cities": {"from": "users", "steps": [{"filter": "id > 0"}]}},
    }
    with pytest.raises(ProjectError) as refused:
        load(document)
    [found] = refused.value.problems
    assert (found.code, found.path) == ("project.changing", "streams.cities.history")
