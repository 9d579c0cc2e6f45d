"""Pipelines: what runs, what should run, how it is doing."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from weft.weaver.routes import Count, UsesWeaver
from weft.weaver.stats import describe, stats

router = APIRouter(tags=["pipelines"])


@router.get("/pipelines")
async def list_pipelines(weaver: UsesWeaver) -> list[dict[str, Any]]:
    """All pipelines in the order data moves."""
    return [describe(weaver, pipeline) for pipeline in weaver.catalog.pipelines()]


@router.get("/pipelines/{id}")
async def show(weaver: UsesWeaver, id: str) -> dict[str, Any]:
    """One pipeline."""
    return describe(weaver, weaver.catalog.pipeline(id))


@router.post("/pipelines/{id}/start")
async def start(weaver: UsesWeaver, id: str) -> dict[str, Any]:
    """Have a pipeline run; a worker takes it as soon as one is free."""
    weaver.want(id, "running")
    return describe(weaver, weaver.catalog.pipeline(id))


@router.post("/pipelines/{id}/stop")
async def stop(weaver: UsesWeaver, id: str) -> dict[str, Any]:
    """Have a pipeline stop after the batch in hand."""
    weaver.want(id, "stopped")
    return describe(weaver, weaver.catalog.pipeline(id))


@router.get("/pipelines/{id}/stats")
async def show_stats(weaver: UsesWeaver, id: str, knots: Count = 100) -> dict[str, Any]:
    """Rates, batch times and counts over the last knots of a pipeline."""
    return stats(weaver, weaver.catalog.pipeline(id), knots=knots)


class Repartition(BaseModel):
    """Into how many partitions the state shall be divided."""

    model_config = ConfigDict(extra="forbid")

    partitions: int


@router.post("/pipelines/{id}/repartition")
async def repartition(
    weaver: UsesWeaver, id: str, body: Repartition, dry_run: bool = False
) -> dict[str, Any]:
    """Move the state of a pipeline to another number of partitions, offline and compared."""
    if dry_run:
        return {"status": "planned", "steps": weaver.repartitions.plan(id, body.partitions)}
    return await weaver.repartitions.run(id, body.partitions)
