"""The mark in a checkpoint directory: whose it is. A directory of another life is not gone on from."""

from __future__ import annotations

import json
from pathlib import Path

from weft import codec
from weft.lineage.identity import Identity, Mark
from weft.operations.cut import Cut
from weft.streams.storage import write_durably

FILE = "weft.json"


def find(checkpoint: str) -> Mark | None:
    """The mark of a checkpoint directory, or None when it has none."""
    file = Path(checkpoint) / FILE
    return codec.unpack(Mark, json.loads(file.read_text())) if file.exists() else None


def write(checkpoint: str, mark: Mark) -> None:
    """Mark a checkpoint directory."""
    folder = Path(checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    write_durably(folder / FILE, json.dumps(codec.pack(mark)))


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
    """Whether a query ever ran in a checkpoint directory."""
    return any((Path(checkpoint) / "offsets").glob("[0-9]*"))


def renewed(mark: Mark | None, identity: Identity, *, pipeline: str, epoch: int) -> Mark:
    """The mark of a directory that is about to be used under this identity."""
    knot = (mark.knot, mark.knot_id) if mark else (None, None)
    return Mark(pipeline, epoch, identity.history, identity.generation, *knot)
