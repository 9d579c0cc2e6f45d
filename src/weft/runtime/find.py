"""One record, looked up by its id in every stream that may hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from weft.runtime import session
from weft.runtime.trial import plain
from weft.schema.weft import WEFT
from weft.streams.tables import Tables

if TYPE_CHECKING:
    from weft.runtime.worker import Worker


def find_record(worker: Worker, *, id: str, streams: list[str]) -> list[dict[str, Any]]:
    """Where a record is: each stream that has a row with this id, the knot that wrote it, and the row."""
    tables = Tables(worker.spark, worker.storage)
    forked = session.fork(worker.spark)
    found = []
    for stream in streams:
        table = tables.open(stream)
        if not table.exists():
            continue
        files = [f"{table.path}/{file.path}" for knot in table.knots() for file in knot.files]
        if not files:
            continue
        rows = forked.read.option("mergeSchema", "true").parquet(*files)
        for row in rows.where(f.col("_weft.id") == id).collect():
            fields = row.asDict(recursive=True)
            found.append({"stream": stream, "knot": fields[WEFT]["knot"], "row": plain(fields)})
    return found
