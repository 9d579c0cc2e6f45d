"""The data side of a rollback: sinks take back, tables and checkpoints are cut. Everything may be repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from weft.logs import get_logger
from weft.operations.cut import Cut, Span
from weft.runtime import checkpoints
from weft.schema.change import CHANGE, EMPTIED, GONE
from weft.schema.weft import WEFT
from weft.sinks.rows import Rows, TableRows
from weft.streams import compaction
from weft.streams.current import current, key_of
from weft.streams.note import TableKnot
from weft.streams.pieces import rows_of
from weft.streams.table import Table
from weft.streams.tables import Tables

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

log = get_logger(__name__)


def cut_checkpoint(worker: Worker, cut: Cut) -> None:
    """Make the checkpoint directory of a new epoch, as the pipeline's was at a knot."""
    assert worker.project is not None
    stateful = worker.project.is_stateful(cut.pipeline)
    checkpoints.cut_as(cut, worker.storage, worker.identity, stateful=stateful)


def cut_tables(worker: Worker, cut: Cut, operation: str) -> None:
    """Cut the table of a pipeline's stream and of those diverted from it; bring revived knots back."""
    tables = Tables(worker.spark, worker.storage)
    for stream in cut.streams:
        table = tables.open(stream)
        if not table.exists():
            continue
        if cut.gone is not None:
            compaction.cut(table, cut.gone.after, cut.gone.upto, {"operation": operation})
        for span in cut.revive:
            compaction.restore(table, span.after, span.upto, {"operation": operation})
    log.info("%s cut %s back to knot %d", operation, cut.stream, cut.keep)


def retract(worker: Worker, pipeline: str, gone: Span) -> None:
    """Have the sinks of a pipeline take the rows of knots back."""
    table = _table(worker, pipeline)
    if not table.exists():
        return
    before = _before(worker, pipeline, table, gone) if worker.stream_of(pipeline).changing else None
    rows = _rows(worker, pipeline, table, table.knots(gone.after, gone.upto), before)
    for sink in worker.open_sinks(pipeline):
        sink.retract(range(gone.after + 1, gone.upto + 1), rows)
        sink.close()


def restore(worker: Worker, pipeline: str, back: Sequence[Span]) -> None:
    """Deliver knots that came back to the sinks of a pipeline again, in their order."""
    table = _table(worker, pipeline)
    for sink in worker.open_sinks(pipeline):
        for span in back:
            for knot in table.knots(span.after, span.upto):
                sink.restore(knot.note.knot, _rows(worker, pipeline, table, [knot]))
        sink.close()


def _table(worker: Worker, pipeline: str) -> Table:
    return Tables(worker.spark, worker.storage).open(worker.stream_of(pipeline).name)


def _rows(
    worker: Worker,
    pipeline: str,
    table: Table,
    knots: Sequence[TableKnot],
    before: Rows | None = None,
) -> Rows:
    return rows_of(table.path, knots, worker.stream_of(pipeline).schema.names, before)


def _before(worker: Worker, pipeline: str, table: Table, gone: Span) -> Rows | None:
    """What the keys that knots have changed had before these; a key that had nothing is deleted."""
    stream = worker.stream_of(pipeline)
    taken = _rows(worker, pipeline, table, table.knots(gone.after, gone.upto))
    # A truncation names no keys, and sinks were not told of it.
    changes = (row for row in taken.records() if row[CHANGE]["op"] != EMPTIED)
    touched = {key_of(row, stream.key): row for row in changes}
    if not touched:
        return None
    kept = _rows(worker, pipeline, table, table.knots(0, gone.after)).records()
    rows = [row for row in kept if key_of(row, stream.key) in touched]
    found = {key_of(row, stream.key): row for row in current(rows, stream.key)}
    back = [found.get(key) or _deleted(row, stream.key) for key, row in touched.items()]
    form = next(taken.batches()).schema
    return TableRows(pa.Table.from_pylist([dict(row) for row in back], schema=form))


def _deleted(row: Mapping[str, Any], key: Sequence[str]) -> dict[str, Any]:
    empty = {name: value if name in key else None for name, value in row.items()}
    return {**empty, WEFT: row[WEFT], CHANGE: {**row[CHANGE], "op": GONE}}
