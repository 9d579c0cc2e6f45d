"""The data side of knots that are forgotten: versions of tables' logs, checkpoints of former epochs, keyframes.

Asked for by the weaver, beside the pipelines; may be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft.locations.location import locate
from weft.runtime import checkpoints
from weft.streams.floor import raise_floor
from weft.streams.log import LOG_FOLDER

if TYPE_CHECKING:
    from weft.runtime.worker import Worker


def forget(
    worker: Worker, *, streams: Sequence[str], pipeline: str, knot: int, epoch: int
) -> dict[str, Any]:
    """Let go of what came before a knot: of its streams' logs, of epochs before one, of states of older knots."""
    versions = 0
    for stream in streams:
        table = locate(worker.storage.table(stream))
        if (table / LOG_FOLDER).exists():
            versions += raise_floor(table, knot)
    home = worker.storage.pipeline(pipeline)
    old = [checkpoints.keyframe(home, one) for one in checkpoints.keyframes(home) if one < knot]
    epochs = [name for name in locate(home).names() if name.isdigit() and int(name) < epoch]
    old += [locate(home) / name for name in epochs]
    for place in old:
        place.delete_all()
    return {"versions": versions, "states": len(old)}
