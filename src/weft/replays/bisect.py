"""The first bad one of a row of knots, in as few looks as there are halvings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FirstBad:
    """The first knot that is bad, and how often was looked."""

    knot: int
    looks: int


async def first_bad(
    knots: Sequence[int], is_good: Callable[[int], Awaitable[bool]]
) -> FirstBad | None:
    """The first of rising knots for which something does not hold, given that it then holds for none after it.

    None when it holds for the last one too.
    """
    low, high, looks = 0, len(knots), 0
    while low < high:
        middle = (low + high) // 2
        looks += 1
        if await is_good(knots[middle]):
            low = middle + 1
        else:
            high = middle
    return FirstBad(knots[low], looks) if low < len(knots) else None
