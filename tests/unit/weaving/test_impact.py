"""What a rule in place would break: the columns of a stream that pipelines behind it depend on."""

from __future__ import annotations

from typing import Any

import pytest

from weft.loading.load import load
from weft.steps.compile import apply_schema
from weft.steps.step import steps_from
from weft.weaving.impact import WouldBreakError, check_in_place, needed_columns

ALERTS = {
    "source": {"mock": {}},
    "schema": {
        "id": "long",
        "owner": "string",
        "place": "struct<city:string>",
        "seen": "timestamp",
    },
    "event_time": "seen",
}
LEVELS = {
    "source": {"mock": {}},
    "schema": {"who": "string", "level": "int", "said": "timestamp"},
    "event_time": "said",
}
TUMBLING = {"type": "tumbling", "size_ms": 1000}
JOIN = {"from": ["alerts", "levels"], "join": {"on": {"owner": "who"}}, "window": TUMBLING}


def make_project(**pipelines: dict[str, Any]) -> Any:
    streams = {"alerts": ALERTS, "levels": LEVELS}
    return load({"app_name": "watch", "streams": streams, "pipelines": pipelines})


@pytest.mark.parametrize("on", ["owner", ["owner"], {"owner": "owner"}, {"OWNER": "Owner"}])
def test_a_join_needs_its_columns_however_they_are_written(on: Any) -> None:
    levels = {**LEVELS, "schema": {"owner": "string", "level": "int", "said": "timestamp"}}
    project = load(
        {
            "app_name": "watch",
            "streams": {"alerts": ALERTS, "levels": levels},
            "pipelines": {"met": {**JOIN, "join": {"on": on}}},
        }
    )
    assert project.pipeline("met").join == {"type": "inner", "on": [["owner", "owner"]]}
    assert needed_columns(project, "alerts") == {"owner": "met"}
    assert needed_columns(project, "levels") == {"owner": "met"}


def test_each_side_of_a_join_needs_its_own_columns() -> None:
    project = make_project(met=JOIN)
    assert needed_columns(project, "alerts") == {"owner": "met"}
    assert needed_columns(project, "levels") == {"who": "met"}


def test_steps_behind_a_join_need_the_columns_of_the_side_they_come_from() -> None:
    steps = [{"filter": "level > 2 and owner <> ''"}, {"set": {"text": "concat(place.city, id)"}}]
    project = make_project(met={**JOIN, "steps": steps})
    assert needed_columns(project, "alerts") == dict.fromkeys(("owner", "place", "id"), "met")
    assert needed_columns(project, "levels") == dict.fromkeys(("who", "level"), "met")


def test_what_reads_the_output_of_a_join_needs_the_columns_of_its_inputs() -> None:
    project = make_project(met=JOIN, worst={"from": "met", "steps": [{"filter": "level > id"}]})
    assert needed_columns(project, "levels") == {"who": "met", "level": "worst"}
    assert needed_columns(project, "alerts") == {"owner": "met", "id": "worst"}


def test_a_key_of_a_join_that_is_read_behind_it_is_needed_on_both_sides() -> None:
    project = make_project(
        met=JOIN, named={"from": "met", "steps": [{"filter": "owner is not null"}]}
    )
    assert set(needed_columns(project, "levels")) == {"who"}
    assert set(needed_columns(project, "alerts")) == {"owner"}


def test_an_aggregate_needs_the_whole_column_that_it_looks_into_whatever_the_case() -> None:
    project = make_project(
        count={
            "from": "alerts",
            "window": TUMBLING,
            "by": ["OWNER"],
            "aggregate": {"cities": "approx_count_distinct(Place.city)", "all": "count(*)"},
        }
    )
    assert needed_columns(project, "alerts") == {"owner": "count", "place": "count"}


def test_dedupe_needs_the_columns_of_its_input_not_those_that_its_steps_make() -> None:
    project = make_project(
        once={
            "from": "alerts",
            "dedupe": {"by": ["ID"]},
            "steps": [{"select": {"id": "owner"}}],
        }
    )
    assert needed_columns(project, "alerts") == {"owner": "once", "id": "once"}


def test_a_column_that_a_sink_names_is_needed() -> None:
    project = make_project(
        out={
            "from": "alerts",
            "steps": [{"rename": {"owner": "person"}}],
            "sinks": [{"kafka": {"topic": "t", "key": ["PERSON"]}}],
        }
    )
    assert needed_columns(project, "out") == {"person": "out"}
    assert needed_columns(project, "alerts") == {"owner": "out"}


def test_a_side_stream_that_the_project_does_not_know_needs_nothing() -> None:
    assert needed_columns(make_project(), "elsewhere") == {}


def test_a_rule_that_drops_a_column_of_a_join_is_refused_and_others_are_not() -> None:
    project = make_project(met=JOIN)
    before = project.schema_of("alerts")
    check_in_place(project, "alerts", before, apply_schema(steps_from([{"drop": "id"}]), before))
    after = apply_schema(steps_from([{"drop": "owner"}]), before)
    with pytest.raises(WouldBreakError) as caught:
        check_in_place(project, "alerts", before, after)
    assert caught.value.ids["pipeline"] == "met"


TABLES = {
    "orders": {
        "topic": "o",
        "key": "id",
        "columns": {"id": "long", "customer": "long", "total": "int", "note": "string"},
    },
    "customers": {"topic": "c", "key": "code", "columns": {"code": "long", "name": "string"}},
}


def make_queries(**pipelines: dict[str, Any]) -> Any:
    return load({"app_name": "shop", "tables": TABLES, "pipelines": pipelines})


def test_a_query_needs_what_decides_its_results_and_what_others_take_of_them() -> None:
    joined = {"from": ["orders", "customers"], "join": {"on": {"CUSTOMER": "Code"}}}
    project = make_queries(
        met=joined,
        known={"from": "met", "group": {"by": "Name", "aggregate": {"n": "sum(total)"}}},
    )
    assert needed_columns(project, "orders") == {"id": "met", "customer": "met", "total": "known"}
    assert needed_columns(project, "customers") == {"code": "met", "name": "known"}
    first = make_queries(first={"from": "orders", "top": {"order": "total", "limit": 1}})
    assert needed_columns(first, "orders") == {"id": "first", "total": "first"}


def test_a_join_that_shows_one_side_needs_of_the_other_what_is_compared() -> None:
    known = {"from": ["orders", "customers"], "join": {"on": {"customer": "code"}, "type": "semi"}}
    named = {"from": "known", "steps": [{"set": {"name": "upper(note)"}}]}
    project = make_queries(known=known, named=named)
    assert needed_columns(project, "customers") == {"code": "known"}
    assert needed_columns(project, "orders") == {
        "id": "known",
        "customer": "known",
        "note": "named",
    }
