"""An operator of the kernel, attached to the columns of its inputs: batches in, results out, state in a checkpoint.

Windows, joins, deduplication, products and updating queries are attached by modules of their own; `runtime` runs them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NewType

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from weft import kernel
from weft.errors import WeftError

State = Literal["rocksdb", "memory"]

InputBatch = NewType("InputBatch", object)
"""What a batch has of one input, as the kernel holds it: rows, and which knots they are of."""


class AttachError(WeftError):
    """An operator does not fit the columns of its inputs."""

    code = "window.attach"
    domain = "user"


class Attached:
    """An operator that is run batch by batch, each from the state that the one before has left behind."""

    def __init__(self, spark: SparkSession, made: Any, state: State) -> None:
        self._spark = spark
        self._made = made
        self._state = state

    @property
    def schema(self) -> StructType:
        """The columns of what it makes, of which one is set in each row: results, late rows, reports, dead letters."""
        return StructType.fromJson(json.loads(self._made.schema().json()))

    def run(
        self, batches: Sequence[InputBatch], *, checkpoint: str, batch: int, partitions: int
    ) -> DataFrame:
        """What a batch makes; its state is kept when the last row was read. May be repeated."""
        made = self._made.run(
            kernel.list_of(self._spark, batches),
            checkpoint,
            batch,
            partitions,
            self._state == "memory",
        )
        return kernel.to_frame(self._spark, made)

    def state_size(self) -> tuple[int, int]:
        """How many entries its state had after the last batch, where they are counted, and how many bytes of memory."""
        entries, held = self._made.stateSize()
        return int(entries), int(held)


def attach(
    spark: SparkSession,
    entry: str,
    inputs: Sequence[StructType],
    spec: Mapping[str, Any],
    *,
    pipeline: str,
    state: State,
) -> Attached:
    """Attach an operator of the kernel's by its `entry`; what does not fit the inputs is refused with its reason."""
    schemas = kernel.list_of(spark, [columns.json() for columns in inputs])
    try:
        made = kernel.call(spark, entry, spark, schemas, json.dumps(spec))
    except (AnalysisException, IllegalArgumentException, Py4JJavaError) as error:
        raise AttachError(
            f"The operator of pipeline {pipeline!r} cannot be attached: {str(error).splitlines()[0]}",
            hint="Check the key and aggregate expressions against the stream's columns.",
            pipeline=pipeline,
        ) from error
    return Attached(spark, made, state)


def batch_of(
    frame: DataFrame, knots: Sequence[tuple[int, int | None]], rows: int, *, files: int = 0
) -> InputBatch:
    """At most so many rows of an input, in so many files, as a batch of these knots, each with its watermark."""
    control = json.dumps({"knots": [list(knot) for knot in knots]})
    made = kernel.call(frame.sparkSession, "operator.InputBatch.of", frame, control, rows, files)
    return InputBatch(made)
