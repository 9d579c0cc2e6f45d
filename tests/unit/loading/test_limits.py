"""Whatever a run refuses, the check refuses: every option of sources, sinks, windows and settings, with
values that are wrong in every way that a person or a program could think of."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest

from weft.declared.key import keys
from weft.errors import WeftError
from weft.loading.load import load
from weft.loading.problem import ProjectError
from weft.sinks import options as sinks
from weft.sinks.options import read_options
from weft.sources import options as sources
from weft.sources.generate import Generator
from weft.sources.options import check_source
from weft.sources.spark.mock import check_recipe
from weft.windows.window import WindowSpec

MAX = 2**63 - 1
HOSTILE: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2,
    1.5,
    -0.5,
    MAX,
    MAX + 1,
    -(2**63) - 1,
    10**30,
    10**400,
    1e-300,
    1e18,
    math.inf,
    -math.inf,
    math.nan,
    "",
    " ",
    "x",
    "5",
    ";",
    ";;",
    '"',
    "\n",
    "\0",
    "𝄞",
    "now",
    "yesterday",
    "2026-01-01T00:00:00Z",
    "json",
    "csv",
    "parquet",
    "s3://bucket/path",
    "a,,b",
    [],
    ["x"],
    {},
    {"a": 1},
    {"every_s": 60, "times": 10, "for_s": 5},
    {"every_s": 60, "times": math.inf, "for_s": 5},
    {"every_s": 5, "times": 10, "for_s": 5},
    {"group.id": "a"},
    {"auto.offset.reset": "latest"},
    {"count": 1},
    {"every_ms": MAX + 1},
    b"bytes",
    object(),
]
STREAM = {"schema": {"id": "long", "n": "double", "at": "timestamp"}, "event_time": "at"}
BASE: dict[str, dict[str, Any]] = {
    "mock": {},
    "files": {"path": "in", "format": "csv"},
    "kafka": {"servers": "a:1", "topic": "t", "format": "csv"},
    "debezium": {"topic": "t", "times": "us"},
    "postgres": {"url": "postgresql://app@localhost/shop"},
    "rule": {},
    "feed": {},
}


def is_refused(folder: Path, **parts: Any) -> bool:
    """Whether the check refuses a project; it may raise nothing but what it means to."""
    streams = {"orders": {"source": {"mock": {}}, **STREAM}, **parts.pop("streams", {})}
    try:
        load({"app_name": "shop", "streams": streams, **parts}, folder=folder)
    except ProjectError as error:
        return all(len(problem.message) < 600 for problem in error.problems)
    return False


def refuses(run: Any, *arguments: Any) -> bool:
    """Whether the run refuses something, in our words."""
    try:
        run(*arguments)
    except WeftError as error:
        return bool(error.hint)
    return False


SOURCE_OPTIONS = [
    (kind, name) for kind in BASE for name in (*keys(sources.declaration(kind)), "unknown")
]


@pytest.mark.parametrize(("kind", "option"), SOURCE_OPTIONS)
def test_a_source_is_refused_by_the_check_as_by_the_run(
    tmp_path: Path, kind: str, option: str
) -> None:
    for value in HOSTILE:
        options = {**BASE[kind], option: value}
        source = {"source": {kind: options}, **STREAM}
        run = refuses(check_source, "s", kind, options)
        assert is_refused(tmp_path, streams={"s": source}) >= run, value


@pytest.mark.parametrize("option", [*keys(WindowSpec), "unknown"])
@pytest.mark.parametrize(
    "window",
    [
        {"type": "tumbling", "size_ms": 10},
        {"type": "sliding", "size_ms": 10, "slide_ms": 5},
        {"type": "session", "gap_ms": 10},
        {"type": "global", "trigger": {"count": 1}},
    ],
    ids=lambda window: window["type"],
)
def test_a_window_is_refused_by_the_check_as_by_the_run(
    tmp_path: Path, window: dict[str, Any], option: str
) -> None:
    for value in HOSTILE:
        written = {**window, option: value}
        pipeline = {"from": "orders", "window": written, "aggregate": {"count": "count(*)"}}
        run = refuses(WindowSpec.from_dict, written)
        assert is_refused(tmp_path, pipelines={"p": pipeline}) >= run, value


SINKS: dict[str, dict[str, Any]] = {
    "console": {},
    "files": {"path": "out"},
    "kafka": {"topic": "t"},
    "metrics": {},
    "memory": {"name": "a"},
}
SINK_OPTIONS = [
    (kind, name) for kind in SINKS for name in (*keys(sinks.declaration(kind)), "unknown")
]


@pytest.mark.parametrize(("kind", "option"), SINK_OPTIONS)
def test_a_sink_is_refused_by_the_check_as_by_the_run(
    tmp_path: Path, kind: str, option: str
) -> None:
    for value in HOSTILE:
        options = {**SINKS[kind], option: value}
        pipeline = {"from": "orders", "sinks": [{kind: options}]}
        run = refuses(read_options, kind, options)
        assert is_refused(tmp_path, pipelines={"p": pipeline}) >= run, value


SETTINGS = [
    ("processing", "parallelism"),
    ("processing", "queue_size"),
    ("processing", "checkpoint_interval"),
    ("processing", "state"),
    ("processing", "keyframes"),
    ("watermarks", "delay_seconds"),
    ("watermarks", "idle_seconds"),
    ("watermarks", "max_ahead_seconds"),
    ("watermarks", "ahead"),
]


@pytest.mark.parametrize(("part", "name"), SETTINGS)
def test_a_setting_is_a_number_that_can_be_counted_with(
    tmp_path: Path, part: str, name: str
) -> None:
    for value in HOSTILE:
        refused = is_refused(tmp_path, **{part: {name: value}})
        assert refused or value in (None, 0, 1, 2, 1.5, 1e-300) or value == {}, value
    for key, value in itertools.product(("every", "budget_mb"), HOSTILE):
        refused = is_refused(tmp_path, processing={"keyframes": {key: value}})
        assert refused or value in (None, 1, 2), value


@pytest.mark.parametrize(
    ("pipeline", "code"),
    [
        ({"join": {"on": []}}, "project.join"),
        ({"join": {"on": {}}}, "project.join"),
        ({"join": {"on": "id"}, "by": ["id"]}, "project.join"),
        ({"join": {"on": "id"}, "aggregate": {"n": "count(*)"}}, "project.join"),
        ({"join": {"on": "id"}, "dedupe": {"by": ["id"]}}, "project.join"),
        ({"join": {"on": "id"}, "window": None}, "project.window-missing"),
        ({"join": {"on": "ID"}, "from": ["orders", "windowed"]}, "project.join"),
        ({"from": []}, "project.missing-key"),
        ({"from": ["orders", "orders"]}, "project.duplicate-input"),
        ({"from": "orders", "window": None, "reducer": "a:B"}, "project.window-missing"),
        ({"from": "orders", "dedupe": {"within_seconds": 1e16}}, "project.out-of-range"),
        ({"from": "orders", "dedupe": {"within_seconds": math.nan}}, "project.out-of-range"),
        (
            {"from": "orders", "aggregate": {f"n{n}": "count(*)" for n in range(65)}},
            "project.out-of-range",
        ),
        (
            {"from": "orders", "window": None, "sinks": [{"metrics": {"gauges": "at"}}]},
            "project.sinks",
        ),
        (
            {"from": "orders", "window": None, "sinks": [{"metrics": {"counters": ["n", "n"]}}]},
            "project.sinks",
        ),
        (
            {"from": "orders", "window": None, "sinks": [{"kafka": {"topic": "t"}}] * 2},
            "project.sinks",
        ),
        (
            {"from": "orders", "window": None, "sinks": [{"delta": {"path": "lake"}}]},
            "project.sinks",
        ),
        (
            {"from": "orders", "window": None, "steps": [{"function": {"ref": "rules:f"}}]},
            "function.signature",
        ),
        (
            {
                "from": "orders",
                "window": None,
                "steps": [{"function": {"ref": "rules:f", "params": {"kep": 1}}}],
            },
            "function.signature",
        ),
        (
            {
                "from": "orders",
                "window": None,
                "steps": [{"function": {"ref": "rules:f", "params": {"keep": math.inf}}}],
            },
            "project.out-of-range",
        ),
    ],
)
def test_what_the_run_would_refuse_or_ignore_is_told(
    tmp_path: Path, pipeline: dict[str, Any], code: str
) -> None:
    (tmp_path / "rules.py").write_text("def f(record, *, keep): return record\n")
    whole = {
        "from": ["orders", "users"],
        "window": {"type": "tumbling", "size_ms": 1000},
        **pipeline,
    }
    users = {"source": {"mock": {}}, "schema": {"id": "long", "t": "timestamp"}, "event_time": "t"}
    windowed = {
        "source": {"mock": {}},
        "schema": {"id": "long", "Window": "int", "t": "timestamp"},
        "event_time": "t",
    }
    project = {
        "app_name": "shop",
        "streams": {
            "orders": {"source": {"mock": {}}, **STREAM},
            "users": users,
            "windowed": windowed,
        },
        "pipelines": {"p": {key: value for key, value in whole.items() if value is not None}},
    }
    with pytest.raises(ProjectError) as caught:
        load(project, folder=tmp_path)
    assert code in [problem.code for problem in caught.value.problems]


def test_numbers_without_end_in_a_file_are_told_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "weft.yaml").write_text(
        "app_name: shop\nwatermarks:\n  delay_seconds: 1e999\nwindowing:\n  windows:\n"
        "    - {type: tumbling, size_ms: 100000000000000000000}\n"
    )
    with pytest.raises(ProjectError) as caught:
        load(tmp_path)
    assert [(one.code, one.line) for one in caught.value.problems] == [
        ("project.out-of-range", 3),
        ("project.out-of-range", 6),
    ]


def test_a_pipeline_of_several_parts_shares_its_names_with_nobody(tmp_path: Path) -> None:
    window = {
        "from": "orders",
        "steps": [{"filter": "id > 0"}],
        "window": {"type": "tumbling", "size_ms": 10},
        "aggregate": {"count": "count(*)"},
    }
    assert not is_refused(tmp_path, pipelines={"p": window})
    assert is_refused(tmp_path, pipelines={"p": window, "p-input": {"from": "orders"}})
    assert is_refused(tmp_path, pipelines={"p": window, "q": {"from": "orders", "to": "p-input"}})
    union = {**window, "steps": [], "from": ["orders", "more"]}
    more = {"source": {"mock": {}}, **STREAM}
    names = {"streams": {"more": more, "p-union": more}}
    assert is_refused(tmp_path, pipelines={"p": union}, **names)


def test_sinks_that_a_derived_stream_declares_are_those_of_its_writer(tmp_path: Path) -> None:
    project = load(
        {
            "app_name": "shop",
            "streams": {
                "orders": {"source": {"mock": {}}, **STREAM},
                "out": {"sinks": [{"console": {}}]},
            },
            "pipelines": {
                "p": {"from": "orders", "to": "out", "sinks": [{"console": {"rows": 1}}]}
            },
        },
        folder=tmp_path,
    )
    assert [sink.options for sink in project.pipeline("p").sinks] == [{"rows": 1}, {}]


def test_streams_whose_metrics_have_one_name_are_refused(tmp_path: Path) -> None:
    sinks = {"sinks": [{"metrics": {}}]}
    pipelines = {"a-b": {"from": "orders", **sinks}, "a_b": {"from": "orders", **sinks}}
    assert is_refused(tmp_path, pipelines=pipelines)


LARGEST: dict[str, Any] = {
    "seed": MAX,
    "rate": 1e9,
    "bursts": {"every_s": 1e9, "times": 1e9, "for_s": 1e-6},
    "disorder_ms": 10**12,
    "bad_share": 1,
    "keys": 2**53,
    "skew": 1000,
    "events": 10**15,
    "partitions": 10_000,
    "start": "9999-12-31T00:00:00Z",
}
SMALLEST: dict[str, Any] = {
    "rate": 1e-6,
    "bursts": {"every_s": 1.0, "times": 1e-6, "for_s": 1e-6},
    "keys": 1,
    "start": "0001-01-01T00:00:00Z",
}


@pytest.mark.parametrize("options", [LARGEST, SMALLEST], ids=["largest", "smallest"])
def test_what_the_check_takes_of_a_mock_source_runs(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    stream = {"source": {"mock": options}, **STREAM}
    project = load({"app_name": "shop", "streams": {"s": stream}}, folder=tmp_path)
    recipe = check_recipe(project.stream("s"), partitions=2)
    for first in (0, 10**6):
        assert Generator(recipe, 0).batch(first, 5).num_rows == 5
