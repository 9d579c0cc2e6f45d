"""The service itself: is it well, what is going on, a knot for everyone now, and a backup."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import weft
from weft.weaver.routes import Answer, Body, Text, UsesWeaver, make_router
from weft.weaver.routes.operations import OperationView, view
from weft.weaver.stats import PipelineStatus, describe
from weft.weaver.tasks import TAKEN_WITHIN_S, NoWorkerError
from weft.weaver.workers import WorkerStatus

router = make_router("service")


@dataclass(frozen=True)
class Health:
    """Whether the weaver answers, since when, and whose it is."""

    status: Literal["ok"]
    version: str
    started: str
    pid: int
    history: str
    """The history that its store keeps."""
    project: str | None


@dataclass(frozen=True)
class ServiceStatus:
    """The project, its pipelines and the workers at a glance."""

    project: str | None
    version: str | None
    pipelines: tuple[PipelineStatus, ...]
    workers: tuple[WorkerStatus, ...]
    streams: int
    events: int
    operations: tuple[str, ...]
    """The operations that are not over."""


@dataclass(frozen=True)
class TiedKnots:
    """The knot that each running pipeline has tied."""

    knots: Mapping[str, int]


@router.get("/health", response_model=Health)
async def health(weaver: UsesWeaver) -> Answer:
    """Whether the weaver answers, since when, and whose it is."""
    project = weaver.catalog.find_project()
    return Answer(
        Health(
            status="ok",
            version=weft.__version__,
            started=weaver.started,
            pid=os.getpid(),
            history=weaver.identity.history,
            project=project.name if project else None,
        )
    )


@router.get("/status", response_model=ServiceStatus)
async def status(weaver: UsesWeaver) -> Answer:
    """The project, its pipelines and the workers at a glance."""
    project = weaver.catalog.find_project()
    operations = await weaver.operations.runner.all()
    return Answer(
        ServiceStatus(
            project=project.name if project else None,
            version=project.hash if project else None,
            pipelines=tuple(describe(weaver, one) for one in weaver.catalog.pipelines()),
            workers=tuple(weaver.workers.all()),
            streams=len(list(weaver.catalog.streams())),
            events=weaver.events.last,
            operations=tuple(one.id for one in operations if not one.is_over),
        )
    )


@router.post("/checkpoint", response_model=TiedKnots)
async def checkpoint(weaver: UsesWeaver) -> Answer:
    """Have every running pipeline tie a knot now; the answer names them."""
    busy = [one.worker for one in weaver.workers.all() if one.connected and one.leases]
    if not weaver.workers.connected():
        raise NoWorkerError("checkpoint")
    tied: dict[str, int] = {}
    tasks = [weaver.tasks.submit("checkpoint", {}, worker=worker) for worker in busy]
    weaver.changed()
    for task in tasks:
        tied |= await weaver.tasks.wait(task, timeout=60, taken_within=TAKEN_WITHIN_S)
    return Answer(TiedKnots(tied))


class Backup(Body):
    """The name of a backup, which goes into a folder of that name beside the storage."""

    name: Text


@router.post("/backups", response_model=OperationView)
async def back_up(weaver: UsesWeaver, body: Backup) -> Answer:
    """Copy everything that is stored while all pipelines stand still."""
    return Answer(view(await weaver.operations.run("backup", {"name": body.name})))
