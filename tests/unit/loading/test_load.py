"""Projects that are right: the whole form, the short form, and what is known of their streams."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import orjson
import pytest

from weft.loading.expand import expand
from weft.loading.init import write
from weft.loading.load import load
from weft.loading.problem import ProjectError
from weft.loading.render import render
from weft.project.definition import MissingNameError, Project, SinkSpec, SourceSpec
from weft.project.graph import Graph
from weft.project.name import MAX_NAME, NAME
from weft.project.settings import HistorySpec, Keyframes, Processing, WatermarkSpec
from weft.project.timing import EVENT_TIME
from weft.steps.step import Filter, Function, Set
from weft.weaver.catalog import declared

SHOP = """
    app_name: shop
    debug: false
    processing: {parallelism: 2, queue_size: 10000, checkpoint_interval: 1.0}   # a comment
    watermarks: {delay_seconds: 2.0, idle_seconds: 30, max_ahead_seconds: 3600}
    windowing:
      windows:
        - {type: tumbling, size_ms: 60000, allowed_lateness_ms: 5000}
    streams:
      orders:
        source: {kafka: {servers: "localhost:9092", topic: orders}}
        schema: {id: long, email: string, country: string, total: "decimal(10,2)", at: timestamp}
        key: id
        event_time: at
    pipelines:
      clean:
        from: orders
        steps:
          - filter: total > 0
          - set: {email: lower(email)}
          - function: shop.rules:mask_email
        to: clean-orders
      revenue:
        from: clean-orders
        window: {type: sliding, size_ms: 300000, slide_ms: 30000, allowed_lateness_ms: 10000}
        by: [country]
        aggregate: {orders: count(*), revenue: sum(total)}
        to: revenue
        sinks: [{console: {}}, {kafka: {topic: revenue}}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "weft.yaml").write_text(dedent(SHOP))
    (tmp_path / "shop").mkdir()
    rules = "def mask_email(record: dict) -> dict | None:\n    return record\n"
    (tmp_path / "shop" / "rules.py").write_text(rules)
    return tmp_path


def test_the_whole_form_is_read_as_it_stands(folder: Path) -> None:
    project = load(folder)
    assert project.name == "shop"
    assert project.processing == Processing(2, 10_000, 1.0, "rocksdb", Keyframes())
    assert list(project.streams) == ["orders", "clean-orders", "orders-tumbling-60000", "revenue"]
    orders = project.stream("orders")
    assert orders.source == SourceSpec("kafka", {"servers": "localhost:9092", "topic": "orders"})
    assert (orders.key, orders.event_time, orders.writer) == (("id",), "at", None)
    assert orders.watermarks == WatermarkSpec(2.0, 30, 3600, "hold")
    assert [type(step) for step in project.pipeline("clean").steps] == [Filter, Set, Function]
    assert project.functions["shop.rules:mask_email"].form == "row"
    revenue = project.pipeline("revenue")
    assert revenue.sinks == (SinkSpec("console", {}), SinkSpec("kafka", {"topic": "revenue"}))


def test_columns_key_and_time_are_carried_through_the_pipelines(folder: Path) -> None:
    project = load(folder)
    clean = project.stream("clean-orders")
    assert (clean.writer, clean.key, clean.event_time) == ("clean", ("id",), "at")
    assert clean.schema == project.stream("orders").schema
    revenue = project.stream("revenue")
    assert revenue.schema.names == ("window", "country", "orders", "revenue")
    assert str(revenue.schema.get("revenue").type) == "decimal(20,2)"
    assert (revenue.key, revenue.event_time) == (("country",), EVENT_TIME)


def test_a_project_survives_json_with_sorted_keys(folder: Path) -> None:
    project = load(folder)
    form = orjson.loads(orjson.dumps(project.to_dict(), option=orjson.OPT_SORT_KEYS))
    again = Project.from_dict(form)
    assert again == project
    assert again.hash == project.hash


def test_the_hash_follows_what_is_said_and_not_how(folder: Path) -> None:
    before = load(folder)
    (folder / "weft.yaml").write_text(dedent(SHOP).replace("# a comment", "# another"))
    assert load(folder).hash == before.hash
    (folder / "weft.yaml").write_text(dedent(SHOP).replace("total > 0", "total > 1"))
    assert load(folder).hash != before.hash


def test_a_pipelines_version_follows_its_steps_and_functions_only(folder: Path) -> None:
    before = load(folder)
    (folder / "shop" / "rules.py").write_text("def mask_email(record):\n    return None\n")
    after = load(folder)
    assert after.version_of("clean") != before.version_of("clean")
    assert after.version_of("revenue") == before.version_of("revenue")


def test_the_short_form_reads_the_mock_source() -> None:
    project = load(
        {
            "app_name": "shop",
            "debug": True,
            "processing": {"parallelism": 1},
            "watermarks": {"delay_seconds": 1},
            "windowing": {
                "windows": [
                    {"type": "tumbling", "size_ms": 60000},
                    {"type": "sliding", "size_ms": 60000, "slide_ms": 10000},
                    {"type": "session", "gap_ms": 5000},
                ]
            },
        }
    )
    assert list(project.pipelines) == [
        "events-tumbling-60000",
        "events-sliding-60000-10000",
        "events-session-5000",
    ]
    events = project.stream("events")
    assert events.source == SourceSpec("mock")
    tumbling = project.pipeline("events-tumbling-60000")
    assert (tumbling.by, dict(tumbling.aggregate)) == (events.key, {"count": "count(*)"})
    assert project.stream("events-session-5000").schema.names == ("window", *events.key, "count")


def make(**parts: Any) -> Project:
    """A project of one stream, with these parts besides."""
    orders = {
        "source": "feed",
        "schema": {"id": "long", "email": "string", "at": "timestamp"},
        "key": "id",
        "event_time": "at",
    }
    streams = {"orders": orders, **parts.pop("streams", {})}
    return load({"app_name": "shop", "streams": streams, **parts})


def test_a_renamed_key_and_a_dropped_time_are_followed() -> None:
    steps = [{"rename": {"ID": "key"}}, {"drop": "at"}]
    project = make(pipelines={"p": {"from": "orders", "steps": steps, "to": "x"}})
    stream = project.stream("x")
    assert (stream.key, stream.event_time) == (("key",), EVENT_TIME)


@pytest.mark.parametrize(
    ("steps", "event_time", "clock"),
    [
        ([{"filter": "id > 0"}], "at", "inputs"),
        ([{"set": {"at": "at + interval 1 day"}}], "at", "own"),
        ([{"set": {"AT": "`at`"}}], "at", "inputs"),
        ([{"rename": {"at": "then"}}, {"set": {"then": "now()"}}], "then", "own"),
        ([{"select": {"id": "id", "at": "at - interval 1 day"}}], "at", "own"),
        ([{"select": {"id": "id", "at": "at"}}], "at", "inputs"),
        ([{"select": ["id"]}, {"set": {"at": "now()"}}], EVENT_TIME, "inputs"),
        ([{"set": {"at": "now()"}}, {"drop": "at"}], EVENT_TIME, "inputs"),
    ],
)
def test_event_time_follows_its_column(steps: list[Any], event_time: str, clock: str) -> None:
    project = make(pipelines={"p": {"from": "orders", "steps": steps, "to": "x"}})
    assert (project.stream("x").event_time, project.stream("x").clock) == (event_time, clock)
    window = {"window": {"type": "tumbling", "size_ms": 1000}, "aggregate": {"n": "count(*)"}}
    expanded = make(pipelines={"p": {"from": "orders", "steps": steps, "to": "x", **window}})
    before = expand(expanded).stream("p-input")
    assert (before.event_time, before.clock) == (event_time, clock)


@pytest.mark.parametrize(
    ("window", "steps"),
    [
        ({}, []),
        ({"allowed_lateness_ms": 5, "accumulate": False}, []),
        ({"allowed_lateness_ms": 5, "trigger": {"final": True}}, []),
        ({"allowed_lateness_ms": 5}, [{"filter": "`window`.final"}]),
    ],
)
def test_a_window_reads_panes_that_are_told_once(window: dict[str, Any], steps: list[Any]) -> None:
    tumbling = {"type": "tumbling", "size_ms": 1000}
    first = {"from": "orders", "window": {**tumbling, **window}, "aggregate": {"n": "count(*)"}}
    second = {"from": "p", "steps": steps, "window": tumbling, "aggregate": {"n": "sum(n)"}}
    between = {"from": "p", "steps": steps}
    third = {"from": "q", "window": tumbling, "aggregate": {"n": "sum(n)"}}
    assert make(pipelines={"p": first, "q": between, "r": third}).pipelines.keys() == {
        "p",
        "q",
        "r",
    }
    assert "second" in make(pipelines={"p": first, "second": second}).pipelines


def test_an_event_time_of_its_own_gives_a_stream_a_clock_with_the_delay_of_its_input() -> None:
    project = make(
        streams={"x": {"event_time": "then"}},
        pipelines={"p": {"from": "orders", "steps": [{"set": {"then": "now()"}}], "to": "x"}},
        watermarks={"delay_seconds": 9, "ahead": "dead"},
    )
    stream = project.stream("x")
    assert (stream.event_time, stream.clock) == ("then", "own")
    assert (stream.watermarks.delay_seconds, stream.watermarks.ahead) == (9, "hold")


def test_a_pipeline_writes_a_stream_of_its_own_name_unless_told() -> None:
    project = make(pipelines={"copy": {"from": "orders"}})
    assert project.stream("copy").writer == "copy"


def test_how_long_rows_are_kept_is_said_per_stream_and_changes_no_pipeline() -> None:
    limited = {"history": {"keep_days": 30, "keep_mb": 10_240}}
    pipelines = {"p": {"from": "orders", "to": "x"}}
    project = make(streams={"x": limited}, pipelines=pipelines)
    assert project.stream("x").history == HistorySpec(30, 10_240)
    assert project.stream("orders").history == HistorySpec()
    before = make(streams={"x": {}}, pipelines=pipelines)
    assert project.hash != before.hash
    assert {one.name: one.version for one in declared(project)} == {
        one.name: one.version for one in declared(before)
    }


def test_what_is_declared_of_a_written_stream_counts() -> None:
    project = make(
        streams={"x": {"key": ["email"]}},
        pipelines={"p": {"from": "orders", "to": "x"}},
    )
    assert project.stream("x").key == ("email",)


def test_a_declared_schema_that_is_not_written_is_refused() -> None:
    with pytest.raises(ProjectError) as caught:
        make(
            streams={"x": {"schema": {"id": "int"}}},
            pipelines={"p": {"from": "orders", "to": "x"}},
        )
    assert [problem.code for problem in caught.value.problems] == ["project.schema-differs"]


def test_streams_of_the_same_columns_are_read_together_and_others_not() -> None:
    other = {"source": "feed", "schema": {"id": "long", "email": "string", "at": "timestamp"}}
    project = make(streams={"more": other}, pipelines={"all": {"from": ["orders", "more"]}})
    assert project.schema_of("all") == project.schema_of("orders")
    with pytest.raises(ProjectError) as caught:
        make(
            streams={"more": {"source": "feed", "schema": {"id": "long"}}},
            pipelines={"all": {"from": ["orders", "more"]}},
        )
    assert caught.value.problems[0].code == "project.schema-differs"


PAYMENTS = {
    "source": "feed",
    "schema": {"order": "long", "paid": "timestamp"},
    "event_time": "paid",
}
JOINED = {
    "from": ["orders", "payments"],
    "join": {"type": "left", "on": {"id": "order"}},
    "window": {"type": "tumbling", "size_ms": 1000},
}


def test_a_join_has_the_columns_of_both() -> None:
    project = make(streams={"payments": PAYMENTS}, pipelines={"joined": JOINED})
    assert project.schema_of("joined").names == ("id", "email", "at", "paid", "window")
    assert dict(project.pipeline("joined").join or {}) == {"type": "left", "on": [["id", "order"]]}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("inner", "int"), ("left", "int"), ("right", "bigint"), ("full", "bigint")],
)
def test_the_key_of_a_join_holds_values_of_all_rows_that_it_has(kind: str, expected: str) -> None:
    streams = {
        name: {"source": "feed", "schema": {"id": own, name: "timestamp"}, "event_time": name}
        for name, own in (("narrow", "int"), ("wide", "long"))
    }
    pair = {**JOINED, "from": ["narrow", "wide"], "join": {"on": "id", "type": kind}}
    project = make(streams=streams, pipelines={"joined": pair})
    assert str(project.schema_of("joined").get("id").type) == expected


@pytest.mark.parametrize(
    ("join", "code"),
    [
        ({"on": {"email": "order"}}, "project.join"),
        ({"on": {"idd": "order"}}, "schema.unknown-column"),
        ({"type": "outer", "on": {"id": "order"}}, "project.unknown-value"),
        ({"type": "left"}, "project.missing-key"),
        ({"on": {"id": "order", "ID": "order"}}, "project.join"),
    ],
)
def test_a_wrong_join_is_refused(join: dict[str, Any], code: str) -> None:
    with pytest.raises(ProjectError) as caught:
        make(streams={"payments": PAYMENTS}, pipelines={"joined": {**JOINED, "join": join}})
    assert code in [problem.code for problem in caught.value.problems]


def test_a_window_needs_a_stream_with_a_time() -> None:
    with pytest.raises(ProjectError) as caught:
        make(
            streams={"plain": {"source": "feed", "schema": {"id": "long"}}},
            pipelines={
                "p": {
                    "from": "plain",
                    "window": {"type": "tumbling", "size_ms": 5},
                    "aggregate": {"n": "count(*)"},
                }
            },
        )
    assert [problem.code for problem in caught.value.problems] == ["project.no-event-time"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("summ(id)", "aggregate.function"),
        ("sum(email)", "aggregate"),
        ("sum(idd)", "expression.unknown-column"),
        ("sum(id) + 1", "aggregate"),
        ("max(reflect('a', 'b'))", "expression.refused-function"),
    ],
)
def test_a_wrong_aggregate_is_refused(text: str, code: str) -> None:
    with pytest.raises(ProjectError) as caught:
        make(
            pipelines={
                "p": {
                    "from": "orders",
                    "window": {"type": "tumbling", "size_ms": 5},
                    "aggregate": {"n": text},
                }
            }
        )
    assert caught.value.problems[0].code.startswith(code)


def test_columns_of_files_are_taken_from_the_first_of_them(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text(
        '{"id": 1, "tags": ["x"], "at": "2026-01-01T00:00:00Z"}\n'
    )
    (tmp_path / "in" / ".partial").write_text("not json")
    project = load(
        {"app_name": "shop", "streams": {"s": {"source": {"files": {"path": "in"}}}}},
        folder=tmp_path,
    )
    assert project.schema_of("s").to_dict() == {
        "id": "bigint",
        "tags": "array<string>",
        "at": "timestamp",
    }
    (tmp_path / "in" / "a.json").write_text("id,name\n1,x\n")
    form = {"files": {"path": "in", "format": "csv"}}
    project = load({"app_name": "shop", "streams": {"s": {"source": form}}}, folder=tmp_path)
    assert project.schema_of("s").to_dict() == {"id": "bigint", "name": "string"}


def test_a_python_source_keeps_its_code(tmp_path: Path) -> None:
    (tmp_path / "feeds.py").write_text(
        "class Feed:\n    def read_batch(self, most): ...\n    def close(self): ...\n"
    )
    stream = {"source": {"python": "feeds:Feed"}, "schema": {"id": "long"}}
    project = load({"app_name": "shop", "streams": {"s": stream}}, folder=tmp_path)
    assert project.stream("s").source == SourceSpec("python", {"class": "feeds:Feed"})
    assert project.functions["feeds:Feed"].form == "class"


def test_an_unknown_name_is_told_with_the_nearest(folder: Path) -> None:
    with pytest.raises(MissingNameError) as caught:
        load(folder).stream("order")
    assert caught.value.domain == "missing"
    assert "orders" in (caught.value.hint or "")


def test_the_graph_knows_order_and_both_directions(folder: Path) -> None:
    graph = Graph.of(load(folder))
    assert graph.order == ("orders", "clean", "orders-tumbling-60000", "revenue")
    assert graph.downstream("orders") == ("clean", "orders-tumbling-60000", "revenue")
    assert graph.upstream("revenue") == ("clean-orders", "orders")
    assert graph.readers("clean-orders") == ("revenue",)
    assert graph.find_writer("clean-orders") == "clean"
    assert graph.find_cycle() is None


def test_a_first_project_is_right_and_is_never_overwritten(tmp_path: Path) -> None:
    written = write(tmp_path / "new")
    assert {path.name for path in written} == {"weft.yaml", "rules.py", "README.md", ".gitignore"}
    project = load(tmp_path / "new")
    mask = project.functions["rules:mask_email"].load()
    assert mask({"email": "ada@example.com"}) == {"email": "a***@example.com"}
    assert mask({"email": None}) is None
    with pytest.raises(Exception, match="cannot be written") as caught:
        write(tmp_path / "new")
    assert getattr(caught.value, "code", None) == "project.exists"


def test_problems_are_shown_with_place_and_hint(folder: Path) -> None:
    (folder / "weft.yaml").write_text("app_name: shop\nprocesing: {}\n")
    with pytest.raises(ProjectError) as caught:
        load(folder)
    shown = render(caught.value)
    assert f"{folder / 'weft.yaml'}:2:1:" in shown
    assert "processing" in shown
    assert "1 problem found." in shown


TITLED = """
app_name: "My Stream Processor"
debug: false
processing: {parallelism: 4, queue_size: 10000, checkpoint_interval: 30.0}
windowing:
  windows:
    - {type: tumbling, size_ms: 60000, allowed_lateness_ms: 5000}
    - {type: sliding, size_ms: 300000, slide_ms: 30000, allowed_lateness_ms: 10000}
    - {type: session, gap_ms: 30000, allowed_lateness_ms: 15000}
watermarks: {delay_seconds: 2.0}
"""


def test_a_project_with_a_title_and_windows_alone_works_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "weft.yaml").write_text(TITLED)
    project = load(tmp_path)
    assert project.name == "My Stream Processor"
    assert list(project.pipelines) == [
        "events-tumbling-60000",
        "events-sliding-300000-30000",
        "events-session-30000",
    ]
    assert project.stream("events").watermarks.delay_seconds == 2.0
    assert Project.from_dict(project.to_dict()).name == project.name


@pytest.mark.parametrize(
    "title",
    [
        "My App",
        "my app",
        "my-app",
        "my_app",
        "東京 — orders",
        "a/b",
        "a" * 199,
        "Ä",
        "👩‍💻",
        "2026 orders",
    ],
)
def test_a_title_has_an_identifier_of_its_own(title: str) -> None:
    project = load({"app_name": title})
    assert NAME.fullmatch(project.slug) and len(project.slug) <= MAX_NAME
    assert (project.slug == title) == bool(NAME.fullmatch(title) and len(title) <= MAX_NAME)
    assert project.slug == load({"app_name": title}).slug
    assert project.slug != load({"app_name": f"{title}!"}).slug


def test_names_may_be_in_snake_case(tmp_path: Path) -> None:
    stream = {"source": "mock", "schema": {"id": "long", "at": "timestamp"}, "event_time": "at"}
    window = {
        "from": ["raw_orders", "more_orders"],
        "steps": [{"filter": "id > 0"}],
        "window": {"type": "tumbling", "size_ms": 10},
        "aggregate": {"n": "count(*)"},
        "to": "order_counts",
    }
    project = load(
        {
            "app_name": "my_shop",
            "streams": {"raw_orders": stream, "more_orders": stream},
            "pipelines": {"count_orders": window},
        }
    )
    assert project.slug == "my_shop"
    assert list(project.pipelines) == [
        "count_orders-union",
        "count_orders-input",
        "count_orders",
    ]


NESTED = {
    "source": {"mock": {"keys": 3}},
    "schema": {"customer": "struct<Id:long,name:string>", "payload": "struct<ts:timestamp,n:int>"},
    "key": "customer.id",
    "event_time": "Payload.ts",
}


def test_key_and_event_time_may_be_parts_of_structs() -> None:
    steps = [{"rename": {"customer": "buyer"}}, {"set": {"n": "payload.n"}}]
    window = {
        "from": "renamed",
        "window": {"type": "tumbling", "size_ms": 1000},
        "aggregate": {"n": "count(*)"},
    }
    project = load(
        {
            "app_name": "shop",
            "streams": {"orders": NESTED},
            "pipelines": {"renamed": {"from": "orders", "steps": steps}, "counted": window},
        }
    )
    orders, renamed = project.stream("orders"), project.stream("renamed")
    assert (orders.key, orders.event_time) == (("customer.Id",), "payload.ts")
    assert (renamed.key, renamed.event_time, renamed.clock) == (
        ("buyer.Id",),
        "payload.ts",
        "inputs",
    )


@pytest.mark.parametrize(
    "step",
    [
        {"rename": {"payload": "p"}},
        {"drop": "payload"},
        {"set": {"payload": "1"}},
        {"select": ["payload", "customer"]},
    ],
)
def test_rows_keep_their_time_when_the_struct_that_held_it_changes(step: dict[str, Any]) -> None:
    pipeline = {"from": "orders", "steps": [step]}
    project = load(
        {"app_name": "shop", "streams": {"orders": NESTED}, "pipelines": {"p": pipeline}}
    )
    assert (project.stream("p").event_time, project.stream("p").clock) == (
        "_weft.event_time",
        "inputs",
    )


@pytest.mark.parametrize(
    ("said", "code", "hint"),
    [
        ({"key": "customer.ide"}, "schema.unknown-column", "customer.Id"),
        ({"key": "custmer.id"}, "schema.unknown-column", ""),
        ({"event_time": "payload.n"}, "project.event-time", "timestamp"),
        ({"event_time": "payload.ts.x"}, "schema.unknown-column", ""),
        ({"event_time": "payload."}, "schema.unknown-column", ""),
    ],
)
def test_a_part_that_is_not_there_or_no_time_is_refused(
    said: dict[str, str], code: str, hint: str
) -> None:
    with pytest.raises(ProjectError) as caught:
        load({"app_name": "shop", "streams": {"orders": {**NESTED, **said}}})
    [problem] = caught.value.problems
    assert problem.code == code
    assert hint in (problem.hint or "")


def test_a_part_of_a_struct_where_a_column_is_needed_is_told_with_what_to_do() -> None:
    window = {
        "from": "orders",
        "by": "customer.id",
        "window": {"type": "tumbling", "size_ms": 1000},
        "aggregate": {"n": "count(*)"},
    }
    with pytest.raises(ProjectError) as caught:
        load({"app_name": "shop", "streams": {"orders": NESTED}, "pipelines": {"p": window}})
    [problem] = caught.value.problems
    assert problem.code == "schema.unknown-column"
    assert "set" in (problem.hint or "")
