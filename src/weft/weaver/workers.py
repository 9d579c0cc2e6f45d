"""Workers: who is connected, and what each should be running. One long-polled call carries both ways."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from weft.clock import Clock, iso, parse_iso
from weft.weaver.catalog import Catalog
from weft.weaver.leases import LeaseLostError, Leases
from weft.weaver.store.records import Records, put


@dataclass(frozen=True)
class Report:
    """What a worker says of itself at each sync."""

    worker: str
    host: str
    pid: int
    master: str
    started: str
    pipelines: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The pipelines that failed and have not tied a knot since, with the error."""


class Workers:
    """The workers, and the division of pipelines between them."""

    def __init__(self, records: Records, clock: Clock, catalog: Catalog, leases: Leases) -> None:
        self._records = records
        self._clock = clock
        self._catalog = catalog
        self._leases = leases
        self.waiting: set[str] = set()
        """The workers that wait for something to do at this moment."""

    def all(self) -> list[dict[str, Any]]:
        """All workers that were ever here, newest contact last, with what they hold."""
        now = self._clock.now()
        return [
            {
                **fields,
                "connected": fields["worker"] in self.waiting
                or now - parse_iso(fields["seen"]) < self._leases.duration,
                "leases": sorted(self._leases.held_by(fields["worker"])),
            }
            for fields in self._records.scan("worker")
        ]

    def connected(self) -> list[str]:
        """The ids of the workers heard from lately."""
        return [worker["worker"] for worker in self.all() if worker["connected"]]

    def note(self, report: Report) -> None:
        """Remember what a worker said of itself."""
        record = {**asdict(report), "seen": iso(self._clock.now())}
        self._records.store.apply([put("worker", report.worker, record=record)])

    def renew(self, worker: str, tokens: Mapping[str, int]) -> None:
        """Extend the leases that a worker still holds."""
        for pipeline, token in tokens.items():
            with suppress(LeaseLostError):  # it learns so at its next sync
                self._leases.renew(pipeline, worker, token)

    def assign(self, report: Report) -> dict[str, dict[str, Any]]:
        """What this worker should run from now on: its leases renewed, free pipelines added.

        A pipeline that should not run, or that is held by a rollback, is left out; the worker stops it and
        no longer reports it, and then its lease is given back.
        """
        wanted = {
            pipeline.name: pipeline
            for pipeline in self._catalog.pipelines()
            if pipeline.desired == "running" and pipeline.hold is None
        }
        held = self._leases.held_by(report.worker)
        for name, lease in list(held.items()):
            if name not in report.pipelines and name not in wanted:
                self._leases.release(name, report.worker, lease.token)
                del held[name]
        for name, running in report.pipelines.items():
            try:
                held[name] = self._leases.renew(name, report.worker, running["token"])
            except LeaseLostError:
                held.pop(name, None)
        share = math.ceil(len(wanted) / max(1, len(self.connected())))
        for name in wanted:
            if name not in held and len(held) < share:
                given = self._leases.acquire(name, report.worker)
                if given is not None:
                    held[name] = given
        return {
            name: {
                "token": lease.token,
                "epoch": wanted[name].epoch,
                "version": wanted[name].version,
            }
            for name, lease in held.items()
            if name in wanted
        }
