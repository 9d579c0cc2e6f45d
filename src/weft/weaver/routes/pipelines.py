"""Pipelines: what runs, what should run, how it is doing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from weft.operations.step import describe as describe_steps
from weft.weaver.routes import Answer, Body, Count, UsesWeaver, make_router
from weft.weaver.routes.operations import OperationView, view
from weft.weaver.stats import PipelineStats, PipelineStatus, describe, stats

router = make_router("pipelines")


@router.get("/pipelines", response_model=list[PipelineStatus])
async def list_pipelines(weaver: UsesWeaver) -> Answer:
    """All pipelines in the order data moves."""
    found = weaver.catalog.in_order(list(weaver.catalog.pipelines()))
    return Answer([describe(weaver, pipeline) for pipeline in found])


@router.get("/pipelines/{id}", response_model=PipelineStatus)
async def show(weaver: UsesWeaver, id: str) -> Answer:
    """One pipeline."""
    return Answer(describe(weaver, weaver.catalog.pipeline(id)))


@router.post("/pipelines/{id}/start", response_model=PipelineStatus)
async def start(weaver: UsesWeaver, id: str) -> Answer:
    """Have a pipeline run; a worker takes it as soon as one is free."""
    weaver.want(id, "running")
    return Answer(describe(weaver, weaver.catalog.pipeline(id)))


@router.post("/pipelines/{id}/stop", response_model=PipelineStatus)
async def stop(weaver: UsesWeaver, id: str) -> Answer:
    """Have a pipeline stop after the batch in hand."""
    weaver.want(id, "stopped")
    return Answer(describe(weaver, weaver.catalog.pipeline(id)))


@router.get("/pipelines/{id}/stats", response_model=PipelineStats)
async def show_stats(weaver: UsesWeaver, id: str, knots: Count = 100) -> Answer:
    """Rates, batch times and counts over the last knots of a pipeline."""
    return Answer(stats(weaver, weaver.catalog.pipeline(id), knots=knots))


class Repartition(Body):
    """Into how many partitions the state shall be divided."""

    partitions: int = Field(ge=-(2**31), lt=2**31)


@dataclass(frozen=True)
class PlannedSteps:
    """What would be done, a line each."""

    status: str
    steps: tuple[str, ...]


@router.post("/pipelines/{id}/repartition", response_model=OperationView | PlannedSteps)
async def repartition(
    weaver: UsesWeaver, id: str, body: Repartition, dry_run: bool = False
) -> Answer:
    """Move the state of a pipeline to another number of partitions, offline and compared."""
    request: dict[str, Any] = {"pipeline": id, "partitions": body.partitions}
    if dry_run:
        steps = await weaver.operations.plan("repartition", request)
        return Answer(PlannedSteps("planned", tuple(describe_steps(steps))))
    return Answer(view(await weaver.operations.run("repartition", request)))
