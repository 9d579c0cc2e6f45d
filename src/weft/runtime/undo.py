"""The data side of a rollback: sinks take back, tables and checkpoints are cut. Every step may be repeated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.logs import get_logger
from weft.replay.rollback import Cut
from weft.runtime import checkpoints, keyframes
from weft.runtime.tables import Tables
from weft.sinks.rows import ParquetRows

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

log = get_logger(__name__)


def undo(worker: Worker, name: str, cuts: list[Cut], offsets: Mapping[str, Any]) -> dict[str, Any]:
    """Cut every pipeline of a rollback; data is flowing again once the weaver lets them go on."""
    tables = Tables(worker.spark, worker.storage)
    for cut in cuts:
        _cut_checkpoint(worker, cut, offsets[cut.pipeline])
    for cut in cuts:
        _retract(worker, tables, cut)
        for stream in cut.streams:
            _cut_table(tables, stream, cut, name)
        log.info("%s cut %s back to knot %d", name, cut.stream, cut.keep)
    return {"rolled_back": [cut.pipeline for cut in cuts]}


def _cut_checkpoint(worker: Worker, cut: Cut, offsets: Mapping[str, Any] | None) -> None:
    storage = worker.storage
    keyframe = keyframes.folder(storage.pipeline(cut.pipeline)) / str(cut.keep)
    checkpoints.cut(
        keyframe if keyframe.exists() else Path(storage.checkpoint(cut.pipeline, cut.keep_epoch)),
        Path(storage.checkpoint(cut.pipeline, cut.epoch)),
        batch=cut.keep_batch,
        offsets=offsets,
    )


def _cut_table(tables: Tables, stream: str, cut: Cut, name: str) -> None:
    table = tables.open(stream)
    if not table.exists():
        return
    if cut.last > cut.cut_after:
        table.cut(cut.cut_after, cut.last, {"rollback": name})
    for run in cut.revive:
        table.restore(run.after, run.upto, {"rollback": name})


def _retract(worker: Worker, tables: Tables, cut: Cut) -> None:
    """Sinks that can take rows back do, while the rows are still in the table."""
    table = tables.open(cut.stream)
    if cut.last <= cut.cut_after or not table.exists():
        return
    opened = worker.open_sinks(cut.pipeline)
    if not opened:
        return
    gone = table.knots(cut.cut_after, cut.last)
    paths = [f"{table.path}/{file['path']}" for knot in gone for file in knot["files"]]
    columns = worker.stream_of(cut.pipeline).schema.names
    for sink in opened:
        sink.retract(range(cut.cut_after + 1, cut.last + 1), ParquetRows(paths, columns))
        sink.close()
