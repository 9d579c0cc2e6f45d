"""Checkpoint directories of Spark: cut back to a batch by copying what belongs to it and nothing later.

The directory of an epoch is never changed once the pipeline has a new one, so that a rollback can be undone and
a worker that should be dead writes where nobody looks.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from weft.errors import WeftError
from weft.lineage.identity import Mark
from weft.lineage.offsets import Offsets
from weft.runtime import mark as marks
from weft.runtime.layout import FILE as LAYOUT
from weft.runtime.offsets import find as positions
from weft.streams.storage import Storage

COMMIT_WAIT_S = 10.0

_VERSIONED = re.compile(r"(\d+)(_[0-9a-zA-Z-]+)?\.(changelog|zip|delta|snapshot)")


class BatchStateGoneError(WeftError):
    """The state of a batch is no longer kept."""

    code = "checkpoint.state-gone"
    domain = "user"


def cut(
    source: Path,
    target: Path,
    *,
    batch: int | None,
    offsets: Offsets | None,
    mark: Mark,
    stateful: bool,
) -> None:
    """Make `target` the checkpoint directory `source` as it was when `batch` was committed; None: before all.

    A source that is gone, or is not this pipeline's own, is made up for by the `offsets` of the knot where there is no
    state, and refused where there is. Safe to repeat, also while an earlier try is still at it, here or in a worker
    that was given up: each builds beside in a folder of its own, and the first to be done is renamed.
    """
    if target.exists():
        return
    is_own = _is_own(source, batch, offsets, mark)
    if batch is not None and stateful and not is_own:
        raise BatchStateGoneError(
            f"The checkpoint directory of pipeline '{mark.pipeline}' at {source} is gone, or not its own, and its "
            "state with it.",
            hint="Put the pipeline's own directory back, or restore the storage with `weft restore`.",
            pipeline=mark.pipeline,
        )
    building = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.building")
    try:
        building.mkdir(parents=True)
        if is_own and (source / "sources").exists():
            _link_tree(source / "sources", building / "sources")
        if batch is not None:
            _keep(source if is_own else None, building, batch, offsets)
        marks.write(str(building), mark)
        _sync(building)
        building.rename(target)
    except OSError:
        if not target.exists():  # else another try was faster, and has cleared up
            raise
    for left in target.parent.glob(f".{target.name}.*building"):
        shutil.rmtree(left, ignore_errors=True)
    _sync(target.parent)


def keyframe(home: str, knot: int) -> Path:
    """Where the state of a knot is kept beyond Spark's own retention, below a pipeline's folder."""
    return Path(home) / "keyframes" / str(knot)


def keyframes(home: str) -> list[int]:
    """The knots whose state is kept so."""
    place = Path(home) / "keyframes"
    return sorted(int(entry.name) for entry in place.glob("*") if entry.name.isdigit())


def size(home: str) -> int:
    """The bytes of all that a pipeline's folder holds; a file that lies there under several names counts once."""
    seen: dict[int, int] = {}
    for folder, _, files in os.walk(home):
        for name in files:
            try:
                found = os.stat(os.path.join(folder, name))
            except FileNotFoundError:  # Spark cleans up meanwhile
                continue
            seen[found.st_ino] = found.st_size
    return sum(seen.values())


def source_of(storage: Storage, pipeline: str, knot: int, epoch: int) -> Path:
    """The directory from which the checkpoint of a knot is made: its keyframe, or that of its epoch."""
    kept = keyframe(storage.pipeline(pipeline), knot)
    return kept if kept.exists() else Path(storage.checkpoint(pipeline, epoch))


def wait_for_commit(source: Path, batch: int) -> None:
    """Wait until Spark says that a batch is done, which it does a little after its knot was tied."""
    deadline = time.monotonic() + COMMIT_WAIT_S
    while not (source / "commits" / str(batch)).exists() and time.monotonic() < deadline:
        time.sleep(0.02)


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


def _is_own(source: Path, batch: int | None, offsets: Offsets | None, mark: Mark) -> bool:
    """Whether a directory is of the pipeline and history that a mark names, and stood where the knot did."""
    found = marks.find(str(source))
    if found is None or (found.pipeline, found.history) != (mark.pipeline, mark.history):
        return False
    planned = None if batch is None else positions(str(source), batch)
    return planned is None or offsets is None or planned == offsets.end


def _keep(source: Path | None, building: Path, batch: int, offsets: Offsets | None) -> None:
    for folder in ("offsets", "commits"):
        (building / folder).mkdir()
    if source is not None:
        _keep_logs(source, building, batch)
    if not (building / "metadata").exists():
        # Spark takes no directory that has batches and does not name its query.
        _write(building / "metadata", json.dumps({"id": str(uuid.uuid4())}))
    if not (building / "offsets" / str(batch)).exists():
        _rebuild_offsets(building, batch, offsets)
    for log in (building / "offsets").iterdir():
        # Their knots are tied, so the batches are done, though Spark had no time to say so or has forgotten it.
        if not (building / "commits" / log.name).exists():
            _write(building / "commits" / log.name, 'v1\n{"nextBatchWatermarkMs":0}')
    if source is not None and (source / "state").exists():
        first = earliest_state(source)
        if first is not None and first > batch:
            raise BatchStateGoneError(
                f"The state of batch {batch} is no longer kept; batch {first} is the first that is.",
                hint="Go back to a later knot, or keep more with `processing.keyframes`.",
                batch=batch,
            )
        # The state that batch n leaves behind has version n + 1.
        _link_tree(source / "state", building / "state", newest=batch + 1)


def _keep_logs(source: Path, building: Path, batch: int) -> None:
    for name in ("metadata", LAYOUT):
        if (source / name).exists():
            _link(source / name, building / name)
    for folder in ("offsets", "commits"):
        for file in (source / folder).glob("*"):
            if file.name.isdigit() and int(file.name) <= batch:
                _link(file, building / folder / file.name)


def _rebuild_offsets(building: Path, batch: int, offsets: Offsets | None) -> None:
    """Write the log entry of a batch that Spark has forgotten, from what its knot remembers."""
    if offsets is None:
        raise BatchStateGoneError(
            f"The offsets of batch {batch} are no longer kept.", hint="Go back to a later knot."
        )
    _write_offsets(building, batch, offsets.end)
    if batch > 0 and not (building / "offsets" / str(batch - 1)).exists():
        _write_offsets(building, batch - 1, offsets.start)  # Spark looks at the one before as well


def _write_offsets(building: Path, batch: int, positions: Sequence[Any]) -> None:
    lines = ["v1", json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}})]
    lines += ["-" if position is None else json.dumps(position) for position in positions]
    _write(building / "offsets" / str(batch), "\n".join(lines))


def _link_tree(source: Path, target: Path, *, newest: int | None = None) -> None:
    """Link a tree; of state, what one version is made of: its last snapshot and the changes since."""
    for folder, _, files in os.walk(source):
        place = target / Path(folder).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        found = {name: _VERSIONED.fullmatch(_plain(name)) for name in files}
        first = 0 if newest is None else _last_snapshot(found.values(), newest)
        for name, version in found.items():
            if newest is None or version is None or first <= int(version.group(1)) <= newest:
                _link(Path(folder) / name, place / name)


def _plain(name: str) -> str:
    return name.removesuffix(".crc").removeprefix(".")


def _last_snapshot(names: Iterable[re.Match[str] | None], newest: int) -> int:
    versions = [
        int(name.group(1)) for name in names if name and name.group(3) in ("zip", "snapshot")
    ]
    return max((version for version in versions if version <= newest), default=0)


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
