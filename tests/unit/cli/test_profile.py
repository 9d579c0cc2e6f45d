"""The demo of documents that follow a database: its example, and how changes of a document are shown."""

from __future__ import annotations

import re
from typing import Any

import pytest

from weft.cli.forge import PROJECT, SCHEMA, SERVERS, find_example
from weft.cli.profile import differences, is_whole
from weft.loading.load import load

CREATED = re.compile(r'create table "?(\w+)"? \((.*?)\n\);', re.DOTALL)
KEY = re.compile(r"primary key \((.*?)\)|(\w+) \w+ primary key")


def make_profile(**fields: Any) -> dict[str, Any]:
    return {"username": "ada", "starred_repos": [], "payment_verified": True, **fields}


def test_the_example_reads_the_tables_of_its_schema_by_their_keys() -> None:
    example = find_example()
    project = load(example / PROJECT)
    keys = {}
    for name, body in CREATED.findall((example / SCHEMA).read_text()):
        found = KEY.search(body)
        assert found is not None
        keys[name] = tuple((found[1] or found[2]).split(", "))
    tables = {name: one for name, one in project.streams.items() if one.source is not None}
    assert {name: one.key for name, one in tables.items()} == keys


def test_the_address_of_the_broker_stands_wherever_the_demo_puts_its_own() -> None:
    written = (find_example() / PROJECT).read_text()
    assert written.count("topic:") == written.count(SERVERS)


def test_only_what_differs_is_shown_and_of_lists_the_elements() -> None:
    was = make_profile(starred_repos=[{"repo": "a"}, {"repo": "b"}])
    now = make_profile(starred_repos=[{"repo": "b"}, {"repo": "c"}], payment_verified=None)
    assert differences(was, now) == {
        "starred_repos": ['- {"repo": "a"}', '+ {"repo": "c"}'],
        "payment_verified": ["- true"],
    }
    assert differences(was, was) == {}


def test_a_document_that_goes_goes_with_all_its_fields() -> None:
    lines = {"username": ['- "ada"'], "payment_verified": ["- true"]}
    assert differences(make_profile(), None) == lines


@pytest.mark.parametrize(
    ("document", "whole"),
    [
        (None, False),
        (make_profile(), False),
        (make_profile(starred_repos=[{"repo": "a", "description": None}]), False),
        (make_profile(starred_repos=[{"repo": "a", "description": "A"}]), True),
    ],
)
def test_a_document_is_whole_once_every_table_is_in_it(
    document: dict[str, Any] | None, whole: bool
) -> None:
    assert is_whole(document) is whole
