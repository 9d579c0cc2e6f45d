"""Whether tables and checkpoints that a worker found belong to the history that this store keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.errors import WeftError
from weft.lineage.identity import Mark, TableHead

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

REBUILD = (
    "Stop Weft and run `weft store rebuild`, which brings the store up to its tables; "
    "or restore the whole storage with `weft restore`."
)


class OtherHistoryError(WeftError):
    """Something in storage is of another history than the store keeps."""

    domain = "conflict"


def check_histories(
    weaver: Weaver, pipeline: str, tables: Sequence[TableHead], checkpoint: Mark | None
) -> None:
    """Refuse tables and checkpoints that this store does not know, and the lack of those that it does."""
    found = weaver.catalog.pipeline(pipeline)
    newest = weaver.knots.newest(found.stream)
    if newest is not None and found.stream not in {known.stream for known in tables}:
        raise OtherHistoryError(
            f"Stream '{found.stream}' has {newest.number} knots, and its table is not in this worker's storage.",
            code="table.gone",
            hint="Start the worker on the storage of its weaver; or restore it with `weft restore`.",
            stream=found.stream,
        )
    for known in tables:
        _check_table(weaver, known)
    if checkpoint is not None:
        _check_checkpoint(weaver, pipeline, checkpoint)
    elif newest is not None:
        raise OtherHistoryError(
            f"The checkpoint directory of pipeline '{pipeline}' (epoch {found.epoch}) is gone: it would start over.",
            code="checkpoint.gone",
            hint=REBUILD,
            pipeline=pipeline,
        )


def _check_table(weaver: Weaver, known: TableHead) -> None:
    stream, history = known.stream, weaver.identity.history
    if known.history != history:
        raise OtherHistoryError(
            f"The table of stream '{stream}' belongs to history {known.history}, and this store keeps "
            f"{history}: the table was put there from elsewhere, or the store was made anew.",
            code="table.foreign",
            hint=REBUILD,
            stream=stream,
        )
    found = weaver.catalog.find_stream(stream)
    knot = weaver.knots.find(found.origin if found else stream, known.knot)
    is_known = known.is_fill or (knot is not None and knot.id == known.id)
    if known.generation in weaver.opened.generations and is_known:
        return
    newest = weaver.knots.head(found.origin if found else stream).last
    raise OtherHistoryError(
        f"The table of stream '{stream}' has knot {known.knot} ({known.id}), which this store does not "
        f"know: it knows {newest or 'none'}. The store is older than its tables, as one from a backup is.",
        code="store.behind",
        hint=REBUILD,
        stream=stream,
        knot=known.knot,
    )


def _check_checkpoint(weaver: Weaver, pipeline: str, mark: Mark) -> None:
    begun = weaver.knots.find(weaver.catalog.pipeline(pipeline).stream, mark.knot or 0)
    if (
        mark.pipeline == pipeline
        and mark.history == weaver.identity.history
        and mark.generation in weaver.opened.generations
        and (mark.knot_id is None or (begun is not None and begun.id == mark.knot_id))
    ):
        return
    raise OtherHistoryError(
        f"The checkpoint directory of pipeline '{pipeline}' (epoch {mark.epoch}) is of another life: it was "
        f"made for '{mark.pipeline}' in generation {mark.generation}, which this store does not know.",
        code="checkpoint.other-life",
        hint=REBUILD,
        pipeline=pipeline,
    )
