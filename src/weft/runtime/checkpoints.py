"""Checkpoint directories of pipelines: cut back to a batch by copying what belongs to it and nothing later.

The directory of an epoch is never changed once the pipeline has a new one, so that a rollback can be undone and
a worker that should be dead writes where nobody looks.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft.errors import WeftError
from weft.lineage.identity import Identity, Mark
from weft.lineage.offsets import Offsets
from weft.locations.location import Location, locate
from weft.operations.cut import Cut
from weft.runtime import mark as marks
from weft.runtime.layout import FILE as LAYOUT
from weft.runtime.offsets import DONE, form
from weft.runtime.offsets import find as positions
from weft.streams.storage import Storage

COMMIT_WAIT_S = 10.0

_VERSIONED = re.compile(r"(\d+)(_[0-9a-zA-Z-]+)?\.(changelog|zip|delta|snapshot)")


class BatchStateGoneError(WeftError):
    """The state of a batch is no longer kept."""

    code = "checkpoint.state-gone"
    domain = "user"


def cut_as(plan: Cut, storage: Storage, identity: Identity, *, stateful: bool) -> None:
    """Make the checkpoint directory of a pipeline's new epoch, as its own was at the knot that is kept."""
    cut(
        source_of(storage, plan.pipeline, plan.keep, plan.keep_epoch),
        locate(storage.checkpoint(plan.pipeline, plan.epoch)),
        batch=plan.keep_batch,
        offsets=plan.offsets,
        mark=marks.mark_of(plan, identity),
        stateful=stateful,
    )


def cut(
    source: Location,
    target: Location,
    *,
    batch: int | None,
    offsets: Offsets | None,
    mark: Mark,
    stateful: bool,
    amend: Callable[[Location], None] = lambda _: None,
) -> None:
    """Make `target` the checkpoint directory `source` as it was when `batch` was committed; None: before all.

    A source that is gone, or is not this pipeline's own, is made up for by the `offsets` of the knot where there is no
    state, and refused where there is. `amend` changes the copy before it is marked as whole. Safe to repeat, also while
    an earlier try is still at it, here or in a worker that was given up: the first to be done wins, or both write the
    same.
    """
    if is_made(target):
        return
    is_own = _is_own(source, batch, offsets, mark)
    if batch is not None and stateful and not is_own:
        raise BatchStateGoneError(
            f"The checkpoint directory of pipeline '{mark.pipeline}' at {source.address} is gone, or not its own, and "
            "its state with it.",
            hint="Put the pipeline's own directory back, or restore the storage with `weft restore`.",
            pipeline=mark.pipeline,
        )

    def fill(building: Location) -> None:
        if is_own:
            _copy_tree(source / "sources", building / "sources")
        if batch is not None:
            _keep(source if is_own else None, building, batch, offsets)
        amend(building)
        marks.write(building.address, mark)

    target.fill(fill, last=marks.FILE)


def is_made(checkpoint: Location) -> bool:
    """Whether a checkpoint directory is there and whole: its mark is written last."""
    return (checkpoint / marks.FILE).exists()


def keyframe(home: str, knot: int) -> Location:
    """Where the state of a knot is kept for longer than in its checkpoint, below a pipeline's folder."""
    return locate(home) / "keyframes" / str(knot)


def keyframes(home: str) -> list[int]:
    """The knots whose state is kept so."""
    names = (locate(home) / "keyframes").names()
    return sorted(
        int(name) for name in names if name.isdigit() and is_made(keyframe(home, int(name)))
    )


def source_of(storage: Storage, pipeline: str, knot: int, epoch: int) -> Location:
    """The directory from which the checkpoint of a knot is made: its keyframe, or that of its epoch."""
    kept = keyframe(storage.pipeline(pipeline), knot)
    return kept if is_made(kept) else locate(storage.checkpoint(pipeline, epoch))


def wait_for_commit(source: Location, batch: int) -> None:
    """Wait until the log says that a batch is done, which it does a little after its knot was tied."""
    deadline = time.monotonic() + COMMIT_WAIT_S
    while not (source / "commits" / str(batch)).exists() and time.monotonic() < deadline:
        time.sleep(0.02)


def earliest_state(source: Location) -> int | None:
    """The first batch whose state can still be had, or None when there is no state."""
    versions: dict[str, list[re.Match[str]]] = {}
    for name, _ in (source / "state").files():
        parts = name.split("/")  # operator, partition, [store,] file
        if len(parts) == 3 and parts[1].isdigit() and (found := _VERSIONED.fullmatch(parts[2])):
            versions.setdefault("/".join(parts[:2]), []).append(found)
    firsts = []
    for found_in in versions.values():
        snapshots = [int(one[1]) for one in found_in if one[3] in ("zip", "snapshot")]
        changes = [int(one[1]) for one in found_in if one[3] in ("changelog", "delta")]
        known = [*snapshots, *([1] if 1 in changes else [])]
        if known:
            firsts.append(min(known) - 1)
    return max(firsts, default=None)


def _is_own(source: Location, batch: int | None, offsets: Offsets | None, mark: Mark) -> bool:
    """Whether a directory is of the pipeline and history that a mark names, and stood where the knot did."""
    found = marks.find(source.address)
    if found is None or (found.pipeline, found.history) != (mark.pipeline, mark.history):
        return False
    planned = None if batch is None else positions(source.address, batch)
    return planned is None or offsets is None or planned == offsets.end


def _keep(source: Location | None, building: Location, batch: int, offsets: Offsets | None) -> None:
    if source is not None:
        _keep_logs(source, building, batch)
    if not (building / "offsets" / str(batch)).exists():
        _rebuild_offsets(building, batch, offsets)
    committed = set((building / "commits").names())
    for name in (building / "offsets").names():
        # Their knots are tied, so the batches are done, though the log had no time to say so or has forgotten it.
        if name not in committed:
            (building / "commits" / name).put(DONE)
    if source is not None:
        first = earliest_state(source)
        if first is not None and first > batch:
            raise BatchStateGoneError(
                f"The state of batch {batch} is no longer kept; batch {first} is the first that is.",
                hint="Go back to a later knot, or keep more with `processing.keyframes`.",
                batch=batch,
            )
        # The state that batch n leaves behind has version n + 1.
        _copy_tree(source / "state", building / "state", newest=batch + 1)


def _keep_logs(source: Location, building: Location, batch: int) -> None:
    if (source / LAYOUT).exists():
        (source / LAYOUT).copy(building / LAYOUT)
    for folder in ("offsets", "commits"):
        for name in (source / folder).names():
            if name.isdigit() and int(name) <= batch:
                (source / folder / name).copy(building / folder / name)


def _rebuild_offsets(building: Location, batch: int, offsets: Offsets | None) -> None:
    """Write the log entry of a batch that was forgotten, from what its knot remembers."""
    if offsets is None:
        raise BatchStateGoneError(
            f"The offsets of batch {batch} are no longer kept.", hint="Go back to a later knot."
        )
    _write_offsets(building, batch, offsets.end)
    if batch > 0 and not (building / "offsets" / str(batch - 1)).exists():
        _write_offsets(building, batch - 1, offsets.start)  # where the batch begins


def _write_offsets(building: Location, batch: int, ends: Sequence[Any]) -> None:
    (building / "offsets" / str(batch)).put(form(ends))


def _copy_tree(source: Location, target: Location, *, newest: int | None = None) -> None:
    """Copy a tree; of state, what one version is made of: its last snapshot and the changes since."""
    folders: dict[str, dict[str, Location]] = {}
    for path, file in source.files():
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, {})[name] = file
    for folder, files in folders.items():
        found = {name: _VERSIONED.fullmatch(_plain(name)) for name in files}
        first = 0 if newest is None else _last_snapshot(found.values(), newest)
        for name, version in found.items():
            if newest is None or version is None or first <= int(version.group(1)) <= newest:
                files[name].copy(target / folder / name)


def _plain(name: str) -> str:
    return name.removesuffix(".crc").removeprefix(".")


def _last_snapshot(names: Iterable[re.Match[str] | None], newest: int) -> int:
    versions = [
        int(name.group(1)) for name in names if name and name.group(3) in ("zip", "snapshot")
    ]
    return max((version for version in versions if version <= newest), default=0)
