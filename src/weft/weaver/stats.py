"""How pipelines are doing, told from their knots and from what their workers say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import quantiles
from typing import Any, Literal

from weft.clock import parse_iso
from weft.lineage.knot import Knot, Status
from weft.weaver.catalog import Desired, Pipeline
from weft.weaver.weaver import Weaver
from weft.weaver.workers import Running

LOOK_BACK = 1000
State = Literal["held", "stopped", "waiting", "starting", "running", "stopping", "failed"]


@dataclass(frozen=True)
class PipelineStatus:
    """A pipeline: what it should do, who runs it, where it stands, how far it is behind."""

    id: str
    stream: str
    inputs: tuple[str, ...]
    desired: Desired
    state: State
    error: Mapping[str, Any] | None
    operation: str | None
    """The operation that holds it."""
    worker: str | None
    epoch: int
    version: str
    knot: int | None
    behind: Mapping[str, int]
    """How many live knots of each input it has not consumed yet."""
    starting_s: int | None = None
    """For how long its worker has been starting it."""
    waits: str = ""
    """What it holds changes back for, if only whole transactions are shown."""


@dataclass(frozen=True)
class Spread:
    """The middle and the slow end of batch times, in milliseconds."""

    p50: float
    p95: float


@dataclass(frozen=True)
class PipelineStats:
    """Counts, rates and batch times over the last knots of a pipeline."""

    id: str
    knots: int
    rows_in: int
    rows_out: int
    filtered: int
    dead: int
    late: int
    absorbed: int
    rows_per_second: float | None
    batch_ms: Spread | None
    behind: Mapping[str, int]


def describe(weaver: Weaver, pipeline: Pipeline) -> PipelineStatus:
    """How a pipeline is doing."""
    holder = weaver.leases.holder(pipeline.name)
    hold = weaver.operations.hold(pipeline.name)
    running, error = _report(weaver, pipeline.name, holder)
    is_held = hold is not None and hold.grip == "stopped"
    state = "held" if is_held else _state(pipeline, holder, running, error)
    return PipelineStatus(
        id=pipeline.name,
        stream=pipeline.stream,
        inputs=pipeline.inputs,
        desired=pipeline.desired,
        state=state,
        error=error,
        operation=hold.operation if hold else None,
        worker=holder,
        epoch=pipeline.epoch,
        version=pipeline.version,
        knot=weaver.knots.head(pipeline.stream).number,
        behind=behind(weaver, pipeline),
        starting_s=weaver.workers.starting_s(pipeline.name) if state == "starting" else None,
        waits=running.waits if running is not None else "",
    )


def behind(weaver: Weaver, pipeline: Pipeline) -> dict[str, int]:
    """How many live knots of each input this pipeline has not consumed yet."""
    consumed = consumed_by(weaver, pipeline)
    return {name: max(0, _newest(weaver, name) - consumed.get(name, 0)) for name in pipeline.inputs}


def _newest(weaver: Weaver, stream: str) -> int:
    """The newest live knot that wrote to a stream; a dead-letter stream is not written by every knot."""
    found = weaver.catalog.find_stream(stream)
    if found is None or found.kind == "main":
        return weaver.knots.head(stream).number or 0
    for knot in weaver.knots.log(found.origin, limit=LOOK_BACK):
        if knot.status is Status.COMPLETE and stream in knot.outputs:
            return knot.number
    return 0


def consumed_by(weaver: Weaver, pipeline: Pipeline) -> Mapping[str, int]:
    """The newest knot of each input that the pipeline's live knots have consumed."""
    knot = weaver.knots.newest(pipeline.stream)
    return knot.offsets.inputs if knot else {}


def stats(weaver: Weaver, pipeline: Pipeline, *, knots: int) -> PipelineStats:
    """Counts, rates and batch times over the last knots."""
    recent = [
        knot
        for knot in weaver.knots.log(pipeline.stream, limit=knots)
        if knot.status is Status.COMPLETE
    ]
    durations = [knot.duration_ms for knot in recent]
    rows_in = sum(knot.ledger.rows_in for knot in recent)
    return PipelineStats(
        id=pipeline.name,
        knots=len(recent),
        rows_in=rows_in,
        rows_out=sum(sum(output.rows for output in knot.outputs.values()) for knot in recent),
        filtered=sum(sum(knot.ledger.filtered.values()) for knot in recent),
        dead=sum(knot.ledger.dead for knot in recent),
        late=sum(knot.ledger.late for knot in recent),
        absorbed=sum(knot.ledger.absorbed for knot in recent),
        rows_per_second=_rate(recent, rows_in),
        batch_ms=_spread(durations),
        behind=behind(weaver, pipeline),
    )


def _rate(recent: list[Knot], rows: int) -> float | None:
    if len(recent) < 2 or not recent[0].completed:
        return None
    seconds = (parse_iso(recent[0].completed) - parse_iso(recent[-1].now)).total_seconds()
    return round(rows / seconds, 1) if seconds > 0 else None


def _spread(durations: list[int]) -> Spread | None:
    if len(durations) < 2:
        return Spread(durations[0], durations[0]) if durations else None
    cuts = quantiles(durations, n=20, method="inclusive")
    return Spread(round(cuts[9], 1), round(cuts[18], 1))


def _report(
    weaver: Weaver, pipeline: str, worker: str | None
) -> tuple[Running | None, Mapping[str, Any] | None]:
    """What a worker says of a pipeline while it runs it, and the error that it last failed with."""
    report = weaver.workers.find_report(worker) if worker else None
    if report is None:
        return None, None
    return report.pipelines.get(pipeline), report.failed.get(pipeline)


def _state(
    pipeline: Pipeline,
    holder: str | None,
    running: Running | None,
    error: Mapping[str, Any] | None,
) -> State:
    if holder is None:
        return "stopped" if pipeline.desired == "stopped" else "waiting"
    if running is not None:
        return running.state
    if pipeline.desired != "running":
        return "stopping"
    return "failed" if error else "starting"
