"""A stream's table as input for both sides of a bench: prepared knot by knot, released commit by commit.

Every knot is one Delta commit of its own files, so that a stock Delta reader and Weft's read the same bytes.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from weft.runtime import spine
from weft.streams.note import Note
from weft.streams.storage import Storage
from weft.streams.tables import Tables

STREAM = "orders"
SCHEMA = {
    "id": "long",
    "email": "string",
    "country": "string",
    "city": "string",
    "product": "string",
    "quantity": "integer",
    "price": "decimal(10,2)",
    "total": "decimal(12,2)",
    "rating": "double",
    "note": "string",
    "paid": "boolean",
    "at": "timestamp",
}
_COLUMNS = (
    "id",
    "concat('User', id % 100000, '@Example.org') AS email",
    "element_at(array('de', 'fr', 'it', 'es'), CAST(id % 4 AS INT) + 1) AS country",
    "concat('city-', id % 1000) AS city",
    "concat('product ', id % 5000) AS product",
    "CAST(id % 9 AS INT) AS quantity",
    "CAST((id % 10000) / 100 AS DECIMAL(10,2)) AS price",
    "CAST((id % 9) * (id % 10000) / 100 AS DECIMAL(12,2)) AS total",
    "CAST(id % 50 AS DOUBLE) / 10 AS rating",
    "CASE WHEN id % 3 = 0 THEN concat('please ring twice, order ', id) END AS note",
    "id % 2 = 0 AS paid",
    "timestamp_millis(1767225600000 + id) AS at",
)
_WEFT = (
    "named_struct('id', concat('orders/0/', id), 'knot', CAST(0 AS BIGINT), "
    "'at', CAST(NULL AS TIMESTAMP), 'source', 'orders', 'partition', 0, 'event_time', at, "
    "'watermark', CAST(NULL AS TIMESTAMP)) AS _weft"
)


def prepare(spark: SparkSession, root: Path, *, knots: int, rows: int, files: int) -> None:
    """Write the table of the input stream below `root`: so many knots of so many rows."""
    storage = Storage(str(root))
    tables = Tables(spark, storage)
    for knot in range(1, knots + 1):
        frame = spark.range((knot - 1) * rows, knot * rows, numPartitions=files)
        shaped = frame.selectExpr(*_COLUMNS).selectExpr("*", _WEFT)
        written = spine.write(
            shaped.selectExpr("struct(*) AS out"),
            prefix=f"{knot:010d}",
            outputs={"out": storage.table(STREAM)},
            verdict=None,
            stamp={"knot": knot, "at_ms": 1767225600000, "watermark_ms": None},
        )
        made = written.outputs["out"]
        whose = {"history": "input", "generation": "input", "life": "input"}
        note = Note(
            knot,
            f"input-{knot}",
            stream=STREAM,
            origin=STREAM,
            rows=made.rows,
            hash=made.hash,
            **whose,
        )
        tables.commit(STREAM, shaped.schema, note, made.files)


def multiply(root: Path, *, knots: int) -> None:
    """Give a table of one knot so many knots that all have its rows, in files of their own."""
    table = Path(Storage(str(root)).table(STREAM))
    model = commit_file(table, 1).read_text()
    [file] = [path for path in table.glob("*.parquet") if path.name in model]
    for knot in range(2, knots + 1):
        name = f"{knot:010d}-{file.name}"
        os.link(file, table / name)
        text = model.replace(file.name, name).replace('\\"knot\\":1,', f'\\"knot\\":{knot},')
        commit_file(table, knot).write_text(text)


class Release:
    """A prepared table that a reader sees grow: its files are there, its commits come one by one."""

    def __init__(self, prepared: Path, root: Path) -> None:
        self._source = Path(Storage(str(prepared)).table(STREAM))
        self._target = Path(Storage(str(root)).table(STREAM))
        shutil.copytree(
            self._source,
            self._target,
            copy_function=os.link,
            ignore=shutil.ignore_patterns("_delta_log"),
        )
        (self._target / "_delta_log").mkdir()
        self.upto(0)

    def upto(self, version: int) -> None:
        """Make the commits up to this version visible."""
        for number in range(version + 1):
            target = commit_file(self._target, number)
            if not target.exists():
                os.link(commit_file(self._source, number), target)


def commit_file(table: Path, version: int) -> Path:
    """The log file of a commit."""
    return table / "_delta_log" / f"{version:020d}.json"


def project(**processing: Any) -> dict[str, Any]:
    """The project that weaves the input: one pipeline with the steps of the hand-written job."""
    return {
        "app_name": "bench",
        "processing": {"parallelism": 2, "checkpoint_interval": 0.0, **processing},
        "streams": {
            STREAM: {"source": {"mock": {}}, "schema": SCHEMA, "key": "id", "event_time": "at"}
        },
        "pipelines": {
            "clean": {
                "from": STREAM,
                "steps": [
                    {"filter": "total > 0"},
                    {"set": {"email": "lower(email)", "net": "round(total / 1.19, 2)"}},
                    {"set": {"rated": "rating >= 2.5"}},
                ],
                "to": "clean",
            }
        },
    }
