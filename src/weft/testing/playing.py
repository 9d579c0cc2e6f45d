"""A real weaver and a real worker in this process, fed and looked at by a test."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from weft.clock import Clock, parse_iso
from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.loading.load import load
from weft.project.definition import Project
from weft.runtime import session
from weft.runtime.failures import TAKEN_AWAY
from weft.runtime.faults import CrashError, Faults
from weft.runtime.worker import Worker
from weft.schema.change import CHANGE
from weft.schema.weft import WEFT
from weft.sinks.rows import to_records
from weft.sources.feed import Feed
from weft.streams.current import current
from weft.streams.storage import Storage
from weft.weaver.serve import Server, make_server
from weft.weaver.stats import behind
from weft.weaving.rule import Rule

LONGEST_WAIT_S = 120.0
LEASE = timedelta(seconds=0.5)
LOOK_S = 0.05

Record = Mapping[str, Any] | str | bytes


class NotIdleError(WeftError):
    """The pipelines did not come to rest in time."""

    code = "testing.not-idle"


@functools.cache
def shared_session() -> SparkSession:
    """The one Spark session of a test run."""
    return session.create("local[2]", app="weft-tests")


@contextmanager
def play(
    project: str | Path | Mapping[str, Any],
    *,
    storage: str | Path,
    folder: str | Path | None = None,
    spark: SparkSession | None = None,
    clock: Clock | None = None,
) -> Iterator[Play]:
    """Run a project with every source replaced by what `feed` is given; the same storage resumes it.

    `folder` has the Python files of a project that is given as a mapping.
    """
    loaded = load(project, folder=folder)
    run = Play(loaded, Path(storage), spark or shared_session(), clock)
    try:
        run.resume()
        yield run
    finally:
        run.close()


class Play:
    """A project that runs under a test's hands."""

    def __init__(
        self, project: Project, storage: Path, spark: SparkSession, clock: Clock | None
    ) -> None:
        self.project = eager(project)
        self.storage = Storage(str(storage.absolute()))
        self.spark = spark
        self._clock = clock
        self._feeds: dict[str, Feed] = {}
        self._fed: dict[str, int] = {}
        self._crashed = threading.Event()
        self._worker: Worker | None = None
        self._thread: threading.Thread | None = None
        self._server = self._serve()

    @property
    def api(self) -> httpx.Client:
        """A client of the weaver's REST interface."""
        return self._api

    @property
    def worker(self) -> Worker:
        """The worker that runs now."""
        assert self._worker is not None
        return self._worker

    @property
    def address(self) -> str:
        """Where the weaver answers."""
        return self._server.address

    def feed(self, stream: str, records: Iterable[Record] = (), *, partition: int = 0) -> None:
        """One micro-batch into a source; returns when everything downstream is idle.

        A record is a mapping, written as JSON, or the raw text or bytes of one. After `crash` it returns when
        the worker is dead.
        """
        self.append(stream, records, partition=partition)
        self.settle()

    def watermark(self, stream: str, moment: datetime | str | int) -> None:
        """State the watermark of a source stream instead of deriving it: a time, ISO text, or milliseconds."""
        stated = parse_iso(moment) if isinstance(moment, str) else moment
        self.append(stream, (), watermark=stated)
        self.settle()

    def rows(self, stream: str, *, weft: bool = False) -> list[dict[str, Any]]:
        """The rows of a stream in the order of their knots, with `_weft` when asked for."""
        folder = Path(self.storage.table(stream))
        if not any(
            (folder / "_delta_log").glob("*.json")
        ):  # its folder is there before its first commit
            return []
        table = DeltaTable(str(folder))
        columns = [field.name for field in table.schema().fields]
        found: list[dict[str, Any]] = []
        for file in sorted(table.file_uris()):
            for batch in pq.ParquetFile(file).iter_batches():
                found += [
                    {name: row.get(name) for name in columns if weft or name != WEFT}
                    for row in to_records(batch)
                ]
        return found

    def documents(self, stream: str) -> list[dict[str, Any]]:
        """The newest row of each key of a changing stream that is not deleted, such as the documents of a product."""
        spec = self.project.stream(stream)
        names = [name for name in spec.schema.names if name != CHANGE]
        found = current(self.rows(stream, weft=True), spec.key)
        return [{name: row.get(name) for name in names} for row in found]

    def knots(self, stream: str, *, all: bool = False) -> list[Knot]:
        """The knots of a stream, oldest first; `all` gives those that were rolled back too."""
        forms = self.api.get("/knots", params={"stream": stream, "limit": 1000}).raise_for_status()
        knots = [Knot.from_dict(form) for form in reversed(forms.json())]
        return [knot for knot in knots if all or knot.status is Status.COMPLETE]

    def apply(
        self, project: str | Path | Mapping[str, Any], *, recompute: bool = False
    ) -> dict[str, list[str]]:
        """Deploy another version of the project; returns what changed when all of it is idle.

        What cannot go on with what is kept is refused, or with `recompute` run again from its recorded input.
        """
        wanted = eager(load(project))
        response = self.api.put("/project", json=wanted.to_dict(), params={"recompute": recompute})
        if response.is_error:
            raise WeftError.from_dict(response.json())
        self.project = wanted
        self.settle()
        changed = response.json()
        return {name: changed[name] for name in ("added", "changed", "removed")}

    def attach(self, *, stream: str, steps: list[Any], **options: Any) -> Rule:
        """Attach a rule, in force from the next batch on; options as in POST /rules."""
        return Rule.from_dict(self.post("/rules", {"stream": stream, "steps": steps, **options}))

    def promote(self, rule: str, **options: Any) -> Rule:
        """Change the share of a rule (`percent`) or move it into place (`in_place`)."""
        return Rule.from_dict(self.post(f"/rules/{rule}/promote", options))

    def retire(self, rule: str, *, now: bool = False) -> Rule:
        """End a rule from the next batch on; with `now` the batch in hand is pinned anew without it."""
        query = "?now=true" if now else ""
        return Rule.from_dict(self.post(f"/rules/{rule}/retire{query}", {}))

    def rollback(self, stream: str, *, to: int) -> dict[str, Any]:
        """Roll a stream back to a knot, and everything downstream with it; returns when all is idle."""
        done = self.post("/rollbacks", {"stream": stream, "to": to})
        self.settle()
        return done

    def crash(self, at: str, *, visit: int = 1) -> None:
        """The next batch dies at this point of the spine, as by kill -9; `resume` starts a new worker."""
        self._faults.plan(at, visit=visit)

    def wait_for_crash(self, *, timeout: float = LONGEST_WAIT_S) -> None:
        """Wait until the planned crash has happened, in whatever the worker does beside its pipelines."""
        if not self._crashed.wait(timeout):
            raise NotIdleError(f"The worker was alive after {timeout:.0f} s.")
        self._drop_worker()

    def resume(self) -> None:
        """A new worker on the same storage."""
        self._drop_worker()
        self._crashed = threading.Event()
        self._faults = Faults(functools.partial(_die, self._crashed))
        self._worker = Worker(
            self.spark,
            self._server.address,
            self.storage,
            faults=self._faults,
            feeds=self._feed_folder,
        )
        self._thread = threading.Thread(target=self._worker.run, name="worker", daemon=True)
        self._thread.start()
        self.settle()

    def settle(self, *, timeout: float = LONGEST_WAIT_S) -> None:
        """Wait until everything that was fed has gone all the way, or the planned crash has happened."""
        deadline = time.monotonic() + timeout
        while self._unfinished():
            if self._crashed.is_set():
                self._drop_worker()
                return
            self._raise_failure()
            if time.monotonic() > deadline:
                raise NotIdleError(
                    f"The pipelines were not idle after {timeout:.0f} s: {self._unfinished()}.",
                    hint="Look at GET /pipelines and at the worker's log.",
                )
            self._wait_for_news()

    def _wait_for_news(self) -> None:
        """Wait until something has happened; what is no event is seen soon enough."""
        events = self._server.weaver.events
        known, until = events.last, time.monotonic() + LOOK_S
        while events.last == known and time.monotonic() < until and not self._crashed.is_set():
            time.sleep(0.002)

    def close(self) -> None:
        """Stop worker and weaver; what was stored stays."""
        if self._worker is not None:
            self._worker.stop()
            self._server.weaver.changed()  # it may be waiting for news
            assert self._thread is not None
            self._thread.join(timeout=60)
        self._api.close()
        self._server.stop()

    def _serve(self) -> Server:
        server = make_server(self.storage, port=0, clock=self._clock)
        server.weaver.leases.duration = LEASE
        server.start()
        self._api = httpx.Client(
            base_url=server.address, timeout=120, trust_env=False, verify=False
        )
        deadline = time.monotonic() + 10
        while True:
            try:
                self._api.put("/project", json=self.project.to_dict()).raise_for_status()
                return server
            except httpx.ConnectError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """What the weaver answers to a request; raises what it refuses with."""
        response = self.api.post(path, json=body)
        answer: dict[str, Any] = response.json()
        if response.is_error:
            raise WeftError.from_dict(answer)
        return answer

    def append(self, stream: str, records: Iterable[Record], **options: Any) -> None:
        """Feed records as `feed` does, and wait for nothing."""
        spec = self.project.stream(stream)
        if not spec.ingested:
            raise WeftError(
                f"Stream '{stream}' has no source, so it cannot be fed.",
                code="testing.not-a-source",
                domain="user",
                hint=f"It is written by pipeline '{spec.pipeline}'; feed one of its inputs.",
            )
        feed = self._feeds.setdefault(stream, Feed(self._feed_folder(stream)))
        self._fed[stream] = feed.append(records, **options)

    def _feed_folder(self, stream: str) -> str:
        return f"{self.storage.source(stream)}/feed"

    def _unfinished(self) -> list[str]:
        weaver = self._server.weaver
        waiting = []
        # In the order data moves: one that is done while those before it are looked at would hide what it left to them.
        for pipeline in weaver.catalog.in_order(list(weaver.catalog.pipelines())):
            if pipeline.desired == "stopped":
                continue
            fed = self._fed.get(pipeline.name, 0)
            if (
                weaver.operations.hold(pipeline.name) is not None
                or any(behind(weaver, pipeline).values())
                or (fed and self._consumed(pipeline.name) < fed)
            ):
                waiting.append(pipeline.name)
        return waiting

    def _consumed(self, stream: str) -> int:
        head = self._server.weaver.knots.head(stream).number
        return 0 if head is None else self._segment(stream, head)

    def _segment(self, stream: str, number: int) -> int:
        position = self._server.weaver.knots.get(stream, number).offsets.end[0]
        return int(position["segment"]) if position else 0

    def _raise_failure(self) -> None:
        worker = self._worker
        failed = worker.failures() if worker is not None else {}
        for error in failed.values():
            if error.code not in TAKEN_AWAY:
                raise error

    def _drop_worker(self) -> None:
        if self._worker is None:
            return
        assert self._thread is not None
        self._worker.abandon()
        self._thread.join(timeout=60)
        self._worker = None


def _die(crashed: threading.Event) -> None:
    crashed.set()
    raise CrashError


def eager(project: Project) -> Project:
    """The project with batches that run as soon as something was fed."""
    return replace(project, processing=replace(project.processing, checkpoint_interval=0.0))
