"""The tree over a file's hashes: one root however it is built, and a way up to it from every hash."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from weft.lineage.fingerprint import former
from weft.lineage.hashtree import NODE, WIDTH, HashTree, climb, node, path_of

SIZES = [1, 2, 15, 16, 17, 255, 256, 257, 700, 4096, 4097]


def hashes(count: int) -> list[bytes]:
    return [hashlib.sha256(str(number).encode()).digest() for number in range(count)]


def level_by_level(level: list[bytes]) -> str:
    while True:
        level = [node(level[at : at + WIDTH]) for at in range(0, len(level), WIDTH)]
        if len(level) == 1:
            return level[0].hex()


def root(of: list[bytes]) -> str | None:
    tree = HashTree()
    for one in of:
        tree.add(one)
    return tree.root()


@pytest.mark.parametrize("count", SIZES)
def test_a_tree_that_takes_hashes_as_they_come_has_the_same_root(count: int) -> None:
    assert root(hashes(count)) == level_by_level(hashes(count))


def test_a_tree_of_nothing_has_no_root() -> None:
    assert root([]) is None


@pytest.mark.parametrize("count", SIZES)
def test_every_hash_has_a_way_up_to_the_root_and_no_other_takes_it(count: int) -> None:
    found = hashes(count)
    for place in {0, 1 % count, count // 2, count - 1}:
        path = path_of(found, place)
        assert climb(found[place], path) == root(found)
        assert climb(hashlib.sha256(b"another").digest(), path) != root(found)
        assert all(len(beside.before) + len(beside.after) < WIDTH for beside in path)


def test_a_way_that_was_changed_leads_elsewhere() -> None:
    found = hashes(300)
    path = path_of(found, 150)
    assert climb(found[150], path[:-1]) != root(found)
    for place, beside in enumerate(path):
        turned = replace(beside, before=beside.after, after=beside.before)
        if turned != beside:
            assert climb(found[150], [*path[:place], turned, *path[place + 1 :]]) != root(found)


def test_no_record_begins_as_a_node_does() -> None:
    many = 20_000
    fields = [{"name": f"c{number}", "type": "boolean"} for number in range(many)]
    form = former({"fields": fields})
    for record in ({}, {"c0": True}, {f"c{many - 1}": True}, {"c127": False}, {"c16383": True}):
        assert not form(record).startswith(NODE[:3])
