"""Scaling: the load of pipelines over time, and what was decided about executors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from weft.weaver.costing import CostView
from weft.weaver.decisions import ScalingDecision
from weft.weaver.loads import LoadView
from weft.weaver.routes import Answer, UsesWeaver, make_router

router = make_router("scaling")

STEPS = {"5s": 5, "1m": 60, "15m": 900}
Many = Annotated[int, Field(ge=1, le=5_000)]


@router.get("/scaling/history", response_model=LoadView)
async def history(
    weaver: UsesWeaver,
    pipeline: str,
    step: Literal["5s", "1m", "15m"] = "1m",
    since_s: Annotated[float, Field(ge=0, le=1e12)] = 0.0,
) -> Answer:
    """Rates, backlog, batch times, cost, executors and lag of a pipeline, in even steps."""
    found = weaver.catalog.pipeline(pipeline)
    rows = weaver.scaling.loads.history(found.name).rows(STEPS[step], since_s=since_s)
    return Answer(LoadView(found.name, found.stream, STEPS[step], tuple(rows)))


@router.get("/scaling/cost", response_model=CostView)
async def cost(weaver: UsesWeaver, pipeline: str, rule: str | None = None) -> Answer:
    """What a record of a pipeline costs now, and what it would with a rule."""
    return Answer(weaver.scaling.cost(pipeline, rule=rule))


@router.get("/scaling/decisions", response_model=list[ScalingDecision])
async def decisions(weaver: UsesWeaver, worker: str | None = None, limit: Many = 100) -> Answer:
    """How many executors workers should have had, why, and what came of it, newest first."""
    return Answer(weaver.scaling.decisions.newest(worker=worker, limit=limit))
