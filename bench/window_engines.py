"""One side of the windows bench on another engine, in an environment of its own that has it.

Each takes the bench's events from the files of the case, counts and sums them per key and tumbling
or sliding window, and tells CPU seconds and a checksum of its results.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

FAR_KEY = -1
DELAY = timedelta(seconds=2)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read(folder: Path) -> Iterator[tuple[int, int, int]]:
    """Key, value and event time of each event, in order of arrival."""
    for path in sorted((folder / "in").glob("*.parquet")):
        table = pq.read_table(path)
        at = table["_weft"].combine_chunks().field("event_time").cast("int64").to_pylist()
        keys, values = table["key"].to_pylist(), table["value"].to_pylist()
        for key, value, micros in zip(keys, values, at, strict=True):
            if key is not None:
                yield key, value, micros // 1000


def bytewax(case: dict[str, int], folder: Path) -> list[int]:
    """Bytewax: a dataflow with an event clock and a fold per window."""
    import bytewax.operators as op
    from bytewax.dataflow import Dataflow
    from bytewax.operators import windowing as win
    from bytewax.run import cli_main
    from bytewax.testing import TestingSource

    sums = [0, 0, 0]
    size, slide = (timedelta(milliseconds=case[name]) for name in ("size_ms", "slide_ms"))
    clock: Any = win.EventClock(
        ts_getter=lambda event: EPOCH + timedelta(milliseconds=event[1]),
        wait_for_system_duration=DELAY,
    )
    windower: Any = (
        win.TumblingWindower(align_to=EPOCH, length=size)
        if size == slide
        else win.SlidingWindower(align_to=EPOCH, length=size, offset=slide)
    )

    def fold(counts: tuple[int, int], event: tuple[int, int]) -> tuple[int, int]:
        return counts[0] + 1, counts[1] + event[0]

    def take(_step: str, item: Any) -> Any:
        key, (_window, (n, s)) = item
        if key != str(FAR_KEY):
            sums[0] += 1
            sums[1] += n
            sums[2] += s
        return item

    flow = Dataflow("bench")
    events = op.input("in", flow, TestingSource(read(folder), batch_size=1000))
    keyed = op.map("key", events, lambda event: (str(event[0]), (event[1], event[2])))
    folded = win.fold_window(
        "fold",
        keyed,
        clock,
        windower,
        lambda: (0, 0),
        fold,
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
    )
    told = op.inspect("take", folded.down, take)
    op.filter("none", told, lambda _item: False)
    cli_main(flow)
    return sums


def pathway(case: dict[str, int], folder: Path) -> list[int]:
    """Pathway: a windowed reduction of a table that is read once."""
    import pathway as pw

    sums = [0, 0, 0]
    size, slide = case["size_ms"], case["slide_ms"]
    schema = pw.schema_from_types(key=int, value=int, at=int)
    table = pw.debug.table_from_rows(schema, list(read(folder)))
    window = (
        pw.temporal.tumbling(duration=size)
        if size == slide
        else pw.temporal.sliding(duration=size, hop=slide)
    )
    panes = table.windowby(table.at, window=window, instance=table.key).reduce(
        key=pw.this._pw_instance, n=pw.reducers.count(), s=pw.reducers.sum(pw.this.value)
    )

    def take(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        if row["key"] != FAR_KEY:
            sign = 1 if is_addition else -1
            for place, value in enumerate((1, row["n"], row["s"])):
                sums[place] += sign * value

    pw.io.subscribe(panes, on_change=take)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    return sums


ENGINES: dict[str, Callable[[dict[str, int], Path], list[int]]] = {
    "bytewax": bytewax,
    "pathway": pathway,
}
PACKAGES = {"bytewax": ["bytewax"], "pathway": ["pathway"]}


def main() -> None:
    """Run what the first argument asks for; the last line of the output is the result."""
    asked = json.loads(sys.argv[1])
    importlib.import_module(asked["side"])
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_SELF)
    sums = ENGINES[asked["side"]](asked["case"], Path(asked["folder"]))
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result = {"cpu_s": cpu, "seconds": time.monotonic() - began, "checksum": sums}
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
