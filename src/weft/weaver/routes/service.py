"""The service itself: is it well, what is going on, and a knot for everyone now."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

import weft
from weft.weaver.routes import UsesWeaver
from weft.weaver.stats import describe
from weft.weaver.tasks import NoWorkerError

router = APIRouter(tags=["service"])


@router.get("/health")
async def health(weaver: UsesWeaver) -> dict[str, Any]:
    """Whether the weaver answers, and since when."""
    return {"status": "ok", "version": weft.__version__, "started": weaver.started}


@router.get("/status")
async def status(weaver: UsesWeaver) -> dict[str, Any]:
    """The project, its pipelines and the workers at a glance."""
    project = weaver.catalog.find_project()
    return {
        "project": project.name if project else None,
        "version": project.hash if project else None,
        "pipelines": [describe(weaver, pipeline) for pipeline in weaver.catalog.pipelines()],
        "workers": weaver.workers.all(),
        "streams": len(list(weaver.catalog.streams())),
        "events": weaver.events.last,
    }


@router.post("/checkpoint")
async def checkpoint(weaver: UsesWeaver) -> dict[str, Any]:
    """Have every running pipeline tie a knot now; the answer names them."""
    workers = weaver.workers.connected()
    if not workers:
        raise NoWorkerError("checkpoint")
    tied: dict[str, int] = {}
    tasks = [weaver.tasks.submit("checkpoint", {}, worker=worker) for worker in workers]
    weaver.changed()
    for task in tasks:
        tied |= await weaver.tasks.wait(task, timeout=60)
    return {"knots": tied}
