"""How the state of a pipeline is laid out: fixed when it first starts, changed only offline."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from weft import codec
from weft.runtime.storage import write_durably

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
        return codec.unpack(Layout, json.loads(file.read_text()))
    layout = Layout(parallelism, parallelism * BUCKETS_PER_PARTITION)
    write_layout(home, layout)
    return layout


def write_layout(home: str, layout: Layout) -> None:
    """Remember a layout, durably and at once."""
    Path(home).mkdir(parents=True, exist_ok=True)
    write_durably(Path(home) / "layout.json", json.dumps(codec.pack(layout)))
