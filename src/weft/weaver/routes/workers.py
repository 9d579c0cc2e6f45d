"""Workers: who is connected, and the call by which they learn what to do."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from weft.weaver.routes import UsesWeaver
from weft.weaver.workers import Report

router = APIRouter(tags=["workers"])


@router.get("/workers")
async def list_workers(weaver: UsesWeaver) -> list[dict[str, Any]]:
    """The workers, whether they are connected, and the pipelines they hold."""
    return weaver.workers.all()


class Sync(BaseModel):
    """What a worker says of itself."""

    host: str
    pid: int
    master: str
    started: str
    revision: int = -1
    wait: float = Field(default=2.0, ge=0, le=10)
    pipelines: dict[str, dict[str, Any]] = {}
    failed: dict[str, dict[str, Any]] = {}


@router.post("/workers/{worker}/sync")
async def sync(weaver: UsesWeaver, worker: str, body: Sync) -> dict[str, Any]:
    """Report in and learn what to run and do; waits until something changes."""
    report = Report(
        worker, body.host, body.pid, body.master, body.started, body.pipelines, body.failed
    )
    return await weaver.sync(report, revision=body.revision, wait=body.wait)


class Renewal(BaseModel):
    """The leases that a worker holds, by pipeline with their tokens."""

    leases: dict[str, int]


@router.post("/workers/{worker}/renew", status_code=204)
async def renew(weaver: UsesWeaver, worker: str, body: Renewal) -> None:
    """Extend leases while their worker is busy with something else than a sync."""
    weaver.workers.renew(worker, body.leases)


class Answer(BaseModel):
    """What came of a task."""

    id: int
    result: Any = None
    error: dict[str, Any] | None = None


@router.post("/workers/{worker}/answers", status_code=204)
async def answer(weaver: UsesWeaver, worker: str, body: list[Answer]) -> None:
    """Hand over finished tasks to those who wait for them."""
    for done in body:
        weaver.tasks.answer(done.id, result=done.result, error=done.error)


class Release(BaseModel):
    """A lease that its worker gives back."""

    pipeline: str
    token: int


@router.post("/workers/{worker}/release", status_code=204)
async def release(weaver: UsesWeaver, worker: str, body: Release) -> None:
    """Give a lease back, so that another worker can take the pipeline at once."""
    weaver.leases.release(body.pipeline, worker, body.token)
    weaver.changed()
