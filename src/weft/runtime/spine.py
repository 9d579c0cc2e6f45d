"""The one pass over a woven frame: rows into files, hashed and counted on the way by the kernel."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from weft import codec, kernel
from weft.lineage.facts import ColumnSummary, Output


@dataclass(frozen=True)
class PartitionSpan:
    """The event times of one source partition: how far they reached, and how many lay too far ahead."""

    ahead: int = 0
    max_event_time_us: int | None = None


@dataclass(frozen=True)
class Written:
    """What one pass over a woven frame wrote and counted; outputs are by column of the frame."""

    outputs: Mapping[str, Output]
    verdicts: Mapping[str, int]
    partitions: Mapping[str, PartitionSpan]
    reports: tuple[str, ...]
    columns: Mapping[str, Mapping[str, ColumnSummary]] = field(default_factory=dict)
    """What the watched columns of each output looked like."""


@dataclass(frozen=True)
class Code:
    """What makes the woven rows of a batch, as Spark has compiled it: good for every batch of the same columns."""

    schema: StructType
    """The columns of the woven rows."""
    made: Any
    """The kernel's object."""


def code_of(batch: DataFrame, woven: DataFrame) -> Code | None:
    """What makes a woven frame of a batch's; None where it is more than columns computed row by row."""
    made = kernel.call(batch.sparkSession, "spark.FrameCode.of", batch, woven)
    return None if made is None else Code(woven.schema, made)


def fits(code: Code, batch: DataFrame) -> bool:
    """Whether code can be run on the rows of a batch."""
    return bool(kernel.call(batch.sparkSession, "spark.FrameCode.fits", code.made, batch))


def write(
    frame: DataFrame,
    *,
    code: Code | None = None,
    prefix: str,
    outputs: Mapping[str, str],
    verdict: str | None = "verdict",
    reports: str | None = None,
    latest_ms: int | None = None,
    stamp: Mapping[str, int | None] | None = None,
    hashes: Mapping[str, str] | None = None,
    watched: Mapping[str, Sequence[str]] | None = None,
    hashed: bool = True,
) -> Written:
    """Write a woven frame in one pass: each output's non-null structs into its table's folder.

    With `code` it is the frame of a batch, and the code makes the woven one of it.

    `outputs` maps column to folder. The files are durable and belong to no table until a commit names them.
    With `latest_ms` the frame says `partition` and `event_time` of every row, and the answer has per partition
    the highest event time up to that one, and how many were `ahead` of it. `stamp` sets `knot`, `at_ms` and, if
    it is in it, `watermark_ms` in `_weft` of every row on the way. `hashes` names the columns that have the hashes of
    outputs' rows already, where they are not null. `watched` names the columns of outputs whose values are summed up.
    Without `hashed` nothing is hashed, to measure what hashes cost.
    """
    times = {"partition": "partition", "event_time": "event_time", "latest_ms": latest_ms}
    spec = {
        "prefix": prefix,
        "outputs": [
            {
                "column": column,
                "path": path,
                "hash": (hashes or {}).get(column),
                "watched": list((watched or {}).get(column, ())),
            }
            for column, path in outputs.items()
        ],
        "verdict": verdict,
        "reports": reports,
        "times": None if latest_ms is None else times,
        "stamp": stamp,
        "hashed": hashed,
    }
    asked = (frame, json.dumps(spec)) if code is None else (code.made, frame, json.dumps(spec))
    told = kernel.call(frame.sparkSession, "spine.Spine.write", *asked)
    return codec.from_form(Written, json.loads(told))
