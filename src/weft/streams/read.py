"""A stream's table as an input of a query: whole knots in order, without those that were cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from weft import kernel
from weft.streams.intake import Inlet
from weft.streams.table import table_errors


@dataclass(frozen=True)
class Script:
    """Batches that were cut before and are read again: the last knot of each, from an offset with this tick on."""

    ends: tuple[int, ...]
    first_tick: int = 0


@dataclass(frozen=True)
class CurrentRows:
    """A changing stream read from its beginning as the rows it has, and not as all that happened to them.

    The first batch has everything there is, and of that the newest changes of each key alone.
    """

    key: Sequence[str]
    columns: Sequence[str]
    """Those that are needed, the key among them; the others are null."""
    from_rows: int
    """Of fewer changes all are given: to sort them would take longer."""


@dataclass(frozen=True)
class TableReading:
    """How a stream is read: from which knot on, how much at a time, and what is waited for."""

    after: int = 0
    """The knot behind which it begins, if it was not read before."""
    most_rows: int = 0
    """A batch admits knots until it has so many rows; 0 is all there are."""
    script: Script | None = None
    newest: CurrentRows | None = None


def open_table(
    spark: SparkSession,
    path: str,
    schema: StructType,
    reading: TableReading | None = None,
    *,
    name: str,
    max_knots: int = 0,
) -> Inlet:
    """The stream in a table's folder, whose rows are given with the columns of a schema.

    A batch admits at most `max_knots` knots (0: all).
    """
    asked = reading or TableReading()
    form: dict[str, Any] = {
        "path": path,
        "name": name,
        "maxRows": asked.most_rows,
        "maxKnots": max_knots,
        "startKnot": asked.after,
    }
    script, newest = asked.script, asked.newest
    if newest is not None:
        form["newest"] = {
            "key": list(newest.key),
            "columns": list(newest.columns),
            "from": newest.from_rows,
        }
    if script is not None:
        form["script"] = {"ends": list(script.ends), "firstTick": script.first_tick}
    with table_errors(reader=name):
        return Inlet(
            kernel.call(spark, "spark.stream.Intake.table", spark, schema.json(), json.dumps(form))
        )
