"""Scaling: the load of pipelines over time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from weft.weaver.loads import LoadView, load_of
from weft.weaver.routes import Answer, UsesWeaver, make_router

router = make_router("scaling")

MOST_KNOTS = 10_000
STEPS = {"5s": 5, "1m": 60, "15m": 900}
ManyKnots = Annotated[int, Field(ge=2, le=MOST_KNOTS)]


@router.get("/scaling/history", response_model=LoadView)
async def history(
    weaver: UsesWeaver,
    pipeline: str,
    step: Literal["5s", "1m", "15m"] = "1m",
    knots: ManyKnots = 1000,
) -> Answer:
    """Rates, batch times, complexity and lag of a pipeline over its last knots, in even steps."""
    found = weaver.catalog.pipeline(pipeline)
    return Answer(load_of(weaver, found, step_s=STEPS[step], knots=knots))
