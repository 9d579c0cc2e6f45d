"""What windows aggregate goes through the same gate: a record that fails is a dead letter, and its window goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.spark.projects import order, shop
from weft.streams.storage import Storage
from weft.testing import play
from weft.weaver.verification import verify_storage

TUMBLING = {"type": "tumbling", "size_ms": 10_000}
WINDOWS = [
    TUMBLING,
    {"type": "sliding", "size_ms": 10_000, "slide_ms": 5_000},
    {"type": "session", "gap_ms": 5_000},
]


def codes(aggregate: dict[str, str], window: dict[str, Any] = TUMBLING) -> dict[str, Any]:
    pipeline = {"from": "orders", "window": window, "aggregate": aggregate, "to": "codes"}
    return shop(codes=pipeline)


def at(second: int, email: str) -> dict[str, Any]:
    return order(1, email=email, at=f"2026-01-01T00:00:{second:02d}Z")


@pytest.mark.parametrize("window", WINDOWS, ids=[str(window["type"]) for window in WINDOWS])
def test_a_record_that_cannot_be_aggregated_is_a_dead_letter(
    tmp_path: Path, window: dict[str, Any]
) -> None:
    aggregate = {"codes": "sum(cast(email as int))", "late": "count(*)"}
    with play(codes(aggregate, window), storage=tmp_path) as run:
        run.feed("orders", [at(5, "5"), at(6, "five"), at(7, "7")])
        run.feed("orders", [at(40, "0")])
        assert {(row["codes"], row["late"]) for row in run.rows("codes")} == {(12, 2)}
        [letter] = run.rows("codes.dead")
        assert (letter["step"], letter["reason"][:20]) == ("aggregate", "[CAST_INVALID_INPUT]")
        assert json.loads(letter["record"])["email"] == "five"
        ledger = next(knot.ledger for knot in run.knots("codes") if knot.ledger.dead)
        assert (ledger.rows_in, ledger.absorbed, ledger.dead) == (3, 2, 1)
        assert ledger.missing() == 0
    assert verify_storage(Storage(str(tmp_path)), deep=True).findings == []


def test_an_argument_that_grows_or_never_ends_is_a_dead_letter(tmp_path: Path) -> None:
    aggregate = {
        "widest": "max(length(repeat(email, cast(total as int) * 9000000)))",
        "matches": "count(if(email rlike '(a|a)*(a|a)*b', 1, null))",
    }
    with play(codes(aggregate), storage=tmp_path) as run:
        run.feed("orders", [{**at(1, "a" * 5_000), "total": "0"}, {**at(2, "abc"), "total": "3"}])
        run.feed("orders", [at(40, "x")])
        assert [(row["widest"], row["matches"]) for row in run.rows("codes")] == [(0, 0)]
        [letter] = run.rows("codes.dead")
        assert letter["reason"].startswith("[VALUE_TOO_LARGE]")
