"""The model of products is right: its two ways to a document agree, and its events tell what its tables hold.

`SEEDS=2000 make unit T=tests/products` compares more worlds.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.products import oracle, plain
from tests.products.document import normalised
from tests.products.envelope import UNAVAILABLE, Envelope, encoded
from tests.products.table import Table
from tests.products.world import World, make_world
from weft.products.tree import Part, Product

SEEDS = int(os.environ.get("SEEDS", "60"))
seeds = some.integers(0, 2**32)
AT = datetime(2024, 2, 29, 12, 0, tzinfo=UTC)


@given(seeds, some.floats(0, 1))
@settings(max_examples=SEEDS, deadline=None)
def test_both_ways_to_a_document_agree_at_every_moment(seed: int, share: float) -> None:
    world = make_world(seed)
    for number in (round(share * len(world.transactions)), len(world.transactions)):
        tables = world.tables_after(number)
        found = plain.documents(world.product, tables)
        assert oracle.documents(world.product, tables) == found
        assert normalised(list(found.values())) == list(found.values())


def test_a_seed_is_one_world() -> None:
    assert make_world(5) == make_world(5)
    assert make_world(5) != make_world(6)


@given(seeds, some.booleans())
@settings(max_examples=SEEDS, deadline=None)
def test_what_is_delivered_tells_the_tables_as_they_are_in_the_end(
    seed: int, disorder: bool
) -> None:
    world = make_world(seed)
    told: dict[str, list[Envelope]] = {name: [] for name in world.empty}
    for batch in world.deliveries(Random(seed), disorder=disorder):
        for name, events in batch.items():
            told[name] += events
    for name, table in world.tables.items():
        rows = [{one: encoded(value) for one, value in row.items()} for row in table.rows.values()]
        assert sorted(map(repr, rebuilt(table, told[name]))) == sorted(map(repr, rows))


def rebuilt(table: Table, events: list[Envelope]) -> list[dict[str, Any]]:
    """The rows that events tell, by their positions alone; what stays unsaid is as it was before."""
    rows: dict[Any, dict[str, Any]] = {}
    placed = {(one["source"]["lsn"], one["op"] != "d", repr(one)): one for one in events}
    for _, event in sorted(placed.items(), key=lambda one: one[0]):
        row = event["after"] or event["before"]
        if event["op"] == "t":
            rows.clear()
        elif event["op"] == "d":
            rows.pop(tuple(row[name] for name in table.key))
        else:
            key = tuple(row[name] for name in table.key)
            rows[key] = {
                name: rows[key][name] if value == UNAVAILABLE else value
                for name, value in row.items()
            }
    return list(rows.values())


def features(world: World) -> Counter[str]:
    """What a world has of everything that a product can meet."""
    found: Counter[str] = Counter()
    tables = world.empty
    for _, part in world.product.walk():
        for name in ("many", "filter", "required", "order", "limit", "inline", "aggregate"):
            found[name] += bool(getattr(part, name))
        for below in part.parts:
            kinds = [
                (tables[below.table].columns[own], tables[part.table].columns[other])
                for own, other in below.on
            ]
            found["composite link"] += len(kinds) > 1
            found["link of two types"] += any(one != other for one, other in kinds)
            found["self-join"] += below.table == part.table
            found["one without key"] += not below.many and not {own for own, _ in below.on} >= set(
                tables[below.table].key
            )
            found["computed"] += any(
                name[0] == "f" and "(" in sql for name, sql in below.fields or ()
            )
    found["several ways to a table"] += len(world.product.tables()) < sum(
        1 for _ in world.product.walk()
    )
    found[f"depth {world.product.depth}"] += 1
    for change in world.changes:
        found[f"op {change.op}"] += 1
        found["unsaid"] += bool(change.unsaid)
    return found


def test_the_first_worlds_have_everything() -> None:
    found: Counter[str] = Counter()
    for seed in range(300):
        found += features(make_world(seed))
    rare = {name: number for name, number in found.items() if number < 20}
    assert rare == {}
    assert len(found) == 23


def table(name: str, key: str, columns: Mapping[str, str], *rows: tuple[Any, ...]) -> Table:
    made = Table(name, tuple(key.split()), dict(columns))
    for row in rows:
        full = dict(zip(columns, row, strict=True))
        made.rows[made.key_of(full)] = full
    return made


USERS = table(
    "users", "id", {"id": "int", "name": "string", "boss": "bigint"},
    (1, "ann", None), (2, "bob", 1), (3, None, 1), (4, "dan", 9),
)  # fmt: skip
ORDERS = table(
    "orders",
    "id no",
    {"id": "int", "no": "int", "user": "int", "total": "decimal(10,2)", "placed": "timestamp"},
    (1, 1, 1, Decimal("2.00"), AT),
    (1, 2, 1, None, AT),
    (2, 1, 1, Decimal("0.50"), None),
    (3, 1, 2, Decimal("9.00"), None),
    (4, 1, None, Decimal("9.00"), AT),
)
TABLES = {"users": USERS, "orders": ORDERS}
OWN = (("user", "id"),)
NO = (("no", "no"),)


def part(name: str = "x", table: str = "orders", on: Any = OWN, **said: Any) -> Part:
    return Part(table, name, on=on, **said)


@pytest.mark.parametrize("model", [oracle, plain])
@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(
            part(many=True, fields=(("id", "id"), ("no", "no"))),
            {
                1: {"x": [{"id": 1, "no": 1}, {"id": 1, "no": 2}, {"id": 2, "no": 1}]},
                2: {"x": [{"id": 3, "no": 1}]},
                3: {"x": []},
                4: {"x": []},
            },
            id="rows are by key, and null links match nothing",
        ),
        pytest.param(
            part(many=True, fields=NO, order=(("total", False),), required=True),
            {1: {"x": [{"no": 2}, {"no": 1}, {"no": 1}]}, 2: {"x": [{"no": 1}]}},
            id="nulls are first where an order rises; without a required part there is no document",
        ),
        pytest.param(
            part(fields=(("t", "total"),), order=(("total", True),)),
            {1: {"x": {"t": Decimal("2.00")}}, 2: {"x": {"t": Decimal("9.00")}}, 3: {"x": None}, 4: {"x": None}},
            id="one is the first by its order, with nulls last where it falls",
        ),
        pytest.param(
            part(many=True, fields=NO, limit=1, filter="total > 1", order=(("placed", True),)),
            {1: {"x": [{"no": 1}]}, 2: {"x": [{"no": 1}]}, 3: {"x": []}, 4: {"x": []}},
            id="what the filter leaves is limited",
        ),
        pytest.param(
            part("y", "users", (("id", "boss"),), inline=True, fields=(("of", "name"),),
                 parts=(part(many=True, fields=NO, limit=1), part("n", many=True, inline=True,
                        aggregate=(("n", "count(*)"),)))),
            {
                1: {"of": None, "x": None, "n": None},
                2: {"of": "ann", "x": [{"no": 1}], "n": 3},
                3: {"of": "ann", "x": [{"no": 1}], "n": 3},
                4: {"of": None, "x": None, "n": None},
            },
            id="everything of a missing inline part is null",
        ),
        pytest.param(
            part(many=True, aggregate=(("n", "count(*)"), ("t", "count(total)"), ("s", "sum(total)"),
                                       ("l", "max(placed)"), ("m", "avg(total)"))),
            {
                1: {"x": {"n": 3, "t": 2, "s": Decimal("2.50"), "l": AT, "m": Decimal("1.25")}},
                2: {"x": {"n": 1, "t": 1, "s": Decimal(9), "l": None, "m": Decimal(9)}},
                3: {"x": {"n": 0, "t": 0, "s": None, "l": None, "m": None}},
                4: {"x": {"n": 0, "t": 0, "s": None, "l": None, "m": None}},
            },
            id="of no rows a count is 0 and all else null",
        ),
        pytest.param(
            part("y", "users", (("boss", "id"),), many=True, fields=(("id", "id"),),
                 parts=(part(fields=NO, required=True),)),
            {1: {"y": [{"id": 2, "x": {"no": 1}}]}, 2: {"y": []}, 3: {"y": []}, 4: {"y": []}},
            id="a row without what it requires is not there",
        ),
    ],
)  # fmt: skip
def test_documents_are_as_the_tree_says(model: ModuleType, parts: Part, expected: Any) -> None:
    product = Product("p", Part("users", fields=(), parts=(parts,)))
    found = model.documents(product, TABLES)
    assert found == {(key,): {"id": key, **document} for key, document in expected.items()}


@pytest.mark.parametrize("model", [oracle, plain])
def test_the_key_is_in_the_document_and_all_columns_are_where_none_are_said(
    model: ModuleType,
) -> None:
    product = Product("p", Part("users", filter="name > 'b'"))
    assert model.documents(product, TABLES) == {
        (2,): {"id": 2, "name": "bob", "boss": 1},
        (4,): {"id": 4, "name": "dan", "boss": 9},
    }
