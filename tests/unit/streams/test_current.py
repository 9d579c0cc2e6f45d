"""The newest row of each key is the same whatever order changes come in, and has the values that they left out."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from weft.streams.current import current, newest_of


def change(op: str, position: int, *, kept: list[str] | None = None, **row: Any) -> dict[str, Any]:
    told = {"op": op, "position": f"{position:04}", "snapshot": None, "kept": kept}
    return {"id": 1, "text": None, "number": None, **row, "_change": told, "_weft": mark(position)}


def mark(place: int) -> dict[str, Any]:
    return {"id": f"t/0/{place}", "knot": 1}


def values(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["id"], row["text"], row["number"]) for row in current(rows, ["id"])]


def test_what_a_change_left_out_is_what_the_row_had_before() -> None:
    changes = [
        change("c", 1, text="old", number=1),
        change("u", 2, text="new", number=2),
        change("u", 3, kept=["text"], number=3),
        change("u", 4, kept=["text", "number"]),
    ]
    for order in permutations(changes):
        assert values(list(order)) == [(1, "new", 3)]
        [newest] = newest_of(order, ["id"])
        brought = {name: row["_weft"]["id"] for name, row in newest.brought.items()}
        assert brought == {"text": "t/0/2", "number": "t/0/3"}


def test_a_row_that_was_deleted_gives_no_values_to_the_next() -> None:
    gone = [change("c", 1, text="old"), change("d", 2)]
    assert values(gone) == []
    assert values([*gone, change("u", 3, kept=["text"], number=3)]) == [(1, None, 3)]


def test_a_value_that_nobody_told_is_null() -> None:
    assert values([change("u", 3, kept=["text"], number=3)]) == [(1, None, 3)]


def test_of_changes_at_one_position_the_last_to_come_counts() -> None:
    one, two = change("u", 5, text="one"), change("u", 5, text="two")
    two["_weft"] = mark(6)
    assert values([one, two]) == values([two, one]) == [(1, "two", None)]


def test_nan_is_a_key_like_any_other() -> None:
    nan = float("nan")
    changes = [change("c", 1, id=nan, text="old"), change("u", 2, id=float("nan"), text="new")]
    [newest] = current(changes, ["id"])
    assert newest["text"] == "new"
    assert not list(current([*changes, change("d", 3, id=nan)], ["id"]))


def test_a_truncation_takes_what_was_before_it() -> None:
    emptied = change("t", 2, id=None)
    rows = [change("c", 1, text="old"), emptied, change("c", 3, id=2, text="new")]
    for order in permutations(rows):
        assert values(list(order)) == [(2, "new", None)]
