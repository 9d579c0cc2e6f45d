"""Two streams compared row by row: what one has that the other has not, and what differs, with examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from weft.gate.spark import select
from weft.schema.schema import Schema, quoted
from weft.streams.rows import Chunk, read, whole
from weft.streams.tables import Tables
from weft.weaving.tried import Difference, DifferentRow, DiffExamples, Sides

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

EXAMPLES = 5


def diff(
    worker: Worker,
    *,
    left: str,
    right: str,
    after: int,
    upto: int,
    left_schema: dict[str, Any],
    right_schema: dict[str, Any],
    key: list[str],
) -> Difference:
    """Compare the rows of two streams of the same knots in (after, upto]; their ids say which rows are the same.

    The last knot is one that both have: of the batch in hand, side streams are written first.
    """
    old = _rows(worker, left, after, upto, Schema.from_json(left_schema), name="old")
    new = _rows(worker, right, after, upto, Schema.from_json(right_schema), name="new")
    both = old.join(new, "id", "full_outer").cache()
    try:
        removed = both.where("new IS NULL")
        added = both.where("old IS NULL")
        changed = both.where("old IS NOT NULL AND new IS NOT NULL AND old != new")
        return Difference(
            left=left,
            right=right,
            after=after,
            upto=upto,
            key=tuple(key),
            rows=Sides(old.count(), new.count()),
            added=added.count(),
            removed=removed.count(),
            changed=changed.count(),
            examples=DiffExamples(
                _examples(added, "new"),
                _examples(removed, "old"),
                _examples(changed, "old", "new"),
            ),
        )
    finally:
        both.unpersist()


def _rows(
    worker: Worker, stream: str, after: int, upto: int, schema: Schema, *, name: str
) -> DataFrame:
    """Every row as its id and the JSON of its columns, nulls left out so that added columns show."""
    table = Tables(worker.spark, worker.storage).open(stream)
    chunk = whole(table, stream, after, upto) or Chunk(after, after, 0, None, ())
    frame = read(worker.spark, chunk, schema)
    columns = ", ".join(map(quoted, schema.names))
    return select(frame, [[("id", "_weft.id"), (name, f"to_json(struct({columns}))")]])


def _examples(frame: DataFrame, *sides: str) -> tuple[DifferentRow, ...]:
    found = frame.select("id", *sides).orderBy("id").limit(EXAMPLES).collect()
    return tuple(DifferentRow(**row.asDict()) for row in found)
