"""One recorded knot walked step by step: rows before and after each transformation, with their hashes.

The rows are what the knot had, and they are woven as they were; what stays is what was looked at.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from weft.lineage.fingerprint import hasher
from weft.lineage.pin import Pinned
from weft.replays.change import ReplayChange
from weft.replays.leg import Leg
from weft.replays.walked import WalkedKnot, WalkedRow, WalkedStep
from weft.runtime.collected import collected, plain
from weft.runtime.past import frame_of
from weft.runtime.replayed import ReplayedPipeline
from weft.runtime.rerun import clear, recorded_pins, replayed_pipeline
from weft.runtime.scripted import run_script
from weft.runtime.weaving import run_stages
from weft.schema.weft import WEFT
from weft.steps.compile import compile_steps
from weft.steps.step import steps_from
from weft.weaving.walk import Walk, walk_steps

if TYPE_CHECKING:
    from weft.runtime.worker import Worker


@dataclass(frozen=True)
class Look:
    """Which rows are looked at: those with an id, those for which a condition holds, or the first ones."""

    target: str
    """The stream whose rows are meant: the pipeline's own, or one diverted from it."""
    ids: tuple[str, ...] = ()
    where: str | None = None
    limit: int = 20


def walk_knot(worker: Worker, leg: Leg, look: Look) -> WalkedKnot:
    """Walk the last knot of a leg; a pipeline with state is run again up to it, in a workspace of its own."""
    name = f"walk-{uuid.uuid4().hex[:8]}"
    pins = recorded_pins(worker, leg)
    run = replayed_pipeline(worker, name, leg, leg.phases[-1], ReplayChange(), pins)
    found: list[WalkedKnot] = []

    def walk(base: DataFrame, pinned: Pinned) -> None:
        if pinned.knot.number == leg.upto:
            found.append(_walked(run, base, pinned, look))

    try:
        if leg.stateful:
            run.look = walk
            for phase in leg.phases[:-1]:
                run_script(replayed_pipeline(worker, name, leg, phase, ReplayChange(), pins), leg)
            run_script(run, leg)
        else:
            pinned = run.pin(run.first_batch + len(run.pins) - 1)
            only = look.ids[0] if len(look.ids) == 1 else None
            walk(run.shape.prepare(frame_of(run, pinned, only=only), pinned), pinned)
    finally:
        clear(worker.storage, name)
    return found[0]


def _walked(run: ReplayedPipeline, base: DataFrame, pinned: Pinned, look: Look) -> WalkedKnot:
    functions = run.project.functions
    walk = Walk(
        schema=run.shape.schema,
        key=run.stream.key,
        steps=walk_steps(
            run.shape.steps,
            pinned.rules,
            functions,
            stream=run.stream.name,
            target=look.target,
            version=run.version,
        ),
        functions=functions,
        moment=pinned.moment,
        time=run.stream.event_time if run.stream.clock != "inputs" else None,
        operator=run.shape.operator,
    )
    rows = _chosen(run, base, look).persist()
    try:
        states = [_states(run, walk, rows, count) for count in range(len(walk.steps) + 1)]
    finally:
        rows.unpersist()
    return WalkedKnot(
        stream=look.target,
        knot=pinned.knot.number,
        pipeline=run.name,
        version=run.version,
        now=pinned.knot.now,
        where=pinned.knot.steps[0].where if pinned.knot.steps else None,
        first=tuple(states[0].values()),
        steps=tuple(
            WalkedStep(
                by=one.by,
                step=one.to_form()["step"],
                version=one.version,
                rows=tuple(_moved(before, after)),
            )
            for one, before, after in zip(walk.steps, states, states[1:], strict=False)
        ),
    )


def _chosen(run: ReplayedPipeline, base: DataFrame, look: Look) -> DataFrame:
    rows = base.where("_weft IS NOT NULL")
    if look.ids:
        rows = rows.where(f.col("_weft.id").isin(list(look.ids)))
    if look.where is not None:
        steps = steps_from([{"filter": look.where}])
        [compiled] = compile_steps(steps, run.shape.schema, run.project.functions)
        rows = rows.where(f"coalesce(weft_try(0L, ({compiled.expressions[''].sql})).v0, false)")
    return rows.orderBy("_weft.id").limit(look.limit)


def _states(run: ReplayedPipeline, walk: Walk, rows: DataFrame, count: int) -> dict[str, WalkedRow]:
    """What each row is after so many steps."""
    stages, verdicts = walk.upto(count)
    frame = run_stages(rows, stages, run.project.functions)
    kind = frame.schema["row"].dataType
    assert isinstance(kind, StructType)
    hashed = hasher(kind.jsonValue())
    found: dict[str, WalkedRow] = {}
    for fields in collected(frame.orderBy("id")):
        row = fields["row"]
        verdict = None if fields["verdict"] is None else verdicts[fields["verdict"]]
        found[fields["id"]] = WalkedRow(
            id=fields["id"],
            row=None if row is None else plain({n: v for n, v in row.items() if n != WEFT}),
            hash=None if row is None else hashed(row).hex(),
            ended=None if verdict is None else f"{verdict.kind} by {verdict.by}",
            reason=fields["reason"],
        )
    return found


def _moved(before: dict[str, WalkedRow], after: dict[str, WalkedRow]) -> list[WalkedRow]:
    """The rows that a step has met, as they are after it."""
    return [row for row in after.values() if before[row.id].row is not None]
