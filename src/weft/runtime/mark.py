"""The mark in a checkpoint directory: whose it is. A directory of another life is not gone on from."""

from __future__ import annotations

import json

from weft import codec
from weft.lineage.identity import Identity, Mark
from weft.locations.location import locate
from weft.operations.cut import Cut

FILE = "weft.json"


def find(checkpoint: str) -> Mark | None:
    """The mark of a checkpoint directory, or None when it has none."""
    try:
        return codec.unpack(Mark, json.loads((locate(checkpoint) / FILE).read()))
    except FileNotFoundError:
        return None


def write(checkpoint: str, mark: Mark) -> None:
    """Mark a checkpoint directory."""
    (locate(checkpoint) / FILE).write(json.dumps(codec.pack(mark)).encode())


def mark_of(cut: Cut, identity: Identity) -> Mark:
    """The mark of a directory that is cut back to a knot."""
    return Mark(
        cut.pipeline,
        cut.epoch,
        identity.history,
        identity.generation,
        knot=cut.keep,
        knot_id=cut.keep_id,
    )


def is_begun(checkpoint: str) -> bool:
    """Whether a pipeline ever ran in a checkpoint directory."""
    return any(name.isdigit() for name in (locate(checkpoint) / "offsets").names())


def renewed(mark: Mark | None, identity: Identity, *, pipeline: str, epoch: int) -> Mark:
    """The mark of a directory that is about to be used under this identity."""
    knot = (mark.knot, mark.knot_id) if mark else (None, None)
    return Mark(pipeline, epoch, identity.history, identity.generation, *knot)
