"""Keyframes: the state of chosen knots, kept for longer than in its checkpoint, within a budget.

A keyframe is a checkpoint directory cut at a knot; its files are links, so it costs only what was deleted there
since. The oldest go first when the budget is used up.
"""

from __future__ import annotations

from dataclasses import replace

from weft.lineage.knot import Knot
from weft.locations.location import locate
from weft.logs import get_logger
from weft.runtime import checkpoints
from weft.runtime import mark as marks
from weft.runtime.pipeline import RunningPipeline

log = get_logger(__name__)

MEGABYTE = 1 << 20


def keep(run: RunningPipeline, knot: Knot) -> None:
    """Keep the state of a knot that was just tied."""
    home = run.storage.pipeline(run.name)
    place = checkpoints.keyframe(home, knot.number)
    try:
        mark = marks.find(run.checkpoint)
        assert mark is not None  # a pipeline marks its checkpoint before it starts
        checkpoints.cut(
            locate(run.checkpoint),
            place,
            batch=knot.batch,
            offsets=knot.offsets,
            mark=replace(mark, knot=knot.number, knot_id=knot.id),
            stateful=True,
        )
    except FileNotFoundError:  # Spark cleaned up under our hands; the next one will do
        log.info(
            "no keyframe of %s at knot %d: its files were just cleaned up", run.name, knot.number
        )
        return
    prune(home, budget_mb=run.project.processing.keyframes.budget_mb)


def prune(home: str, *, budget_mb: int) -> None:
    """Forget the oldest keyframes until the rest fit the budget; the newest always stays."""
    knots = checkpoints.keyframes(home)
    sizes = {knot: checkpoints.keyframe(home, knot).held() for knot in knots}
    while len(knots) > 1 and sum(sizes[knot] for knot in knots) > budget_mb * MEGABYTE:
        checkpoints.keyframe(home, knots.pop(0)).delete_all()
