"""State divided anew: a checkpoint copied, its state moved to another number of partitions, and compared."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError
from weft.lineage.identity import Mark
from weft.runtime import checkpoints, session
from weft.runtime.layout import Layout, layout_of, write_layout
from weft.windows.state import KeptWindow, read_windows

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

MOST_COMPARED = 1_000_000


class RepartitionError(WeftError):
    """State could not be moved; the pipeline goes on as it was."""

    code = "repartition.failed"


def divide(
    worker: Worker, *, pipeline: str, epoch: int, new_epoch: int, batch: int, partitions: int
) -> dict[str, Any]:
    """Make the checkpoint of a new epoch with its state in so many partitions; the old one stays as it is."""
    home = worker.storage.pipeline(pipeline)
    old = Path(worker.storage.checkpoint(pipeline, epoch))
    new = Path(worker.storage.checkpoint(pipeline, new_epoch))
    before = layout_of(home, parallelism=partitions)
    if before.partitions != partitions or not new.exists():
        shutil.rmtree(new, ignore_errors=True)
        identity = worker.identity
        mark = Mark(pipeline, new_epoch, identity.history, identity.generation)
        checkpoints.cut(old, new, batch=batch, offsets=None, mark=mark)
        forked = session.fork(worker.spark)
        forked._streamingCheckpointManager.repartition(str(new), partitions)
        kept = _windows(worker, old, batch)
        if kept != _windows(worker, new, None):
            shutil.rmtree(new)
            raise RepartitionError(
                f"The state of pipeline '{pipeline}' differs after it was moved to {partitions} partitions.",
                hint="The pipeline goes on as it was; please report this.",
                pipeline=pipeline,
            )
        write_layout(home, Layout(partitions, before.buckets))
    return {"windows": len(_windows(worker, new, None)), "partitions": partitions}


def _windows(worker: Worker, checkpoint: Path, batch: int | None) -> list[KeptWindow]:
    return read_windows(
        session.fork(worker.spark),
        checkpoint,
        batch=batch,
        limit=MOST_COMPARED,
        state=worker.state_kind,
    )
