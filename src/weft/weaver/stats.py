"""How pipelines are doing, told from their knots alone."""

from __future__ import annotations

from statistics import quantiles
from typing import Any

from weft.clock import parse_iso
from weft.lineage.knot import Knot, Status
from weft.weaver.catalog import Pipeline
from weft.weaver.weaver import Weaver

LOOK_BACK = 1000


def describe(weaver: Weaver, pipeline: Pipeline) -> dict[str, Any]:
    """A pipeline: what it should do, who runs it, where it stands, how far it is behind."""
    head = weaver.knots.head(pipeline.stream)
    holder = weaver.leases.holder(pipeline.name)
    running, error = _report(weaver, pipeline.name, holder)
    return {
        "id": pipeline.name,
        "stream": pipeline.stream,
        "inputs": list(pipeline.inputs),
        "desired": pipeline.desired,
        "state": _state(pipeline, holder, running, error),
        "error": error,
        "worker": holder,
        "epoch": pipeline.epoch,
        "version": pipeline.version,
        "knot": head.number,
        "behind": behind(weaver, pipeline),
    }


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


def consumed_by(weaver: Weaver, pipeline: Pipeline) -> dict[str, int]:
    """The newest knot of each input that the pipeline's live knots have consumed."""
    head = weaver.knots.head(pipeline.stream).number
    knot = weaver.knots.find(pipeline.stream, head) if head is not None else None
    if knot is None:
        return {}
    positions: dict[str, int] = knot.offsets.get("inputs", {})
    return positions


def stats(weaver: Weaver, pipeline: Pipeline, *, knots: int) -> dict[str, Any]:
    """Counts, rates and batch times over the last knots."""
    recent = [
        knot
        for knot in weaver.knots.log(pipeline.stream, limit=knots)
        if knot.status is Status.COMPLETE
    ]
    durations = [knot.duration_ms for knot in recent]
    rows_in = sum(knot.ledger.rows_in for knot in recent)
    return {
        "id": pipeline.name,
        "knots": len(recent),
        "rows_in": rows_in,
        "rows_out": sum(sum(output.rows for output in knot.outputs.values()) for knot in recent),
        "filtered": sum(sum(knot.ledger.filtered.values()) for knot in recent),
        "dead": sum(knot.ledger.dead for knot in recent),
        "late": sum(knot.ledger.late for knot in recent),
        "absorbed": sum(knot.ledger.absorbed for knot in recent),
        "rows_per_second": _rate(recent, rows_in),
        "batch_ms": _spread(durations),
        "behind": behind(weaver, pipeline),
    }


def _rate(recent: list[Knot], rows: int) -> float | None:
    if len(recent) < 2 or not recent[0].completed:
        return None
    seconds = (parse_iso(recent[0].completed) - parse_iso(recent[-1].now)).total_seconds()
    return round(rows / seconds, 1) if seconds > 0 else None


def _spread(durations: list[int]) -> dict[str, float] | None:
    if len(durations) < 2:
        return {"p50": durations[0], "p95": durations[0]} if durations else None
    cuts = quantiles(durations, n=20, method="inclusive")
    return {"p50": round(cuts[9], 1), "p95": round(cuts[18], 1)}


def _report(
    weaver: Weaver, pipeline: str, worker: str | None
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """What a worker says of a pipeline while it runs it, and the error that it last failed with."""
    for known in weaver.workers.all() if worker else ():
        if known["worker"] == worker:
            return known["pipelines"].get(pipeline, {}), known["failed"].get(pipeline)
    return {}, None


def _state(
    pipeline: Pipeline, holder: str | None, running: dict[str, Any], error: dict[str, Any] | None
) -> str:
    if pipeline.hold is not None:
        return "held"
    if holder is None:
        return "stopped" if pipeline.desired == "stopped" else "waiting"
    if running.get("state"):
        return str(running["state"])
    if pipeline.desired != "running":
        return "stopping"
    return "failed" if error else "starting"
