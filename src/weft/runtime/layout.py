"""How the state of a pipeline is laid out: fixed when it first starts, changed only offline."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

BUCKETS_PER_PARTITION = 4
"""State is grouped by buckets of keys; a few per partition spread evenly and still combine rows well."""


@dataclass(frozen=True)
class Layout:
    """Into how many partitions and buckets state is divided; the number of buckets never changes."""

    partitions: int
    buckets: int


def layout_of(home: str, *, parallelism: int) -> Layout:
    """The layout of a pipeline's state, decided now if it has none yet."""
    file = Path(home) / "layout.json"
    if file.exists():
        return Layout(**json.loads(file.read_text()))
    layout = Layout(parallelism, parallelism * BUCKETS_PER_PARTITION)
    write_layout(home, layout)
    return layout


def write_layout(home: str, layout: Layout) -> None:
    """Remember a layout, durably and at once."""
    file = Path(home) / "layout.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    building = file.with_suffix(".building")
    with building.open("w") as out:
        json.dump(asdict(layout), out)
        out.flush()
        os.fsync(out.fileno())
    building.rename(file)
