"""Documents as of a knot are those of a live one: others are refused before a worker is asked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.weaver.chain import cut, pin, tie
from tests.unit.weaver.test_http import ask
from weft.loading.load import load
from weft.weaver.store.memory import MemoryStore
from weft.weaver.weaver import Weaver

PROJECT: dict[str, Any] = {
    "app_name": "shop",
    "tables": {
        "users": {"topic": "users", "key": ["id"], "columns": {"id": "long", "name": "string"}}
    },
    "products": {"profile": {"root": "users"}},
}


@pytest.fixture
def weaver() -> Weaver:
    """Knots 1 and 2 of a product are live, 3 was rolled back, and 4 is not tied."""
    weaver = Weaver(MemoryStore())
    weaver.store.apply(weaver.catalog.deploy(load(PROJECT))[0])
    for _ in range(3):
        tie(weaver, "profile")
    cut(weaver, "profile", keep=2)
    assert pin(weaver, "profile").number == 4
    return weaver


@pytest.mark.parametrize("noun", ["products", "causes"])
@pytest.mark.parametrize("knot", [3, 4])
def test_no_document_is_as_of_a_knot_that_is_not_live(weaver: Weaver, noun: str, knot: int) -> None:
    answer = ask("GET", f"/{noun}/profile/1?knot={knot}", weaver=weaver)
    assert (answer.status_code, answer.json()["code"]) == (422, "knot.not-live")
    assert answer.json()["ids"] == {"stream": "profile", "knot": knot}


@pytest.mark.parametrize("noun", ["products", "causes"])
@pytest.mark.parametrize("knot", [0, 5])
def test_no_document_is_as_of_a_knot_that_was_never_there(
    weaver: Weaver, noun: str, knot: int
) -> None:
    answer = ask("GET", f"/{noun}/profile/1?knot={knot}", weaver=weaver)
    assert (answer.status_code, answer.json()["code"]) == (404, "knot.missing")
