"""Whether what lies in storage belongs to the history that the weaver keeps; asked before a pipeline starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft import codec
from weft.errors import WeftError
from weft.lineage.identity import TableHead
from weft.runtime import mark

if TYPE_CHECKING:
    from weft.runtime.pipeline import RunningPipeline
    from weft.runtime.worker import Worker


class CheckpointUnmarkedError(WeftError):
    """A checkpoint directory does not say whose it is."""

    code = "checkpoint.unmarked"
    domain = "conflict"


def check(worker: Worker, run: RunningPipeline, streams: list[str]) -> None:
    """Refuse to run a pipeline on a storage, tables or a checkpoint of another life; then mark the checkpoint.

    The weaver judges: it knows which generations and knots are its own.
    """
    worker.storage.own(worker.identity.history)
    found = [_newest(run, stream) for stream in dict.fromkeys([run.stream.name, *streams])]
    marked = mark.find(run.checkpoint)
    if marked is None and mark.is_begun(run.checkpoint):
        raise CheckpointUnmarkedError(
            f"The checkpoint directory of pipeline '{run.name}' at {run.checkpoint} does not say "
            "whose it is: it was put there from elsewhere.",
            hint="Put the pipeline's own directory back; or stop Weft and run `weft store rebuild`, which makes "
            "a new one from the newest knot.",
            pipeline=run.name,
        )
    body = {
        "pipeline": run.name,
        "tables": [codec.to_form(known) for known in found if known is not None],
        "checkpoint": None if marked is None else codec.to_form(marked),
    }
    worker.weaver("POST", f"/workers/{worker.id}/histories", body)
    renewed = mark.renewed(marked, worker.identity, pipeline=run.name, epoch=run.epoch)
    if renewed != marked:
        mark.write(run.checkpoint, renewed)


def _newest(run: RunningPipeline, stream: str) -> TableHead | None:
    """The newest knot that a table ever held, as its commit names it."""
    table = run.tables.open(stream)
    last = table.last() if table.exists() else None
    if last is None:
        return None
    note = last.note
    return TableHead(
        stream, note.knot, note.id, note.history, note.generation, is_fill=note.fill is not None
    )
