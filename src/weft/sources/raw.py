"""The raw form of records, which every source delivers: the columns that all have, and those that
some add."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    StringType,
    StructField,
    TimestampType,
)

# Spark reads a schema as text only where it has a session, and Python workers have none.
FIELDS = (
    StructField("value", BinaryType()),
    StructField("partition", IntegerType()),
    StructField("position", StringType()),
    StructField("timestamp", TimestampType()),
)
# Why the source could not deliver a record whole; then `value` is what there is of it.
BAD = StructField("bad", StringType())
# The header of the CSV file that the record is a line of.
HEADER = StructField("header", StringType())

ARROW = pa.schema(
    [
        ("value", pa.binary()),
        ("partition", pa.int32()),
        ("position", pa.string()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
    ]
)
