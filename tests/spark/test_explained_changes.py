"""Documents and results of updating queries explained: the rows that they were made of, and what came of a change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.products.log import Log
from tests.spark.test_products import PROFILE, REPOS, STARS, USERS, repo, star, user
from tests.spark.test_queries import CUSTOMERS, ORDERS, customer, join, order
from weft.loading.load import load
from weft.streams.current import current
from weft.testing import Play, play

KINDS = ("inner", "left", "right", "full", "semi", "anti")
PROJECT: dict[str, Any] = {
    "app_name": "explained",
    "tables": {
        "users": USERS,
        "stars": STARS,
        "repos": REPOS,
        "orders": ORDERS,
        "customers": CUSTOMERS,
    },
    "products": {"profile": PROFILE},
    "pipelines": {
        **{f"j-{kind}": join(kind) for kind in KINDS},
        "cities": {
            "from": "customers",
            "group": {"by": ["city"], "aggregate": {"n": "count(*)"}},
        },
        "first": {"from": "orders", "top": {"by": ["customer"], "order": ["at"], "limit": 1}},
        "shouted": {"from": "cities", "steps": [{"set": {"city": "upper(city)"}}], "to": "shouted"},
    },
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    log = Log()
    with play(PROJECT, storage=tmp_path_factory.mktemp("changes") / "s") as running:
        running.feed("users", [log("c", **user(name)) for name in ("ann", "bob")])
        running.feed("repos", [log("c", **repo(name, "old")) for name in ("a", "b")])
        starred = [star("ann", "a"), star("ann", "b"), star("ann", "gone"), star("bob", "a")]
        running.feed("stars", [log("c", **one) for one in starred])
        running.feed("repos", [log("u", **repo("a", "new"))])
        running.feed("stars", [log("d", **star("ann", "b"))])
        orders = [order(1, 7), order(2, 7, at=-1), order(3, 8), order(4, None)]
        running.feed("orders", [log("c", **one) for one in orders])
        customers = [customer(7, "Ada"), customer(9, "Bob", None), customer(10, "Cid")]
        running.feed("customers", [log("c", **one) for one in customers])
        running.feed("customers", [log("u", **customer(7, "Ada L."))])
        yield running


def _get(run: Play, path: str, **params: Any) -> Any:
    response = run.api.get(path, params=params)
    assert response.status_code == 200, response.json()
    return response.json()


def _newest(run: Play, stream: str) -> list[dict[str, Any]]:
    """The rows that are in a stream now, with their ids."""
    key = load(PROJECT).stream(stream).key
    return [dict(row) for row in current(run.rows(stream, weft=True), key)]


def _explained(run: Play, stream: str, row: dict[str, Any]) -> dict[str, Any]:
    found = _get(run, f"/records/{stream}/{row['_weft']['id']}", most=100)
    told: dict[str, Any] = found["explained"]
    assert told["count"] == len(told["parents"])
    return told


def _behind(told: dict[str, Any]) -> set[tuple[Any, ...]]:
    keys = {
        "users": ("email",),
        "stars": ("username", "name"),
        "repos": ("name", "about"),
        "orders": ("id",),
        "customers": ("code", "name"),
    }
    return {
        (one["stream"], *(one["row"][name] for name in keys[one["stream"]]))
        for one in told["parents"]
    }


def test_a_document_is_told_of_with_all_rows_that_it_was_made_of(run: Play) -> None:
    found = {row["email"]: _explained(run, "profile", row) for row in _newest(run, "profile")}
    assert _behind(found["ann@x"]) == {
        ("users", "ann@x"),
        *(("stars", "ann", name) for name in ("a", "gone")),
        ("repos", "a", "new"),
    }
    assert _behind(found["bob@x"]) == {
        ("users", "bob@x"),
        ("stars", "bob", "a"),
        ("repos", "a", "new"),
    }
    assert all("position" in one["source"] for one in found["ann@x"]["parents"])


def test_an_earlier_document_is_told_of_with_the_rows_of_its_time(run: Play) -> None:
    earlier = [
        row
        for row in run.rows("profile", weft=True)
        if row["email"] == "ann@x" and len(row["starred"]) == 3
    ]
    assert _behind(_explained(run, "profile", earlier[0])) == {
        ("users", "ann@x"),
        *(("stars", "ann", name) for name in ("a", "b", "gone")),
        *(("repos", name, "old") for name in ("a", "b")),
    }


def _partners(row: dict[str, Any], kind: str) -> set[tuple[Any, ...]]:
    """The rows behind a result of a join, told from what the join is."""
    found: set[tuple[Any, ...]] = set()
    if row.get("id") is not None:
        found.add(("orders", row["id"]))
    if kind == "semi" or row.get("name") is not None:
        # What takes only rows of the other side in does not change with a name.
        names = {7: "Ada" if kind == "semi" else "Ada L.", 9: "Bob", 10: "Cid"}
        found.add(("customers", row["customer"], names[row["customer"]]))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_of_a_join_is_told_of_with_its_partners(run: Play, kind: str) -> None:
    rows = _newest(run, f"j-{kind}")
    assert rows
    for row in rows:
        assert _behind(_explained(run, f"j-{kind}", row)) == _partners(row, kind), row


def test_a_group_is_told_of_with_its_rows_null_too(run: Play) -> None:
    found = {row["city"]: _explained(run, "cities", row) for row in _newest(run, "cities")}
    assert {city: _behind(told) for city, told in found.items()} == {
        "Ulm": {("customers", 7, "Ada"), ("customers", 10, "Cid")},
        None: {("customers", 9, "Bob")},
    }


def test_a_first_row_is_told_of_with_the_row_that_it_is(run: Play) -> None:
    for row in _newest(run, "first"):
        assert _behind(_explained(run, "first", row)) == {("orders", row["id"])}


def test_what_is_relayed_from_a_query_is_told_of_back_to_the_tables(run: Play) -> None:
    [ulm] = [row for row in _newest(run, "shouted") if row["city"] == "ULM"]
    [parent] = _explained(run, "shouted", ulm)["parents"]
    assert parent["stream"] == "cities" and parent["row"]["city"] == "Ulm"
    assert {one["row"]["code"] for one in parent["parents"]} == {7, 10}


def test_a_result_that_was_taken_back_says_so(run: Play) -> None:
    gone = [row for row in run.rows("j-anti", weft=True) if row["_change"]["op"] == "d"]
    assert gone
    told = _explained(run, "j-anti", gone[0])
    assert told["parents"] == [] and "takes an earlier row back" in told["note"]


def test_a_change_is_told_of_with_what_came_of_it(run: Play) -> None:
    renamed = [row for row in run.rows("repos", weft=True) if row["about"] == "new"]
    into = {
        one["stream"]: one
        for one in _get(run, f"/records/repos/{renamed[0]['_weft']['id']}", most=100)["into"]
    }
    assert into.keys() == {"profile"} and into["profile"]["count"] == 2
    assert {one["row"]["email"] for one in into["profile"]["rows"]} == {"ann@x", "bob@x"}
    [unnoticed] = [row for row in run.rows("repos", weft=True) if row["name"] == "b"]
    assert _get(run, f"/records/repos/{unnoticed['_weft']['id']}")["into"] == []
    [ada] = [row for row in run.rows("customers", weft=True) if row["name"] == "Ada"]
    came = {
        one["stream"]: one["count"]
        for one in _get(run, f"/records/customers/{ada['_weft']['id']}", most=100)["into"]
    }
    # Rows of a full join that were alone are taken back.
    joins = {"j-inner": 2, "j-left": 2, "j-right": 2, "j-full": 4, "j-semi": 2}
    assert came == {**joins, "cities": 1}


def test_columns_are_blamed_on_what_gave_them_their_values(run: Play) -> None:
    def blamed(stream: str, row: dict[str, Any]) -> dict[str, tuple[str, str]]:
        found = _get(run, f"/blames/{stream}/{row['_weft']['id']}")
        return {one["column"]: (one["stream"], one["by"].split()[0]) for one in found}

    [joined, *_] = _newest(run, "j-inner")
    told = blamed("j-inner", joined)
    assert told["total"] == ("orders", "source") and told["name"] == ("customers", "source")
    [ann, *_] = _newest(run, "profile")
    told = blamed("profile", ann)
    assert told["username"] == ("users", "source") and told["stars"] == ("profile", "pipeline")
    [ulm] = [row for row in _newest(run, "shouted") if row["city"] == "ULM"]
    told = blamed("shouted", ulm)
    assert told == {"city": ("shouted", "step:0"), "n": ("cities", "pipeline")}
