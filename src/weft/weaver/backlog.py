"""How many records wait for a pipeline, as far as the weaver can tell. Called by its scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.lineage.knot import Knot, Status
from weft.scaling.measured import PipelineWork

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

LOOKED_AT = 50
"""So many knots of an input are looked at to tell how many rows wait."""
FULL = 0.95
"""A batch of so much of `queue_size` leaves records behind, how many only some sources tell."""


def backlog(weaver: Weaver, name: str, work: PipelineWork, knot: Knot | None) -> float | None:
    """The records behind the newest knot of a pipeline: as its source tells, or by the knots of its inputs."""
    if work.backlog is not None:
        return float(work.backlog)
    project = weaver.catalog.project()
    spec = project.pipelines.get(name)
    if spec is None:
        most = project.processing.queue_size
        is_full = work.batches and work.rows_in >= FULL * most * work.batches
        return float(most) if is_full else 0.0
    if knot is None:
        return None
    taken = {parent.stream: parent.last for parent in knot.parents}
    return sum(_rows_after(weaver, one, taken[one]) for one in spec.inputs if one in taken)


def _rows_after(weaver: Weaver, stream: str, number: int) -> float:
    """The rows of a stream behind a knot; of very many knots, as if all had what the newest have."""
    origin = weaver.catalog.stream(stream).origin
    newest = weaver.knots.head(origin).number or 0
    looked = [
        knot
        for knot in weaver.knots.log(origin, limit=LOOKED_AT)
        if knot.number > number and knot.status is Status.COMPLETE
    ]
    if not looked:
        return 0.0
    rows = sum(knot.outputs[stream].rows for knot in looked if stream in knot.outputs)
    return rows * max(1.0, (newest - number) / LOOKED_AT)
