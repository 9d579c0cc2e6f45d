"""The values that a knot adds to watched series: the rows of the knot in, the mean of each series out.

Called when a batch is completed, of streams that declare `watch`. Rows are read once more for it.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from weft.project.watch import MOST_SERIES, WatchSpec
from weft.sinks.rows import Rows

LONGEST = 200
"""Characters of a series' name that count."""


def series_of(rows: Rows, watch: WatchSpec) -> dict[str, float]:
    """The mean of each watched column for each value of the columns that tell series apart, by the name of the series.

    Values that are missing or no finite number count for nothing.
    """
    batches = [_numbers(batch, watch) for batch in rows.batches()]
    if not batches:
        return {}
    keys = [f"by{place}" for place in range(len(watch.by))]
    wanted = [(f"of{place}", "mean") for place in range(len(watch.of))]
    grouped = pa.Table.from_batches(batches).group_by(keys).aggregate(wanted)
    found: dict[str, float] = {}
    for row in grouped.to_pylist():
        told = ",".join(
            f"{name}={row[key] or ''}" for name, key in zip(watch.by, keys, strict=True)
        )
        for place, column in enumerate(watch.of):
            mean = row[f"of{place}_mean"]
            if mean is not None:
                found[_shown(f"{column}{{{told}}}" if keys else column)] = mean
    return {name: found[name] for name in sorted(found)[:MOST_SERIES]}


def _shown(name: str) -> str:
    """A name for people: records may hold anything, also what a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in name[:LONGEST])


def _numbers(batch: pa.RecordBatch, watch: WatchSpec) -> pa.RecordBatch:
    """The watched columns as numbers, and as texts those that tell series apart, whatever a file has them as."""
    columns = {
        f"by{at}": pc.cast(batch.column(name), pa.string()) for at, name in enumerate(watch.by)
    }
    for at, name in enumerate(watch.of):
        numbers = pc.cast(batch.column(name), pa.float64(), safe=False)
        columns[f"of{at}"] = pc.if_else(pc.is_finite(numbers), numbers, None)
    return pa.RecordBatch.from_pydict(columns)
