"""Workers: who is connected, and what each should be running. One long-polled call carries both ways."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, Protocol

from weft.clock import Clock, iso
from weft.errors import WeftError
from weft.lineage.identity import Identity
from weft.weaver.catalog import Catalog
from weft.weaver.leases import LeaseLostError, Leases
from weft.weaver.sharing import Sharing
from weft.weaver.tasks import TaskOrder

FORGET_AFTER = timedelta(hours=1)
"""A worker that was not heard for so long is no longer listed."""


@dataclass(frozen=True)
class StateSize:
    """How much an operator keeps."""

    rows: int | None = 0
    """None where entries are not counted."""
    bytes: int = 0


@dataclass(frozen=True)
class Running:
    """A pipeline as its worker sees it."""

    token: int
    state: Literal["starting", "running", "stopping", "failed"] = "running"
    tied: int = 0
    """How many knots it has tied since it was started."""
    state_size: StateSize | None = None
    waits: str = ""
    """What it holds changes back for."""


@dataclass(frozen=True)
class WorkerReport:
    """What a worker says of itself at each sync."""

    worker: str
    host: str
    pid: int
    master: str
    started: str
    pipelines: Mapping[str, Running] = field(default_factory=dict)
    failed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The pipelines that failed and have not tied a knot since, with the error."""
    labels: tuple[str, ...] = ()
    """What the project may ask of a worker that runs a pipeline."""


@dataclass(frozen=True)
class WorkerStatus:
    """A worker, whether it is connected, and the pipelines whose leases it holds."""

    worker: str
    host: str
    pid: int
    master: str
    started: str
    seen: str
    connected: bool
    leases: tuple[str, ...]
    pipelines: Mapping[str, Running]
    failed: Mapping[str, Mapping[str, Any]]
    labels: tuple[str, ...] = ()
    busy: float = 0.0
    """How many cores its pipelines have kept busy lately."""
    executors: int | None = None


@dataclass(frozen=True)
class Assignment:
    """A pipeline that a worker should run: with which lease, from which epoch, in which version."""

    token: int
    epoch: int
    version: str
    streams: tuple[str, ...] = ()
    """The streams that it has written so far."""
    redeliver: bool = False
    """Whether its newest knot is to be delivered to its sinks before it goes on."""


class BusyCores(Protocol):
    """What is measured of pipelines and workers."""

    def busy(self, pipeline: str) -> float:
        """How many cores a pipeline has kept busy lately."""

    def executors(self, worker: str) -> int | None:
        """How many executors a worker has, if it has said so."""


@dataclass(frozen=True)
class _Heard:
    report: WorkerReport
    seen: str
    at: timedelta


@dataclass(frozen=True)
class Orders:
    """What a worker is told at a sync: what to run, what to do, what to give up."""

    revision: int
    identity: Identity
    lease_s: float
    project: str | None
    pipelines: Mapping[str, Assignment]
    patience: Mapping[str, float]
    """For pipelines that an operation has stopped: for how long their batch in hand may go on."""
    tasks: tuple[TaskOrder, ...]
    called_off: tuple[int, ...]
    executors: int | None = None
    """How many executors there should be, where that is another number than was asked for."""


class Workers:
    """The workers, and the division of pipelines between them. A weaver that starts hears of them within seconds."""

    def __init__(
        self,
        clock: Clock,
        catalog: Catalog,
        leases: Leases,
        is_stopped: Callable[[str], bool],
        loads: BusyCores,
    ) -> None:
        self._clock = clock
        self._catalog = catalog
        self._leases = leases
        self._is_stopped = is_stopped
        self._loads = loads
        self._sharing = Sharing()
        self._heard: dict[str, _Heard] = {}
        self._starting: dict[str, timedelta] = {}
        self.waiting: set[str] = set()
        """The workers that wait for something to do at this moment."""

    def all(self) -> list[WorkerStatus]:
        """The workers that were here lately, with what they hold."""
        return [
            WorkerStatus(
                worker=name,
                host=heard.report.host,
                pid=heard.report.pid,
                master=heard.report.master,
                started=heard.report.started,
                seen=heard.seen,
                connected=self._is_connected(name),
                leases=tuple(sorted(self._leases.held_by(name))),
                pipelines=heard.report.pipelines,
                failed=heard.report.failed,
                labels=heard.report.labels,
                busy=sum(self._loads.busy(one) for one in self._leases.held_by(name)),
                executors=self._loads.executors(name),
            )
            for name, heard in self._heard.items()
        ]

    def connected(self) -> list[str]:
        """The ids of the workers heard from lately."""
        return [name for name in self._heard if self._is_connected(name)]

    def starting_s(self, pipeline: str) -> int | None:
        """For how many seconds a pipeline has been in the hands of a worker that does not run it yet."""
        since = self._starting.get(pipeline)
        return None if since is None else int((self._clock.elapsed() - since).total_seconds())

    def find_report(self, worker: str) -> WorkerReport | None:
        """What a worker said of itself last."""
        heard = self._heard.get(worker)
        return heard.report if heard else None

    def check_known(self, worker: str) -> None:
        """Refuse to tell someone who has not reported as a worker what only workers need to know."""
        if worker not in self._heard:
            raise WeftError(
                f"There is no worker '{worker}'.",
                code="worker.missing",
                domain="missing",
                hint="See `weft worker list`.",
                worker=worker,
            )

    def note(self, report: WorkerReport) -> None:
        """Remember what a worker said of itself."""
        now = self._clock.elapsed()
        self._heard = {n: h for n, h in self._heard.items() if now - h.at < FORGET_AFTER}
        self._heard[report.worker] = _Heard(report, iso(self._clock.now()), now)

    def renew(self, worker: str, tokens: Mapping[str, int]) -> None:
        """Extend the leases that a worker still holds; it is there, though its loop may be starting queries."""
        if (heard := self._heard.get(worker)) is not None:
            self.note(heard.report)
        for pipeline, token in tokens.items():
            with suppress(LeaseLostError):  # it learns so at its next sync
                self._leases.renew(pipeline, worker, token)

    def assign(self, report: WorkerReport) -> dict[str, Assignment]:
        """What this worker should run from now on: its leases renewed, free pipelines added.

        A pipeline that should not run, or that an operation has stopped, is left out; the worker stops it and
        no longer reports it, and then its lease is given back. Nothing runs by a project that was rebuilt: its
        sinks are not known until it is deployed.
        """
        wanted = {
            pipeline.name: pipeline
            for pipeline in self._catalog.pipelines()
            if pipeline.desired == "running" and not self._is_stopped(pipeline.name)
        }
        if self._catalog.is_rebuilt():
            wanted = {}
        held = self._leases.held_by(report.worker)
        for name, lease in list(held.items()):
            if name not in report.pipelines and name not in wanted:
                self._leases.release(name, report.worker, lease.token)
                del held[name]
        for name, running in report.pipelines.items():
            try:
                held[name] = self._leases.renew(name, report.worker, running.token)
            except LeaseLostError:
                held.pop(name, None)
        self._sharing.update(
            {name: self._busy(name) for name in self.connected()},
            lambda pipeline, worker: worker in self._able(pipeline),
            settled=all(self._is_settled(name) for name in self.connected()),
            now=self._clock.elapsed(),
        )
        wanted = {
            name: pipeline
            for name, pipeline in wanted.items()
            if report.worker in self._able(name) and not self._sharing.forbids(name, report.worker)
        }
        share = math.ceil(len(wanted) / max(1, len(self.connected())))
        for name in wanted:
            is_alone = self._able(name) == [report.worker]
            if name not in held and (len(held) < share or is_alone or self._is_expected(name)):
                given = self._leases.acquire(name, report.worker)
                if given is not None:
                    held[name] = given
        self._note_starts(held, report.pipelines)
        return {
            name: Assignment(
                lease.token,
                wanted[name].epoch,
                wanted[name].version,
                self._catalog.written_by(name),
                wanted[name].redeliver,
            )
            for name, lease in held.items()
            if name in wanted
        }

    def _is_expected(self, pipeline: str) -> bool:
        """Whether a pipeline is on its way to the worker that asks: to others it is forbidden."""
        move = self._sharing.move
        return move is not None and move.pipeline == pipeline

    def _busy(self, worker: str) -> dict[str, float]:
        """How many cores each pipeline of a worker keeps busy."""
        return {name: self._loads.busy(name) for name in self._leases.held_by(worker)}

    def _is_settled(self, worker: str) -> bool:
        """Whether a worker runs what it holds."""
        heard = self._heard[worker].report
        running = {name for name, one in heard.pipelines.items() if one.state == "running"}
        return set(self._leases.held_by(worker)) <= running

    def _able(self, pipeline: str) -> list[str]:
        """The connected workers that have every label that the project asks of who runs a pipeline."""
        project = self._catalog.find_project()
        asked = set(project.processing.placement.get(pipeline, ())) if project else set()
        return [name for name in self.connected() if asked <= set(self._heard[name].report.labels)]

    def _note_starts(self, held: Iterable[str], running: Mapping[str, Running]) -> None:
        for name in held:
            if name in running:
                self._starting.pop(name, None)
            else:
                self._starting.setdefault(name, self._clock.elapsed())

    def _is_connected(self, worker: str) -> bool:
        heard = self._heard[worker]
        silent = self._clock.elapsed() - heard.at
        return worker in self.waiting or silent < self._leases.duration
