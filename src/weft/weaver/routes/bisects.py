"""Bisection: the first knot of a stream whose rows break a condition, and what is different there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.replays.bisect import first_bad
from weft.steps.compile import apply_schema
from weft.steps.step import steps_from
from weft.weaver.attach import schema_now
from weft.weaver.code_of_knots import ReplayError, line_of
from weft.weaver.differing import KnotChange, changes_at
from weft.weaver.routes import Answer, Body, KnotNumber, Text, UsesWeaver, make_router

router = make_router("bisects")

LOOK_S = 600.0


class Bisection(Body):
    """A stream that was good at one knot and is bad at a later one, and the condition that all rows should meet."""

    stream: str
    good: KnotNumber
    bad: KnotNumber
    check: Text


@dataclass(frozen=True)
class Bisected:
    """The first bad knot: how often was looked, some of its rows, and what is different there."""

    stream: str
    knot: int
    looks: int
    rows: tuple[Mapping[str, Any], ...]
    changes: tuple[KnotChange, ...]


@router.post("/bisects", response_model=Bisected)
async def bisect(weaver: UsesWeaver, body: Bisection) -> Answer:
    """Find the first knot after `good` that has a row for which the condition is not true."""
    origin = weaver.catalog.stream(body.stream).origin
    if body.good >= body.bad:
        raise ReplayError(
            f"Knot {body.bad}, which is bad, does not come after knot {body.good}, which is good.",
            code="bisect.span",
            hint="Name a good knot before the bad one.",
            stream=body.stream,
        )
    knots = [knot.number for knot in line_of(weaver, origin, body.good, body.bad)]
    step = {"filter": body.check}
    apply_schema(steps_from([step]), schema_now(weaver, body.stream), {})
    found: dict[int, list[Any]] = {}

    async def is_good(number: int) -> bool:
        asked = {"stream": body.stream, "check": body.check, "after": body.good, "upto": number}
        found[number] = await weaver.ask("breaches", asked, timeout=LOOK_S)
        return not found[number]

    first = await first_bad(knots, is_good)
    if first is None:
        raise ReplayError(
            f"Every row of '{body.stream}' after knot {body.good}, up to knot {body.bad}, meets the condition.",
            code="bisect.all-good",
            hint="Choose a later --bad, or another condition.",
            stream=body.stream,
        )
    return Answer(
        Bisected(
            stream=body.stream,
            knot=first.knot,
            looks=first.looks,
            rows=tuple(found.get(first.knot, ())),
            changes=tuple(changes_at(weaver, body.stream, first.knot)),
        )
    )


@router.get("/knots/{stream}/{number}/changes", response_model=list[KnotChange], tags=["knots"])
async def show_changes(weaver: UsesWeaver, stream: str, number: KnotNumber) -> Answer:
    """What is different about a knot from the one before it."""
    return Answer(changes_at(weaver, stream, number))
