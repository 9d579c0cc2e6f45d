"""What a Python data source gave between two of its offsets, as a plain frame; it is asked for nothing new."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.pandas.types import to_arrow_schema

from weft.sources.options import Again


def read_again(spark: SparkSession, source: DataSource, asked: Again) -> DataFrame:
    """The records between two offsets, one task for each part that the source divides them into."""
    columns = spark.createDataFrame([], source.schema()).schema
    reader = source.streamReader(columns)
    start = reader.initialOffset() if asked.start is None else asked.start
    parts = [] if asked.end is None else list(reader.partitions(start, asked.end))
    if not parts:
        return spark.createDataFrame([], columns)
    arrow = to_arrow_schema(columns, timezone="UTC")

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for found in reader.read(parts[number]):
                    yield _cast(found, arrow)

    return spark.range(0, len(parts), 1, len(parts)).mapInArrow(read, columns)


def _cast(found: Any, schema: pa.Schema) -> pa.RecordBatch:
    """What a reader gives, which may be rows as well, in the columns that it declares."""
    if not isinstance(found, pa.RecordBatch):
        values = (
            found.asDict()
            if hasattr(found, "asDict")
            else dict(zip(schema.names, found, strict=True))
        )
        return pa.RecordBatch.from_pylist([values], schema=schema)
    return pa.RecordBatch.from_arrays(
        [found.column(field.name).cast(field.type) for field in schema], schema=schema
    )
