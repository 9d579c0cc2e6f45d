"""Documents and results explained where it is odd: values that a change left out, days beside moments, rows beyond a
limit, changes out of order, keys of any type; and rules that would take a key away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.products.envelope import UNAVAILABLE
from tests.products.log import Log
from tests.spark.test_explained_changes import _get
from weft.errors import WeftError
from weft.streams.current import current
from weft.testing import Play, play

PEOPLE = {"topic": "people", "key": ["code"], "columns": {"code": "int", "name": "string"}}
ORDERS = {
    "topic": "orders",
    "key": ["id"],
    "columns": {"id": "int", "who": "int", "size": "string", "total": "double"},
}
DAYS = {"topic": "days", "key": ["day"], "columns": {"day": "date"}}
EVENTS = {"topic": "events", "key": ["n"], "columns": {"n": "int", "at": "timestamp"}}
SUMS = {"topic": "sums", "key": ["k"], "columns": {"k": "decimal(10,2)", "v": "int"}}
RAW = {"topic": "raw", "key": ["k"], "columns": {"k": "binary", "v": "int"}}
NUMBERS = {"topic": "numbers", "key": ["k"], "columns": {"k": "double", "v": "int"}}
ON = {"who": "code"}
PROJECT: dict[str, Any] = {
    "app_name": "odd",
    "tables": {
        "people": PEOPLE,
        "orders": ORDERS,
        "days": DAYS,
        "events": EVENTS,
        "sums": SUMS,
        "raw": RAW,
        "numbers": NUMBERS,
    },
    "products": {
        "person": {
            "root": "people",
            "parts": {
                "large": {"many": "orders", "on": ON, "filter": "size = 'L'"},
                "last": {"one": "orders", "on": ON, "order": ["total desc"]},
                "two": {"many": "orders", "on": ON, "limit": 2},
            },
        },
        "early": {"root": "events", "filter": "at < timestamp_micros(3)"},
        "calendar": {"root": "days", "parts": {"events": {"many": "events", "on": {"at": "day"}}}},
    },
    "pipelines": {
        "sizes": {
            "from": "orders",
            "group": {"by": ["size"], "aggregate": {"n": "count(*)"}},
        },
        "right": {"from": ["orders", "people"], "join": {"on": ON, "type": "right"}},
    },
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    with play(PROJECT, storage=tmp_path_factory.mktemp("odd") / "s") as running:
        yield running


def _order(id: int, who: int | None, size: str = "S", total: float = 1.0) -> dict[str, Any]:
    return {"id": id, "who": who, "size": size, "total": total}


def _explained(run: Play, stream: str, **key: Any) -> dict[str, Any]:
    rows = current(run.rows(stream, weft=True), tuple(key))
    [row] = [row for row in rows if all(row[name] == value for name, value in key.items())]
    told: dict[str, Any] = _get(run, f"/records/{stream}/{row['_weft']['id']}", most=100)
    return told["explained"]  # type: ignore[no-any-return]


def _orders(told: dict[str, Any]) -> set[int]:
    return {one["row"]["id"] for one in told["parents"] if one["stream"] == "orders"}


def _id(run: Play, stream: str, place: int) -> str:
    return str(run.rows(stream, weft=True)[place]["_weft"]["id"])


def _into(run: Play, stream: str, place: int) -> dict[str, list[Any]]:
    """The keys of the results that the change at a place of a stream came into."""
    found = _get(run, f"/records/{stream}/{_id(run, stream, place)}", most=100)["into"]
    return {
        one["stream"]: sorted(row["row"]["code"] for row in one["rows"])
        for one in found
        if one["stream"] == "person"
    }


def _why(run: Play, stream: str, place: int) -> dict[str, Any]:
    [found] = _get(run, f"/absences/{stream}", id=_id(run, stream, place))
    return dict(found)


def test_rows_are_judged_as_they_are_and_those_beyond_a_limit_are_not_told(run: Play) -> None:
    log = Log()
    run.feed("people", [log("c", code=7, name="Ada"), log("c", code=8, name="Bob")])
    run.feed("orders", [log("c", **_order(10, 7, "L", 5.0)), log("c", **_order(9, 7, "S", 9.0))])
    run.feed("orders", [log("u", **{**_order(10, 7, total=6.0), "size": UNAVAILABLE})])
    run.feed(
        "orders", [log("c", **_order(11, 7)), log("c", **_order(2, 7)), log("c", **_order(3, 8))]
    )
    told = _explained(run, "person", code=7)
    assert [one["id"] for one in told["row"]["large"]] == [10]
    assert [one["id"] for one in told["row"]["two"]] == [2, 9] and told["row"]["last"]["id"] == 9
    assert _orders(told) == {10, 2, 9}
    assert _into(run, "orders", 2) == {"person": [7]}  # the one that left its size out
    run.feed("orders", [log("u", **_order(2, 8))])
    assert _into(run, "orders", -1) == {"person": [7, 8]}  # from one to the other
    run.feed("orders", [log("d", **_order(9, 7))])
    assert _into(run, "orders", -1) == {"person": [7]}
    run.feed("people", [log("c", code=99, name="Eve")])
    blamed = {one["column"]: one["stream"] for one in _blames(run, "right", code=99)}
    assert blamed["who"] == blamed["name"] == "people"
    run.feed("orders", [log("t")])
    assert _into(run, "orders", -1) == {"person": [7, 8]}
    assert _why(run, "orders", 0)["cause"] == "overwritten"
    assert "emptied" in _why(run, "orders", 0)["text"]


def _blames(run: Play, stream: str, *, code: int) -> Any:
    rows = [row for row in run.rows(stream, weft=True) if row["who"] == code]
    return _get(run, f"/blames/{stream}/{rows[-1]['_weft']['id']}")


def test_a_row_that_a_product_leaves_out_says_by_which_filter(run: Play) -> None:
    log = Log()
    run.feed("events", [log("c", n=70, at=5), log("c", n=71, at=0)])
    [left, kept] = [_id(run, "events", place) for place in (-2, -1)]
    [absence] = _get(run, "/absences/early", id=left)
    assert absence["cause"] == "filtered" and "at < " in absence["text"]
    assert absence["by"] == "product:early"
    assert _get(run, "/absences/early", id=kept)[0]["cause"] == "absorbed"


def test_a_day_is_found_by_its_first_moment(run: Play) -> None:
    log = Log()
    run.feed("days", [log("c", day=19723)])
    run.feed("events", [log("c", n=1, at=19723 * 86_400_000_000), log("c", n=2, at=1)])
    [row] = run.documents("calendar")
    assert [one["n"] for one in row["events"]] == [1]
    told = _explained(run, "calendar", day=row["day"])
    assert {one["stream"] for one in told["parents"]} == {"days", "events"}
    into = _get(run, f"/records/events/{_id(run, 'events', -2)}")["into"]
    assert {one["stream"]: one["count"] for one in into}["calendar"] == 1


def test_the_newest_change_is_the_one_with_the_highest_position(run: Play) -> None:
    log = Log()
    old, new = log("c", k="1.50", v=1), log("u", k="1.50", v=2)
    run.feed("sums", [new])
    run.feed("sums", [old])
    assert _why(run, "sums", 0)["cause"] == "there"
    older = _why(run, "sums", 1)
    assert (
        older["cause"] == "overwritten"
        and run.rows("sums", weft=True)[0]["_weft"]["id"] in older["text"]
    )


@pytest.mark.parametrize(
    ("table", "key"), [("raw", "AAH/"), ("numbers", "NaN"), ("numbers", "-Infinity")]
)
def test_why_a_row_is_not_there_is_told_of_keys_of_any_type(
    run: Play, table: str, key: str
) -> None:
    log = Log()
    before = len(run.rows(table))
    run.feed(table, [log("c", k=key, v=1)])
    run.feed(table, [log("u", k=key, v=2)])
    assert len(run.rows(table)) == before + 2, run.rows(f"{table}.dead")
    assert _why(run, table, before)["cause"] == "overwritten"
    assert _why(run, table, before + 1)["cause"] == "there"


@pytest.mark.parametrize(
    "step",
    [
        {"drop": ["size"]},
        {"rename": {"size": "width"}},
        {"set": {"SIZE": "'Z'"}},
        {"select": {"size": "upper(size)", "n": "n"}},
        {"select": ["n"]},
    ],
)
def test_a_rule_that_would_change_the_key_of_rows_is_refused(run: Play, step: Any) -> None:
    with pytest.raises(WeftError) as refused:
        run.attach(stream="sizes", steps=[step], id="no-key")
    assert refused.value.code == "rule.changes-key", refused.value


def test_a_rule_may_leave_the_key_as_it_is(run: Play) -> None:
    steps = [{"set": {"size": "size", "n": "n + 1"}}, {"select": ["size", "n"]}]
    run.attach(stream="sizes", steps=steps, id="more")
    run.retire("more")


def test_a_rule_is_checked_against_those_that_no_knot_has_met_yet(run: Play) -> None:
    run.attach(stream="people", steps=[{"set": {"nick": "upper(name)"}}], id="first")
    run.attach(stream="people", steps=[{"set": {"nick": "lower(nick)"}}], id="second")
    run.attach(stream="people", steps=[{"drop": ["nick"]}], id="third")
    with pytest.raises(WeftError, match="nick"):
        run.attach(stream="people", steps=[{"set": {"nick": "trim(nick)"}}], id="fourth")
    run.feed("people", [Log()("c", code=50, name="Zoe")])
    assert [row["code"] for row in run.rows("people") if row["name"] == "Zoe"] == [50]
