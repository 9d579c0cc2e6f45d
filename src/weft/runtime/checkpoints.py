"""Checkpoint directories of Spark: cut back to a batch by copying what belongs to it and nothing later.

The directory of an epoch is never changed once the pipeline has a new one, so that a rollback can be undone and
a worker that should be dead writes where nobody looks.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from weft.errors import WeftError
from weft.lineage.identity import Mark
from weft.lineage.offsets import Offsets
from weft.runtime import mark as marks
from weft.runtime.storage import Storage

_VERSIONED = re.compile(r"(\d+)(_[0-9a-zA-Z-]+)?\.(changelog|zip|delta|snapshot)")


class StateGoneError(WeftError):
    """The state of a batch is no longer kept."""

    code = "checkpoint.state-gone"
    domain = "user"


def cut(
    source: Path, target: Path, *, batch: int | None, offsets: Offsets | None, mark: Mark
) -> None:
    """Make `target` the checkpoint directory `source` as it was when `batch` was committed; None: before all.

    Safe to repeat: it is built beside and renamed.
    """
    if target.exists():
        return
    building = target.with_name(f".{target.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    if source.exists():
        if (source / "sources").exists():
            _link_tree(source / "sources", building / "sources")
        if batch is not None:
            _keep(source, building, batch, offsets)
    marks.write(str(building), mark)
    _sync(building)
    building.rename(target)
    _sync(target.parent)


def keyframe(home: str, knot: int) -> Path:
    """Where the state of a knot is kept beyond Spark's own retention, below a pipeline's folder."""
    return Path(home) / "keyframes" / str(knot)


def keyframes(home: str) -> list[int]:
    """The knots whose state is kept so."""
    place = Path(home) / "keyframes"
    return sorted(int(entry.name) for entry in place.glob("*") if entry.name.isdigit())


def source_of(storage: Storage, pipeline: str, knot: int, epoch: int) -> Path:
    """The directory from which the checkpoint of a knot is made: its keyframe, or that of its epoch."""
    kept = keyframe(storage.pipeline(pipeline), knot)
    return kept if kept.exists() else Path(storage.checkpoint(pipeline, epoch))


def earliest_state(source: Path) -> int | None:
    """The first batch whose state can still be had, or None when there is no state."""
    stores = [
        path for path in (source / "state").glob("*/*") if path.is_dir() and path.name.isdigit()
    ]
    firsts = []
    for store in stores:
        snapshots = [version for version, kind in _versions(store) if kind in ("zip", "snapshot")]
        changes = [version for version, kind in _versions(store) if kind in ("changelog", "delta")]
        known = [*snapshots, *([1] if 1 in changes else [])]
        if known:
            firsts.append(min(known) - 1)
    return max(firsts, default=None)


def _keep(source: Path, building: Path, batch: int, offsets: Offsets | None) -> None:
    if (source / "metadata").exists():
        _link(source / "metadata", building / "metadata")
    for folder in ("offsets", "commits"):
        (building / folder).mkdir()
        for file in (source / folder).glob("*"):
            if file.name.isdigit() and int(file.name) <= batch:
                _link(file, building / folder / file.name)
    if not (building / "offsets" / str(batch)).exists():
        _rebuild_offsets(building, batch, offsets)
    if not (building / "commits" / str(batch)).exists():
        # Its knot is tied, so the batch is done, though Spark had no time to say so or has forgotten it.
        _write(building / "commits" / str(batch), 'v1\n{"nextBatchWatermarkMs":0}')
    if (source / "state").exists():
        first = earliest_state(source)
        if first is not None and first > batch:
            raise StateGoneError(
                f"The state of batch {batch} is no longer kept; batch {first} is the first that is.",
                hint="Go back to a later knot, or keep more with `processing.keyframes`.",
                batch=batch,
            )
        # The state that batch n leaves behind has version n + 1.
        _link_tree(source / "state", building / "state", newest=batch + 1)


def _rebuild_offsets(building: Path, batch: int, offsets: Offsets | None) -> None:
    """Write the log entry of a batch that Spark has forgotten, from what its knot remembers."""
    if offsets is None:
        raise StateGoneError(
            f"The offsets of batch {batch} are no longer kept.", hint="Go back to a later knot."
        )
    lines = ["v1", json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}})]
    lines += ["-" if end is None else json.dumps(end) for end in offsets.end]
    _write(building / "offsets" / str(batch), "\n".join(lines))


def _link_tree(source: Path, target: Path, *, newest: int | None = None) -> None:
    for folder, _, files in os.walk(source):
        place = target / Path(folder).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        for name in files:
            found = _VERSIONED.fullmatch(name.removesuffix(".crc").removeprefix("."))
            if newest is not None and found and int(found.group(1)) > newest:
                continue
            _link(Path(folder) / name, place / name)


def _link(source: Path, target: Path) -> None:
    """The same file under another name: files of a checkpoint are never changed in place."""
    os.link(source, target)


def _versions(store: Path) -> list[tuple[int, str]]:
    names = [_VERSIONED.fullmatch(file.name) for file in store.iterdir()]
    return [(int(name.group(1)), name.group(3)) for name in names if name]


def _write(path: Path, text: str) -> None:
    with path.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
