"""A project that arrives over the wire is checked as its file was, and believed in nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from weft.errors import WeftError
from weft.loading.deployed import checked, document_of
from weft.loading.load import load
from weft.project.definition import Project

SHOP: dict[str, Any] = {
    "app_name": "shop",
    "streams": {
        "orders": {
            "source": {"mock": {"rate": 10}},
            "schema": {
                "id": "long",
                "email": "string",
                "total": "decimal(10,2)",
                "at": "timestamp",
            },
            "key": "id",
            "event_time": "at",
            "history": {"keep_days": 30},
        },
        "clean-orders": {"history": {"keep_mb": 10_240}},
        "payments": {
            "source": {"mock": {}},
            "schema": {"order": "long", "paid": "timestamp"},
            "event_time": "paid",
        },
        "side": {"source": {"rule": {"of": "orders"}}, "schema": {"id": "long"}},
    },
    "pipelines": {
        "clean": {
            "from": "orders",
            "steps": [{"filter": "total > 0"}, {"function": "rules:tidy"}],
            "to": "clean-orders",
        },
        "revenue": {
            "from": ["orders", "clean-orders"],
            "steps": [{"set": {"double": "total * 2"}}],
            "window": {"type": "sliding", "size_ms": 60000, "slide_ms": 10000},
            "by": ["email"],
            "aggregate": {"z": "sum(double)", "a": "count(*)"},
            "sinks": [{"console": {}}],
        },
        "paid": {
            "from": ["orders", "payments"],
            "join": {"type": "left", "on": {"id": "order"}},
            "window": {"type": "session", "gap_ms": 5000},
        },
        "once": {"from": "clean-orders", "dedupe": {"by": ["id"], "within_seconds": 60}},
    },
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "rules.py").write_text("import helper\n\ndef tidy(record):\n    return record\n")
    (tmp_path / "helper.py").write_text("LIMIT = 3\n")
    return load(SHOP, folder=tmp_path)


def test_a_project_that_was_sent_as_it_is_arrives_as_it_was(project: Project) -> None:
    assert checked(project.to_dict()) == project
    assert checked(project.to_dict()).hash == project.hash


def test_a_document_of_a_project_loads_as_that_project(project: Project, tmp_path: Path) -> None:
    assert load(document_of(project), folder=tmp_path) == project


def stream(form: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in form["streams"] if one["name"] == name)


def pipeline(form: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in form["pipelines"] if one["name"] == name)


def rename(form: dict[str, Any], name: str) -> None:
    stream(form, "orders")["name"] = name


WRONG: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("a name that is a path", lambda f: rename(f, "../../etc")),
    ("a name with a NUL", lambda f: rename(f, "a\x00b")),
    ("a pipeline's name that is a path", lambda f: pipeline(f, "clean").update(name="../x")),
    (
        "a step that reflects",
        lambda f: pipeline(f, "clean").update(steps=[{"filter": "reflect('a','b') = 'c'"}]),
    ),
    ("an unknown input", lambda f: pipeline(f, "clean").update(inputs=["nowhere"])),
    ("a cycle", lambda f: pipeline(f, "clean").update(inputs=["clean-orders"])),
    ("a missing function", lambda f: f.update(functions=[])),
    ("a wrong window", lambda f: pipeline(f, "revenue").update(window={"type": "tumbling"})),
    (
        "a window of text",
        lambda f: pipeline(f, "revenue").update(window={"type": "tumbling", "size_ms": "x"}),
    ),
    ("two writers", lambda f: pipeline(f, "once").update(to="clean-orders")),
    ("a schema that is not made", lambda f: stream(f, "clean-orders")["schema"]["fields"].pop()),
    (
        "a relative path",
        lambda f: stream(f, "orders").update(source={"kind": "files", "options": {"path": "x"}}),
    ),
    (
        "a source of no kind",
        lambda f: stream(f, "orders").update(source={"kind": "shell", "options": {}}),
    ),
    (
        "a sink of no kind",
        lambda f: pipeline(f, "clean").update(sinks=[{"kind": "shell", "options": {}}]),
    ),
    ("a module that is a path", lambda f: f["functions"][0].update(modules={"..x/y": ""})),
    ("no project at all", lambda f: f.clear()),
    ("streams that are text", lambda f: f.update(streams="all")),
    ("a newer format", lambda f: f.update(format=99)),
]


@pytest.mark.parametrize(("what", "change"), WRONG, ids=[what for what, _ in WRONG])
def test_what_a_file_could_not_say_is_refused(
    project: Project, what: str, change: Callable[[dict[str, Any]], Any]
) -> None:
    form = copy.deepcopy(project.to_dict())
    change(form)
    with pytest.raises(WeftError) as refused:
        checked(form)
    assert refused.value.domain == "user"


def test_a_function_whose_source_was_changed_gets_a_version_of_its_own(project: Project) -> None:
    form = copy.deepcopy(project.to_dict())
    [function] = form["functions"]
    function["modules"]["rules"] = "def tidy(record):\n    return None\n"
    arrived = checked(form).functions["rules:tidy"]
    assert arrived.version != function["version"] == project.functions["rules:tidy"].version
