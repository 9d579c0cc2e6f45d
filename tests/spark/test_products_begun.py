"""A product over tables with history begins with their rows of one moment, and goes on with what happens after it."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.products.document import normalised
from tests.products.envelope import UNAVAILABLE
from tests.products.log import Log, ops
from tests.products.plain import documents
from tests.products.played import POINTS, PRODUCT, assembled, live, project_of
from tests.products.world import make_world
from weft.testing import Play, play

TABLES = {
    "authors": {"topic": "authors", "key": ["id"], "columns": {"id": "long", "name": "string"}},
    "books": {
        "topic": "books",
        "key": ["isbn"],
        "columns": {"isbn": "string", "author": "long", "text": "string", "sold": "long"},
    },
}
SHELF = {
    "root": "authors",
    "parts": {
        "books": {"many": "books", "on": {"author": "id"}, "fields": ["isbn", "text", "sold"]}
    },
}
BARE = {"app_name": "shelves", "tables": TABLES}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is done to many changes is done to a few."""
    monkeypatch.setattr("weft.runtime.product.SORTED_FROM", 1)
    monkeypatch.setattr("weft.runtime.changing.AT_ONCE", 3)


def with_products(*names: str) -> dict[str, Any]:
    return {**BARE, "products": dict.fromkeys(names, SHELF)}


def book(isbn: str, author: int, text: str, sold: int) -> dict[str, Any]:
    return {"isbn": isbn, "author": author, "text": text, "sold": sold}


def shelves(run: Play, name: str) -> list[dict[str, Any]]:
    return sorted(run.documents(name), key=itemgetter("id"))


def tell(run: Play, log: Log) -> int:
    """A history of many changes; returns how many they were."""
    run.feed("authors", [log("c", id=one, name=f"author {one}") for one in range(4)])
    for sold in range(8):
        run.feed("books", [log("u", **book(f"b{one}", one % 3, "long", sold)) for one in range(6)])
    kept = book("b1", 1, UNAVAILABLE, 100)
    run.feed("books", [log("u", **kept), log("d", **book("b2", 2, "long", 7))])
    return 4 + 8 * 6 + 2


def test_a_new_product_takes_all_that_was_recorded_in_one_knot(tmp_path: Path) -> None:
    log = Log()
    with play(with_products("old"), storage=tmp_path) as run:
        changes = tell(run, log)
        run.apply(with_products("old", "new"))
        assert shelves(run, "new") == shelves(run, "old")
        assert [one["text"] for one in shelves(run, "new")[1]["books"]] == ["long", "long"]
        assert ops(run, "new") == ["c"] * 4
        [knot] = run.knots("new")
        assert knot.ledger is not None and knot.ledger.absorbed == knot.ledger.rows_in == changes
        run.feed("books", [log("u", **book("b2", 3, "back", 8)), log("d", **book("b0", 0, "", 0))])
        assert shelves(run, "new") == shelves(run, "old")


@pytest.mark.parametrize("point", POINTS)
def test_a_product_begins_once_however_often_its_worker_dies(tmp_path: Path, point: str) -> None:
    log = Log()
    with play(BARE, storage=tmp_path) as run:
        tell(run, log)
        run.crash(at=point)
        run.apply(with_products("new"))
        run.settle()
        run.resume()
        run.feed("books", [log("c", **book("b9", 3, "next", 1))])
        found = shelves(run, "new")
        assert [len(one["books"]) for one in found] == [2, 2, 1, 1]
        assert sorted(ops(run, "new")) == ["c"] * 4 + ["u"]


def test_tables_that_were_emptied_or_rolled_back_are_what_they_are_now(tmp_path: Path) -> None:
    log = Log()
    with play(with_products("old"), storage=tmp_path) as run:
        tell(run, log)
        kept = run.knots("books")[-2].number
        late = log("u", **book("b3", 0, "before it was emptied", 1))
        run.feed("books", [log("t"), log("c", **book("b7", 1, "after it", 1))])
        run.feed("books", [late])
        run.apply(with_products("old", "new"))
        assert shelves(run, "new") == shelves(run, "old")
        assert [len(one["books"]) for one in shelves(run, "new")] == [0, 1, 0, 0]
        run.rollback("books", to=kept)
        assert shelves(run, "new") == shelves(run, "old")
        run.apply(with_products("old", "new", "third"))
        assert shelves(run, "third") == shelves(run, "old")


@pytest.mark.parametrize("seed", [4, 7, 33])
def test_a_product_added_to_any_tables_has_the_documents_of_their_rows(
    tmp_path: Path, seed: int
) -> None:
    world = make_world(seed)
    whole = project_of(world, parallelism=1 + seed % 2)
    with play({**whole, "products": {}}, storage=tmp_path) as run:
        live(run, world, Random(seed))
        run.apply(whole)
        assert len(run.knots(PRODUCT)) <= 1
        assert assembled(run, world) == normalised(documents(world.product, world.tables))
