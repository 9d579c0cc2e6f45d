"""The first bad knot: found wherever it is, in no more looks than there are halvings."""

from __future__ import annotations

import asyncio

import pytest

from weft.replays.bisect import FirstBad, first_bad

THOUSAND = range(1, 1001)


def found(knots: range, bad: int) -> FirstBad | None:
    async def is_good(knot: int) -> bool:
        return knot < bad

    return asyncio.run(first_bad(knots, is_good))


@pytest.mark.parametrize("bad", [1, 2, 500, 501, 731, 999, 1000])
def test_the_first_bad_of_a_thousand_takes_at_most_eleven_looks(bad: int) -> None:
    first = found(THOUSAND, bad)
    assert first is not None
    assert first.knot == bad
    assert first.looks <= 11


def test_wherever_it_is() -> None:
    for bad in THOUSAND:
        first = found(THOUSAND, bad)
        assert first is not None
        assert first.knot == bad


def test_where_all_are_good_there_is_none() -> None:
    assert found(THOUSAND, 1001) is None
    assert found(range(0), 1) is None
