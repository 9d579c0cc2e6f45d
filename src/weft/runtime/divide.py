"""State divided anew: a checkpoint copied, its state moved to another number of partitions, and compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from weft import kernel
from weft.errors import WeftError
from weft.lineage.identity import Mark
from weft.locations.location import Location, locate
from weft.runtime import checkpoints, session
from weft.runtime.layout import (
    BUCKETS_PER_PARTITION,
    FORM,
    Layout,
    find_layout,
    layout_of,
    write_layout,
)
from weft.windows.state import KeptWindow, read_windows

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

PAGE = 100_000


class RepartitionError(WeftError):
    """State could not be moved; the pipeline goes on as it was."""

    code = "repartition.failed"


def divide(
    worker: Worker, *, pipeline: str, epoch: int, new_epoch: int, batch: int, partitions: int
) -> dict[str, Any]:
    """Make the checkpoint of a new epoch with its state in so many partitions; the old one stays as it is."""
    old = locate(worker.storage.checkpoint(pipeline, epoch))
    new = locate(worker.storage.checkpoint(pipeline, new_epoch))
    least = Layout(partitions, partitions * BUCKETS_PER_PARTITION, FORM)
    wanted = replace(layout_of(old.address, least), partitions=partitions)
    if find_layout(new.address) != wanted:
        new.delete_all()
        identity = worker.identity
        mark = Mark(pipeline, new_epoch, identity.history, identity.generation)
        checkpoints.cut(
            old,
            new,
            batch=batch,
            offsets=None,
            mark=mark,
            stateful=True,
            amend=partial(_divide, worker, old, batch, partitions),
        )
        if not _is_same(worker, old, new, batch):
            new.delete_all()
            raise RepartitionError(
                f"The state of pipeline '{pipeline}' differs after it was moved to {partitions} partitions.",
                hint="The pipeline goes on as it was; please report this.",
                pipeline=pipeline,
            )
        write_layout(new.address, wanted)
    count = sum(1 for _ in _windows(worker, new, None))
    return {"windows": count, "partitions": partitions}


def _divide(worker: Worker, old: Location, batch: int, partitions: int, copy: Location) -> None:
    """Put the state that a batch has left behind into a copy of its checkpoint, divided anew."""
    (copy / "state").delete_all()
    kernel.call(
        worker.spark,
        "operator.StateCopy.divide",
        worker.spark,
        old.address,
        copy.address,
        batch + 1,
        partitions,
        worker.state_kind == "memory",
    )


def _is_same(worker: Worker, old: Location, new: Location, batch: int) -> bool:
    pairs = zip_longest(_windows(worker, old, batch), _windows(worker, new, None))
    return all(before == after for before, after in pairs)


def _windows(worker: Worker, checkpoint: Location, batch: int | None) -> Iterator[KeptWindow]:
    """All windows that a checkpoint keeps, page by page."""
    after: str | None = None
    while True:
        page = read_windows(
            session.fork(worker.spark),
            checkpoint.address,
            batch=batch,
            after=after,
            limit=PAGE,
            state=worker.state_kind,
        )
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].position()
