"""How the state in a checkpoint is laid out: fixed when its pipeline first starts, changed only in a copy of it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from weft import codec
from weft.locations.location import locate

FILE = "layout.json"

BUCKETS_PER_PARTITION = 4
"""State is grouped by buckets of keys; a few per partition spread evenly and still combine rows well."""


@dataclass(frozen=True)
class Layout:
    """Into how many partitions and buckets state is divided; the number of buckets never changes."""

    partitions: int
    buckets: int


def layout_of(checkpoint: str, wanted: Layout) -> Layout:
    """The layout of the state in a checkpoint directory: as it is wanted now, if it has none yet."""
    found = find_layout(checkpoint)
    if found is None:
        found = wanted
        write_layout(checkpoint, found)
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
