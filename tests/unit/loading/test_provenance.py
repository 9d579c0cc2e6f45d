"""How much provenance a stream has is declared once, checked, and kept where a project travels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.loading.wrong import HEAD, wrong_file
from weft.loading.deployed import checked
from weft.loading.load import load
from weft.loading.schema import project_schema
from weft.project.definition import Project
from weft.project.provenance import LAZY, ProvenanceSpec
from weft.weaver.catalog import declared

FULL, SAMPLED = ProvenanceSpec("full"), ProvenanceSpec("sampled", 0.01)
ORDERS = {
    "source": "mock",
    "schema": {"id": "long", "total": "double", "at": "timestamp"},
    "key": "id",
    "event_time": "at",
}
USERS = {"topic": "users", "key": "id", "columns": {"id": "long", "name": "string"}}


def project(**said: Any) -> Project:
    """A project whose streams say these modes."""
    streams: dict[str, Any] = {
        name.replace("_", "-"): {"provenance": m} for name, m in said.items()
    }
    streams["orders"] = {**ORDERS, **streams.get("orders", {})}
    tables = {"users": {**USERS, **streams.pop("users", {})}}
    window = {
        "from": "clean",
        "steps": [{"filter": "total > 1"}],
        "window": {"type": "tumbling", "size_ms": 1000},
        "aggregate": {"n": "count(*)"},
    }
    return load(
        {
            "app_name": "shop",
            "streams": streams,
            "tables": tables,
            "products": {"profile": {"root": "users", "fields": ["name"]}},
            "pipelines": {
                "clean": {"from": "orders", "steps": [{"filter": "total > 0"}]},
                "counts": window,
            },
        }
    )


def test_every_stream_that_a_pipeline_writes_may_have_it() -> None:
    said = {"orders": "full", "clean": {"sampled": 0.01}, "users": "full", "profile": "full"}
    streams = project(**said).streams
    assert [streams[name].provenance for name in said] == [FULL, SAMPLED, FULL, FULL]
    assert streams["counts"].provenance == LAZY


def test_steps_before_a_window_have_what_is_said_of_its_stream() -> None:
    streams = project(counts="full").streams
    assert streams["counts-input"].provenance == streams["counts"].provenance == FULL


def test_what_is_said_travels_with_the_project() -> None:
    made = project(orders={"sampled": 1}, profile="full", users={"sampled": 0.0001})
    again = checked(json.loads(json.dumps(made.to_dict())))
    assert {n: s.provenance for n, s in again.streams.items()} == {
        n: s.provenance for n, s in made.streams.items()
    }


def test_who_writes_the_stream_changes_by_it_and_who_reads_it_does_not() -> None:
    plain = {one.name: one.version for one in declared(project())}
    for stream, writer in (("orders", "orders"), ("clean", "clean"), ("profile", "profile")):
        after = {one.name: one.version for one in declared(project(**{stream: "full"}))}
        assert [name for name in plain if plain[name] != after[name]] == [writer]
    lazy = project(orders="lazy", clean="lazy")
    assert {one.name: one.version for one in declared(lazy)} == plain
    assert lazy.hash == project().hash


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("sampled", "project.unknown-value"),
        ("ful", "project.unknown-value"),
        ("0.5", "project.unknown-value"),
        ("[full]", "project.unknown-value"),
        ("{sampled: 0}", "project.out-of-range"),
        ("{sampled: 1.5}", "project.out-of-range"),
        ("{sampled: true}", "project.wrong-type"),
        ("{share: 0.1, sampled: 0.1}", "project.unknown-key"),
        ("{}", "project.missing-key"),
    ],
)
def test_another_mode_is_refused_with_what_to_write(
    tmp_path: Path, written: str, code: str
) -> None:
    error = wrong_file(tmp_path, HEAD + f"    provenance: {written}\n")
    [problem] = error.problems
    assert (problem.code, problem.line) == (code, 8)
    assert problem.hint


def test_a_stream_that_rules_write_has_none(tmp_path: Path) -> None:
    side = "  side: {source: {rule: {of: orders}}, schema: {id: long}, provenance: full}\n"
    [problem] = wrong_file(tmp_path, HEAD + side).problems
    assert (problem.code, problem.line) == ("project.provenance", 8)


def test_its_name_is_not_to_be_had(tmp_path: Path) -> None:
    pipeline = "pipelines: {copy: {from: orders, to: orders.provenance}}\n"
    [problem] = wrong_file(tmp_path, HEAD + pipeline).problems
    assert problem.code == "project.reserved-name"


def test_editors_are_told_what_it_may_be() -> None:
    streams = project_schema()["properties"]["streams"]["additionalProperties"]["anyOf"][0]
    may_be = streams["properties"]["provenance"]["anyOf"]
    assert may_be[0] == {"enum": ["lazy", "full"]}
    assert may_be[1]["properties"]["sampled"]["maximum"] == 1
