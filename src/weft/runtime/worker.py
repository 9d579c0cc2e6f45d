"""The worker: a Spark driver that runs the pipelines it holds leases for, and does what needs data.

It asks the weaver again and again what should run (one long-polled call) and brings its threads in line with
the answer. A pipeline that fails is started again with back-off; a weaver that is away is waited for.
"""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pyspark.sql import SparkSession

from weft import codec
from weft.clock import SystemClock, iso
from weft.errors import WeftError
from weft.lineage.identity import Identity
from weft.logs import get_logger
from weft.operations.operation import PATIENCE_S
from weft.project.definition import Project, StreamSpec, changing_keys
from weft.runtime import belonging, keyframes, outlets, session
from weft.runtime.client import WeaverAwayError, WeaverClient
from weft.runtime.executors import Bounds, Executors
from weft.runtime.failures import TAKEN_AWAY, Failures, as_weft
from weft.runtime.faults import Faults
from weft.runtime.heartbeat import Heartbeat
from weft.runtime.load import LoadMeter
from weft.runtime.pipeline import RunningPipeline
from weft.runtime.rota import Rota
from weft.runtime.tasks import TaskRunner
from weft.runtime.thread import PipelineThread
from weft.sinks import Sink
from weft.steps.function import FunctionVersion
from weft.streams.storage import Storage
from weft.streams.tables import Tables

log = get_logger(__name__)

STOPPING_S = 0.02
"""While a pipeline is being stopped, the weaver is told soon that it has."""
LONGEST_REASON = 2000


class Worker:
    """Runs pipelines on one Spark session until it is stopped."""

    def __init__(
        self,
        spark: SparkSession,
        address: str,
        storage: Storage,
        *,
        faults: Faults | None = None,
        feeds: Callable[[str], str | None] = lambda _: None,
        name: str | None = None,
        executors: Bounds | None = None,
        labels: Sequence[str] = (),
    ) -> None:
        self.id = name or f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self.spark = spark
        self.storage = storage
        self.faults = faults or Faults.from_environment()
        self._feeds = feeds
        self._labels = list(labels)
        self._address = address
        self._line = WeaverClient(address)
        self._started = iso(SystemClock().now())
        self._threads: dict[str, PipelineThread] = {}
        self._rota = Rota()
        self._assigned: dict[str, int] = {}
        self._versions: dict[str, tuple[str, int]] = {}
        self._failures = Failures()
        self._project: Project | None = None
        self._project_hash: str | None = None
        self._identity = Identity("", "")
        self._stopping = threading.Event()
        self._heartbeat = Heartbeat(self._line, self.id, self._tokens)
        self._tasks = TaskRunner(self)
        self._executors = Executors(spark, executors)
        self._load = LoadMeter(spark, self._executors)

    @property
    def threads(self) -> Mapping[str, PipelineThread]:
        """The threads that run now, by pipeline."""
        return self._threads

    @property
    def project(self) -> Project | None:
        """The project as it was last deployed."""
        return self._project

    @property
    def functions(self) -> Mapping[str, FunctionVersion]:
        """The Python functions of the project."""
        return self._project.functions if self._project else {}

    @property
    def state_kind(self) -> Literal["rocksdb", "memory"]:
        """Where the project keeps operator state."""
        return self._project.processing.state if self._project else "rocksdb"

    @property
    def identity(self) -> Identity:
        """The history that the weaver keeps, in its present generation."""
        return self._identity

    @property
    def executors(self) -> Executors:
        """Those that its tasks run on."""
        return self._executors

    @property
    def line(self) -> WeaverClient:
        """Its line to the weaver."""
        return self._line

    def feed(self, stream: str) -> str | None:
        """The folder that is read in place of a stream's source, if the test kit has one."""
        return self._feeds(stream)

    def weaver(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the weaver something."""
        return self._line.call(method, path, body)

    def failures(self) -> Mapping[str, WeftError]:
        """The pipelines that failed and have not tied a knot since, with the reason."""
        return self._failures.errors()

    def run(self) -> None:
        """Work until `stop` is called from another thread or a signal handler."""
        revision, wait = -1, 0.0
        self._heartbeat.start()
        log.info("worker %s is up, master %s", self.id, self.spark.sparkContext.master)
        while not self._stopping.is_set():
            try:
                answer = self._sync(revision, wait)
                self._adopt(answer["project"])
                self._identity = codec.from_form(Identity, answer["identity"])
                self._heartbeat.synced(answer["lease_s"])
            except WeaverAwayError as error:
                log.warning("%s", error.message)
                self._stopping.wait(1.0)
                continue
            revision, wait = answer["revision"], 1.0
            if self.reconcile(answer["pipelines"], answer["patience"]):
                wait = STOPPING_S
            self._tick_idle()
            self._end_overdue()
            self._keep_states()
            self._scale(answer["executors"])
            for task in answer["tasks"]:
                self._tasks.start(task)
            for number in answer["called_off"]:
                self._tasks.call_off(number)
        self._shut_down()

    def stop(self) -> None:
        """Finish the batches in hand, tie their knots, give the leases back, end `run`."""
        self._stopping.set()

    def abandon(self) -> None:
        """Drop everything as `kill -9` does; only the test kit does this."""
        self._stopping.set()
        self._heartbeat.end()
        for thread in list(self._threads.values()):  # the loop may be starting one just now
            thread.abandon()
        self._threads.clear()
        self._line.close()

    def reconcile(
        self, wanted: Mapping[str, Mapping[str, Any]], patience: Mapping[str, float]
    ) -> bool:
        """Bring the running threads in line with what is wanted; True while something is being stopped."""
        self._assigned = {name: now["token"] for name, now in wanted.items()}
        self._collect_failures()
        for name, thread in list(self._threads.items()):
            now = wanted.get(name)
            if thread.is_stopping or (
                now is not None and (now["version"], now["epoch"]) == self._versions[name]
            ):
                continue
            log.info("pipeline %s stops", name)
            thread.is_stopping = True
            # Beside the loop: a batch may take its time to end, and other pipelines go on meanwhile.
            left = patience.get(name, PATIENCE_S)
            threading.Thread(target=self._stop, args=(name, thread, left), daemon=True).start()
        for name, assignment in wanted.items():
            if name not in self._threads and not self._failures.is_waiting(name):
                self._start(name, assignment)
        return any(thread.is_stopping for thread in list(self._threads.values()))

    def _stop(self, name: str, thread: PipelineThread, patience: float) -> None:
        thread.stop(patience=patience)
        failure = thread.failure()
        if thread.was_cancelled and failure is not None:
            self._tell_failure(thread, failure)
        if self._threads.get(name) is thread:
            del self._threads[name]
            self._load.forget(thread)

    def _end_overdue(self) -> None:
        """Cancel batches that have been running for longer than a batch may."""
        for thread in list(self._threads.values()):
            if not thread.is_stopping and thread.is_overdue():
                deadline = thread.run.project.processing.deadline_seconds
                reason = f"it ran for longer than {deadline:g} s"
                threading.Thread(target=thread.cancel, args=(reason,), daemon=True).start()

    def stream_of(self, pipeline: str) -> StreamSpec:
        """The stream that a pipeline writes."""
        assert self._project is not None
        spec = self._project.pipelines.get(pipeline)
        return self._project.stream(spec.to if spec else pipeline)

    def check_operation(self, name: str, *, forward: bool = False) -> None:
        """Refuse to go on with an operation that is over: a worker that slept may come too late for a step of it.

        `forward` is for what is done only while nobody has given the operation up.
        """
        status = self.weaver("GET", f"/operations/{name}")["status"]
        if status not in (("running",) if forward else ("running", "aborting")):
            raise WeftError(
                f"{name} is {status}; nothing is done for it any longer.",
                code="operation.over",
                domain="conflict",
                operation=name,
            )

    def open_sinks(self, pipeline: str) -> list[Sink]:
        """The sinks that a pipeline's stream goes to."""
        return outlets.open_sinks(self, pipeline)

    def _keep_states(self) -> None:
        """Keep the state of every so many knots of the pipelines that have any."""
        for thread in list(self._threads.values()):
            run = thread.run
            if not run.shape.operator or run.tip is None:
                continue
            if run.tip.number - run.kept >= run.project.processing.keyframes.every:
                run.kept = run.tip.number
                keyframes.keep(run, run.tip)

    def _scale(self, wanted: int | None) -> None:
        """Have as many executors as the weaver wants, if it wants another number."""
        if wanted is not None:
            self._executors.want(wanted)
        self._executors.tend()

    def _tick_idle(self) -> None:
        """Run an empty batch where time alone changes something: a partition that has become idle."""
        for thread in list(self._threads.values()):
            if thread.run.streamed.is_due(SystemClock().now()):
                thread.tick()

    def _start(self, name: str, assignment: Mapping[str, Any]) -> None:
        assert self._project is not None
        project = self._project
        spec = project.pipelines.get(name)
        stream = self.stream_of(name)
        run = RunningPipeline(
            name=name,
            project=project,
            stream=stream,
            spec=spec,
            epoch=assignment["epoch"],
            token=assignment["token"],
            worker=self.id,
            spark=session.fork(self.spark),
            storage=self.storage,
            client=WeaverClient(self._address),
            faults=self.faults,
            tables=Tables(self.spark, self.storage, keys=changing_keys(self.project)),
            version=assignment["version"],
            feed=self._feeds(name) if spec is None else None,
        )
        try:
            belonging.check(self, run, assignment["streams"])
            run.sinks = self.open_sinks(name)
            if assignment["redeliver"]:
                run.deliver_newest()
            self._threads[name] = PipelineThread(run, self._rota)
        except Exception as error:
            self._failures.note(name, as_weft(name, error))
            return
        self._versions[name] = (assignment["version"], assignment["epoch"])
        log.info("pipeline %s runs, epoch %d, token %d", name, run.epoch, run.token)

    def _collect_failures(self) -> None:
        for name, thread in list(self._threads.items()):
            if thread.is_active or thread.is_stopping or thread.has_crashed:
                continue
            self._threads.pop(name, None)  # `abandon` may have been quicker
            self._load.forget(thread)
            failure = thread.failure()
            if failure is not None and not self._failures.is_slow_start(name, failure):
                self._tell_failure(thread, failure)
                self._failures.note(name, failure)

    def _tell_failure(self, thread: PipelineThread, error: WeftError) -> None:
        """Mark the knot in hand, unless the pipeline was taken away or the weaver cannot be told."""
        if error.code in TAKEN_AWAY:
            return
        run = thread.run
        body = {"worker": self.id, "token": run.token, "reason": error.message[:LONGEST_REASON]}
        try:
            self._line.call("POST", f"/pins/{run.stream.name}/fail", body)
        except WeftError as refused:
            log.warning(
                "the failure of pipeline %s is not noted: %s", thread.run.name, refused.message
            )

    def _sync(self, revision: int, wait: float) -> Any:
        load = self._load.measure(dict(self._threads))
        body = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "master": self.spark.sparkContext.master,
            "started": self._started,
            "revision": revision,
            "wait": wait,
            "pipelines": self._report(),
            "failed": {
                name: error.to_dict()
                for name, error in self.failures().items()
                if name in self._assigned
            },
            "labels": self._labels,
            "load": None if load is None else codec.to_form(load),
        }
        answer = self._line.call("POST", f"/workers/{self.id}/sync", body)
        if load is not None:
            self._load.heard()
        return answer

    def _tokens(self) -> dict[str, int]:
        """The leases to keep: of threads that run, and of those that are about to be started."""
        running = {name: thread.run.token for name, thread in list(self._threads.items())}
        waiting = {n: token for n, token in self._assigned.items() if n not in self.failures()}
        return {**waiting, **running}

    def _report(self) -> dict[str, dict[str, Any]]:
        report: dict[str, dict[str, Any]] = {}
        for name, thread in list(self._threads.items()):
            if thread.run.counted.batches:
                self._failures.forget(name)
            report[name] = {
                "token": thread.run.token,
                "state": _state(thread),
                "tied": thread.run.counted.batches,
                "state_size": thread.run.streamed.state_size(),
                "waits": thread.run.waits,
            }
        return report

    def _adopt(self, version: str | None) -> None:
        if version is not None and version != self._project_hash:
            form = self._line.call("GET", f"/workers/{self.id}/project")
            self._project = Project.from_dict(form)
            self._project_hash = version

    def _shut_down(self) -> None:
        for name, thread in list(self._threads.items()):
            thread.stop()
            try:
                self._line.call(
                    "POST",
                    f"/workers/{self.id}/release",
                    {"pipeline": name, "token": thread.run.token},
                )
            except WeaverAwayError:
                log.info("the weaver is away; the lease of %s ends by itself", name)
        self._threads.clear()
        self._heartbeat.end()
        self._line.close()


def _state(thread: PipelineThread) -> str:
    if thread.is_stopping:
        return "stopping"
    return "running" if thread.is_active else "failed"
