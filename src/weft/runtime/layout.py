"""How the state in a checkpoint is laid out: fixed when its pipeline first starts, changed only in a copy of it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from weft import codec
from weft.errors import WeftError
from weft.locations.location import locate

FILE = "layout.json"

FORM = 3
"""In which form state is written; that of a checkpoint in another one is not read."""

BUCKETS_PER_PARTITION = 4
"""State is grouped by buckets of keys; a few per partition spread evenly and still combine rows well."""


class StateFormError(WeftError):
    """A checkpoint has its state in a form that this version does not read."""

    code = "checkpoint.state-form"
    domain = "user"


@dataclass(frozen=True)
class Layout:
    """Into how many partitions and buckets state is divided; the number of buckets never changes."""

    partitions: int
    buckets: int
    form: int = 1


def layout_of(checkpoint: str, wanted: Layout) -> Layout:
    """The layout of the state in a checkpoint directory: as it is wanted now, if it has none yet."""
    found = find_layout(checkpoint)
    if found is None:
        found = wanted
        write_layout(checkpoint, found)
    if found.form != FORM:
        raise StateFormError(
            f"The state in {checkpoint} was written by another version of Weft, which had another form for it.",
            hint="Compute the stream anew from its inputs: `weft rollback STREAM --to 0`.",
        )
    return found


def find_layout(checkpoint: str) -> Layout | None:
    """The layout that a checkpoint directory says, or None."""
    try:
        return codec.unpack(Layout, json.loads((locate(checkpoint) / FILE).read()))
    except FileNotFoundError:
        return None


def write_layout(checkpoint: str, layout: Layout) -> None:
    """Remember a layout, durably and at once; directories that share the file keep the one they had."""
    (locate(checkpoint) / FILE).write(json.dumps(codec.pack(layout)).encode())
