"""A compiled weave on a batch's frame: the frame before, the SQL and Python stages, the one pass that writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from weft.clock import to_ms
from weft.gate.spark import select
from weft.runtime import functions, spine
from weft.runtime.pipeline import Pinned, RunningPipeline
from weft.schema.weft import WEFT
from weft.weaving.weave import Call, Layers, Weave, WovenOutput, compile_weave

WATCHED = 16
"""So many columns of a stream are watched, the first: what a knot says of them is kept as long as the knot."""


@dataclass(frozen=True)
class Woven:
    """A batch ready to be written: its frame, and how to read what the writer counts."""

    frame: DataFrame
    """The woven rows; with `code`, those of the batch."""
    schema: StructType
    """The columns of the woven rows."""
    weave: Weave
    code: spine.Code | None = None
    """What makes woven rows of the batch's, where that was found out by an earlier batch."""

    def columns(self, target: WovenOutput) -> StructType:
        """The row that goes to an output."""
        kind = self.schema[target.column].dataType
        assert isinstance(kind, StructType)
        return kind


def weave(frame: DataFrame, run: RunningPipeline, pinned: Pinned) -> Woven:
    """The frame with steps and rules applied: one struct column per output, and a verdict.

    What fits every batch is planned for the first of them; those that follow run its code.
    """
    compiled = _compile(run, pinned)
    if run.code is not None and run.code[0] is compiled and spine.fits(run.code[1], frame):
        return Woven(frame, run.code[1].schema, compiled, run.code[1])
    base = run.shape.prepare(frame, pinned)
    woven = run_stages(base, compiled.stages, run.project.functions)
    if run.shape.is_steady and not compiled.pinned:
        code = spine.code_of(frame, woven)
        run.code = None if code is None else (compiled, code)
    return Woven(woven, woven.schema, compiled)


def run_stages(
    frame: DataFrame, stages: Sequence[Layers | Call], known: Mapping[str, Any]
) -> DataFrame:
    """Run the stages of a weave, SQL or Python, one after the other."""
    for stage in stages:
        if isinstance(stage, Call):
            frame = functions.call(frame, stage, known[stage.step.ref])
        else:
            frame = select(frame, stage.layers)
    return frame


def keep_state(frame: DataFrame, run: RunningPipeline) -> None:
    """Run a batch for its state alone, which the next one begins with."""
    if run.shape.operator:
        frame.write.format("noop").mode("overwrite").save()


def write(woven: Woven, run: RunningPipeline, pinned: Pinned) -> spine.Written:
    """Write every output's rows to files of its table in one pass; no table knows of them yet."""
    outputs = {target.column: run.storage.table(target.stream) for target in woven.weave.targets}
    return spine.write(
        woven.frame,
        code=woven.code,
        prefix=f"{pinned.knot.number:010d}",
        outputs=outputs,
        # Where a record's way is written down, it was hashed as it is written already.
        hashes={"out": "hash"} if "hash" in woven.schema.names else {},
        watched={"out": _watched(woven.schema, run)},
        reports="report" if run.shape.operator else None,
        latest_ms=run.shape.latest_ms(pinned),
        # Each row says how far its stream had come before its knot: by that it is early or late further down.
        stamp={
            "knot": pinned.knot.number,
            "at_ms": to_ms(pinned.now),
            "watermark_ms": pinned.watermark_ms,
        },
    )


def _watched(schema: StructType, run: RunningPipeline) -> list[str]:
    """The columns whose values are watched: not those that say which record it is."""
    row = schema["out"].dataType
    assert isinstance(row, StructType)
    names = [name for name in row.names if name not in (*run.stream.key, WEFT)]
    return names[:WATCHED]


def _compile(run: RunningPipeline, pinned: Pinned) -> Weave:
    provenance = run.stream.provenance.of_knot(flagged=pinned.knot.flagged)
    if (cached := run.weaves.get((pinned.knot.rules, provenance))) is not None:
        return cached
    compiled = compile_weave(
        run.shape.schema,
        stream=run.stream.name,
        key=run.stream.key,
        steps=run.shape.steps,
        rules=pinned.rules,
        functions=run.project.functions,
        moment=pinned.moment,
        operator=run.shape.operator,
        time=run.stream.event_time if run.stream.clock != "inputs" else None,
        timed=run.shape.latest_ms(pinned) is not None,
        provenance=provenance,
        raw=run.raw,
    )
    if not compiled.pinned:
        run.weaves = {(pinned.knot.rules, provenance): compiled}
    return compiled
