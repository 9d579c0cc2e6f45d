"""Workers: who is connected, and the call by which they learn what to do."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from weft.lineage.identity import Mark, TableHead
from weft.scaling.measured import WorkerLoad
from weft.weaver.belonging import check_histories
from weft.weaver.routes import Answer, Text, UsesWeaver, Whole, make_router
from weft.weaver.workers import Orders, Running, WorkerReport, WorkerStatus

router = make_router("workers")
Few = Annotated[int, Field(ge=-1, le=2**62)]


@router.get("/workers", response_model=list[WorkerStatus])
async def list_workers(weaver: UsesWeaver) -> Answer:
    """The workers, whether they are connected, and the pipelines they hold."""
    return Answer(weaver.workers.all())


class Sync(BaseModel):
    """What a worker says of itself."""

    host: Text
    pid: Whole
    master: Text
    started: Text
    revision: Few = -1
    wait: float = Field(default=2.0, ge=0, le=10)
    pipelines: dict[str, Running] = {}
    failed: dict[str, dict[str, Any]] = {}
    load: WorkerLoad | None = None
    labels: Annotated[tuple[Text, ...], Field(max_length=100)] = ()


@router.post("/workers/{worker}/sync", response_model=Orders)
async def sync(weaver: UsesWeaver, worker: str, body: Sync) -> Answer:
    """Report in and learn what to run and do; waits until something changes."""
    report = WorkerReport(
        *(worker, body.host, body.pid, body.master, body.started, body.pipelines, body.failed),
        labels=body.labels,
    )
    return Answer(await weaver.sync(report, revision=body.revision, wait=body.wait, load=body.load))


class Renewal(BaseModel):
    """The leases that a worker holds, by pipeline with their tokens."""

    leases: dict[str, Whole]


@router.post("/workers/{worker}/renew", status_code=204)
async def renew(weaver: UsesWeaver, worker: str, body: Renewal) -> None:
    """Extend leases while their worker is busy with something else than a sync."""
    weaver.workers.renew(worker, body.leases)


class Histories(BaseModel):
    """What a worker found in storage for a pipeline that it is about to run."""

    pipeline: str
    tables: list[TableHead] = []
    checkpoint: Mark | None = None


@router.post("/workers/{worker}/histories", status_code=204)
async def judge(weaver: UsesWeaver, worker: str, body: Histories) -> None:
    """Say whether what lies in storage belongs to the history that this weaver keeps."""
    check_histories(weaver, body.pipeline, body.tables, body.checkpoint)


class TaskAnswer(BaseModel):
    """What came of a task."""

    id: Whole
    result: Any = None
    error: dict[str, Any] | None = None


@router.post("/workers/{worker}/answers", status_code=204)
async def answer(weaver: UsesWeaver, worker: str, body: list[TaskAnswer]) -> None:
    """Hand over finished tasks to those who wait for them."""
    for done in body:
        weaver.tasks.answer(done.id, result=done.result, error=done.error)


class Release(BaseModel):
    """A lease that its worker gives back."""

    pipeline: str
    token: Whole


@router.post("/workers/{worker}/release", status_code=204)
async def release(weaver: UsesWeaver, worker: str, body: Release) -> None:
    """Give a lease back, so that another worker can take the pipeline at once."""
    weaver.leases.release(body.pipeline, worker, body.token)
    weaver.changed()
