"""Pipelines with state run again: a loop over recorded knots, cut into the batches that there were."""

from __future__ import annotations

import json
from collections.abc import Callable

from weft.errors import WeftError
from weft.lineage.identity import Mark
from weft.lineage.offsets import Offsets
from weft.locations.location import Location, locate
from weft.logs import get_logger
from weft.reason import told
from weft.replays.leg import Leg
from weft.runtime import checkpoints
from weft.runtime.batch import weave_batch
from weft.runtime.faults import CrashError
from weft.runtime.loop import BatchLoop
from weft.runtime.replayed import ReplayedPipeline, ScriptOverError, Workspace
from weft.streams.intake import At

log = get_logger(__name__)

NO_VERSION = -1
"""The version of a table in which a reader has read nothing yet."""


def run_script(
    run: ReplayedPipeline, leg: Leg, *, still_wanted: Callable[[], None] = lambda: None
) -> None:
    """Run the batches of a leg as far as its pins go; a leg that was stopped in between goes on."""
    _make_checkpoint(run, leg)

    def weave(batch: int, after: At, upto: At) -> None:
        still_wanted()
        run.plan(batch, after, upto)
        weave_batch(run.streamed.taken(batch), batch, run=run)

    run.spark.conf.set("spark.sql.shuffle.partitions", str(run.streamed.partitions))
    try:
        BatchLoop(
            run.spark, run.checkpoint, name=run.label, open=run.streamed.open, run=weave
        ).work(until_over=True)
    except ScriptOverError:
        return
    except (WeftError, CrashError):
        raise
    except Exception as error:
        log.error("%s could not be run again", run.name, exc_info=error)
        raise WeftError(
            f"Pipeline '{run.name}' could not be run again: {told(str(error))}",
            code="replay.failed",
            hint="The worker's log has the details.",
            pipeline=run.name,
        ) from error


def _make_checkpoint(run: ReplayedPipeline, leg: Leg) -> None:
    """The checkpoint directory of the leg: the state it begins with, and where its inputs are."""
    target = locate(run.checkpoint)
    if leg.state is None or checkpoints.is_made(target):
        return
    assert isinstance(run.storage, Workspace)
    state, first = leg.state, run.pins[0]
    source = checkpoints.source_of(run.storage.live, leg.pipeline, state.knot, state.epoch)
    checkpoints.wait_for_commit(source, state.batch)
    identity = first.identity

    def amend(copy: Location) -> None:
        _move_inputs(run, leg, copy / "offsets" / str(state.batch))

    checkpoints.cut(
        source,
        target,
        batch=state.batch,
        offsets=Offsets(end=first.knot.offsets.start),
        mark=Mark(leg.pipeline, 0, identity.history, identity.generation, knot=state.knot),
        stateful=True,
        amend=amend,
    )


def _move_inputs(run: ReplayedPipeline, leg: Leg, offsets: Location) -> None:
    """Have the inputs that earlier legs have made be read from their own tables, behind the same knots."""
    lines = offsets.read().decode().splitlines()
    for position, stream in enumerate(run.inputs):
        at = len(lines) - len(run.inputs) + position
        if stream not in leg.recorded and lines[at] != "-":
            lines[at] = json.dumps({**json.loads(lines[at]), "version": NO_VERSION})
    offsets.write("\n".join(lines).encode())
