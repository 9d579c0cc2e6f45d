"""Updating queries: joins without a window, groups and first rows follow the changes of their streams."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.products.log import Log, ops
from tests.queries.case import make_case
from tests.queries.played import differences
from weft.testing import Play, play

ORDERS = {
    "topic": "orders",
    "key": "id",
    "columns": {"id": "long", "customer": "long", "total": "double", "at": "int"},
}
CUSTOMERS = {
    "topic": "customers",
    "key": "code",
    "columns": {"code": "int", "name": "string", "city": "string"},
}
ON = {"customer": "code"}


def project(**pipelines: Any) -> dict[str, Any]:
    return {
        "app_name": "queries",
        "tables": {"orders": ORDERS, "customers": CUSTOMERS},
        "pipelines": pipelines,
    }


def join(kind: str) -> dict[str, Any]:
    return {"from": ["orders", "customers"], "join": {"on": ON, "type": kind}}


def order(id: int, customer: int | None, total: float | None = 1.0, at: int = 0) -> dict[str, Any]:
    return {"id": id, "customer": customer, "total": total, "at": at}


def customer(code: int, name: str, city: str | None = "Ulm") -> dict[str, Any]:
    return {"code": code, "name": name, "city": city}


def shown(run: Play, stream: str, *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of what is in a stream now."""
    rows = [tuple(row[name] for name in columns) for row in run.documents(stream)]
    return sorted(rows, key=repr)


def test_a_join_follows_both_sides_and_every_kind_shows_its_own(tmp_path: Path) -> None:
    log = Log()
    kinds = ("inner", "left", "right", "full", "semi", "anti")
    columns = ("id", "customer", "name")
    with play(project(**{kind: join(kind) for kind in kinds}), storage=tmp_path) as run:
        run.feed("orders", [log("c", **order(1, 7)), log("c", **order(2, None))])
        run.feed("customers", [log("c", **customer(8, "bob"))])
        assert shown(run, "inner", *columns) == []
        assert shown(run, "left", *columns) == [(1, 7, None), (2, None, None)]
        assert shown(run, "right", *columns) == [(None, 8, "bob")]
        assert shown(run, "full", "side", *columns) == [
            ("left", 1, 7, None),
            ("left", 2, None, None),
            ("right", None, 8, "bob"),
        ]
        assert shown(run, "anti", "id", "customer") == [(1, 7), (2, None)]
        run.feed("customers", [log("c", **customer(7, "ann"))])
        run.feed("orders", [log("c", **order(3, 8)), log("u", **order(1, 8))])
        both = [(1, 8, "bob"), (3, 8, "bob")]
        assert shown(run, "inner", *columns) == both
        assert shown(run, "left", *columns) == [both[0], (2, None, None), both[1]]
        assert shown(run, "right", *columns) == [*both, (None, 7, "ann")]
        assert [row[0] for row in shown(run, "full", "side", *columns)] == [
            "both",
            "both",
            "left",
            "right",
        ]
        assert shown(run, "semi", "id") == [(1,), (3,)]
        assert shown(run, "anti", "id") == [(2,)]
        run.feed("customers", [log("d", **customer(8, "bob"))])
        assert shown(run, "inner", *columns) == shown(run, "semi", "id") == []
        assert shown(run, "left", *columns) == [(1, 8, None), (2, None, None), (3, 8, None)]
        assert shown(run, "anti", "id") == [(1,), (2,), (3,)]
        # A partner that appears or goes is an update of the row, under the key of both.
        assert sorted(ops(run, "left")) == ["c", "c", "c", "c", "d", "u", "u", "u"]


def test_a_group_counts_what_is_there_and_goes_with_its_last_row(tmp_path: Path) -> None:
    log = Log()
    group = {
        "from": "orders",
        "group": {
            "by": ["customer"],
            "aggregate": {
                "orders": "count(*)",
                "paid": "count(total)",
                "revenue": "sum(total)",
                "mean": "avg(total)",
                "least": "min(total)",
                "most": "max(total)",
                "newest": "max_by(id, at)",
            },
        },
    }
    with play(project(sums=group), storage=tmp_path) as run:
        run.feed(
            "orders",
            [
                log("c", **order(1, 7, 0.1, 1)),
                log("c", **order(2, 7, 1e300, 3)),
                log("c", **order(3, 7, 0.2, 3)),
                log("c", **order(4, None, None)),
            ],
        )
        assert run.documents("sums")[0] == {
            "customer": 7,
            "orders": 3,
            "paid": 3,
            "revenue": 1e300,
            "mean": 1e300 / 3,
            "least": 0.1,
            "most": 1e300,
            "newest": 2,
        }
        assert run.documents("sums")[1] == {
            "customer": None,
            "orders": 1,
            "paid": 0,
            "revenue": None,
            "mean": None,
            "least": None,
            "most": None,
            "newest": 4,
        }
        run.feed("orders", [log("d", **order(2, 7)), log("u", **order(4, 7, None, 2))])
        columns = ("customer", "orders", "paid", "revenue", "most", "newest")
        assert shown(run, "sums", *columns) == [(7, 3, 2, 0.1 + 0.2, 0.2, 3)]
        run.feed("orders", [log("u", **order(3, 7, 0.2, 3)), log("u", **order(1, 7, 0.1, 2))])
        assert ops(run, "sums") == ["c", "c", "u", "d"]
        run.feed("orders", [log("t")])
        assert run.documents("sums") == [] and ops(run, "sums")[-1] == "d"


def test_first_rows_move_up_and_are_withdrawn(tmp_path: Path) -> None:
    log = Log()
    top = {"from": "orders", "top": {"by": "customer", "order": "total desc", "limit": 2}}
    best = {"from": "orders", "top": {"order": ["at desc", "total"], "limit": 1}}
    with play(project(best=best, top=top), storage=tmp_path) as run:
        run.feed("orders", [log("c", **order(one, 7, float(one), one % 2)) for one in range(1, 5)])
        run.feed("orders", [log("c", **order(5, None, None))])
        assert shown(run, "top", "id", "total") == [(3, 3.0), (4, 4.0), (5, None)]
        assert shown(run, "best", "id") == [(1,)]
        run.feed("orders", [log("d", **order(4, 7))])
        assert shown(run, "top", "id") == [(2,), (3,), (5,)]
        run.feed("orders", [log("u", **order(3, 8, 3.0, 2)), log("u", **order(1, 7, 1.5, 1))])
        assert shown(run, "top", "id", "customer") == [(1, 7), (2, 7), (3, 8), (5, None)]
        assert shown(run, "best", "id") == [(3,)]
        # The row that has moved to another customer is one change, and what stays is none.
        assert sorted(ops(run, "top")) == ["c", "c", "c", "c", "c", "d", "u"]


def test_queries_stand_on_queries_with_steps_before_and_behind(tmp_path: Path) -> None:
    log = Log()
    pipelines = {
        "known": {**join("inner"), "steps": [{"filter": "total > 0"}, {"drop": ["at"]}]},
        "cities": {
            "from": "known",
            "steps": [{"set": {"city": "upper(city)"}}],
            "group": {"by": "city", "aggregate": {"revenue": "sum(total)"}},
        },
        "first": {"from": "cities", "top": {"order": "revenue desc", "limit": 1}},
    }
    with play(project(**pipelines), storage=tmp_path) as run:
        run.feed(
            "customers", [log("c", **customer(1, "a", "Ulm")), log("c", **customer(2, "b", "ulm"))]
        )
        run.feed("customers", [log("c", **customer(3, "c", None))])
        run.feed("orders", [log("c", **order(one, one, float(one))) for one in (1, 2, 3)])
        assert shown(run, "cities", "city", "revenue") == [("ULM", 3.0), (None, 3.0)]
        run.feed("orders", [log("u", **order(2, 2, -1.0))])
        assert shown(run, "cities", "city", "revenue") == [("ULM", 1.0), (None, 3.0)]
        assert run.documents("first") == [{"city": None, "revenue": 3.0}]
        run.feed("customers", [log("d", **customer(3, "c"))])
        assert run.documents("first") == [{"city": "ULM", "revenue": 1.0}]


@pytest.mark.parametrize("seed", [3, 8])
def test_results_are_those_of_sql_after_every_batch(tmp_path: Path, seed: int) -> None:
    """Any tables and queries, any order of arrival, with repeats and crashes; `bench.queries` does hundreds."""
    case = make_case(seed)
    with play(case.project(), storage=tmp_path) as run:
        assert differences(run, case, Random(seed), batches=3, crashes=0.4) == []
