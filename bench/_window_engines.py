"""One side of the windows bench on another engine, in an environment of its own that has it.

Each counts and sums the events of the case per key and tumbling or sliding window, and tells CPU seconds and a
checksum of its results. What an engine reads from is filled before the clock starts: Kafka for Quix Streams, which
has no other source, text for Flink, whose package has no Parquet.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bench._cpu import cpu_seconds
from bench._window_data import DELAY_MS, FAR_KEY

DELAY = timedelta(milliseconds=DELAY_MS)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Run = Callable[[], list[int]]
"""What counts: the work over events that are ready, and the checksum of its results."""


def read(folder: Path) -> Iterator[tuple[int, int, int]]:
    """Key, value and event time of each event, in order of arrival."""
    for path in sorted((folder / "in").glob("*.parquet")):
        table = pq.read_table(path)
        at = table["_weft"].combine_chunks().field("event_time").cast("int64").to_pylist()
        keys, values = table["key"].to_pylist(), table["value"].to_pylist()
        for key, value, micros in zip(keys, values, at, strict=True):
            if key is not None:
                yield key, value, micros // 1000


def bytewax(case: dict[str, int], folder: Path, _servers: str) -> Run:
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
        now_getter=lambda: EPOCH,  # else time goes on by itself, and a slow run finds records late
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
    events = op.input("in", flow, TestingSource(list(read(folder)), batch_size=1000))
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

    def work() -> list[int]:
        cli_main(flow)
        return sums

    return work


def pathway(case: dict[str, int], folder: Path, _servers: str) -> Run:
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

    def work() -> list[int]:
        pw.run(monitoring_level=pw.MonitoringLevel.NONE)
        return sums

    return work


def quix(case: dict[str, int], folder: Path, servers: str) -> Run:
    """Quix Streams: windows over a topic, with its state in RocksDB; its changelog topics are off."""
    import confluent_kafka
    from quixstreams import Application
    from quixstreams.dataframe.windows import Count, Sum

    sums = [0, 0, 0]
    name = f"events-{time.monotonic_ns()}"
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": servers, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000}
    )
    events = [event for event in read(folder) if event[0] != FAR_KEY]
    # A key's windows close by its own events alone: each gets one that is far ahead.
    far = max(at for _, _, at in events) + 10 * case["size_ms"]
    events += [(key, 0, far) for key in {key for key, _, _ in events}]
    for key, value, at in events:
        while True:
            try:
                producer.produce(name, json.dumps({"value": value}), str(key), timestamp=at)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()

    def take(pane: dict[str, Any]) -> None:
        sums[0] += 1
        sums[1] += pane["n"]
        sums[2] += pane["s"]

    def work() -> list[int]:
        with tempfile.TemporaryDirectory() as state:
            app = Application(
                broker_address=servers,
                consumer_group=name,
                auto_offset_reset="earliest",
                state_dir=state,
                use_changelog_topics=False,
                loglevel="WARNING",
            )
            frame = app.dataframe(app.topic(name, key_deserializer="str"))
            grace = DELAY // timedelta(milliseconds=1)
            windows = (
                frame.tumbling_window(case["size_ms"], grace_ms=grace)
                if case["size_ms"] == case["slide_ms"]
                else frame.hopping_window(case["size_ms"], case["slide_ms"], grace_ms=grace)
            )
            windows.agg(n=Count(), s=Sum("value")).final().update(take)
            app.run(count=len(events), timeout=60)
        return sums

    return work


def pyflink(case: dict[str, int], folder: Path, _servers: str) -> Run:
    """Flink SQL from Python, with its state in RocksDB and checkpoints."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    scratch = Path(tempfile.mkdtemp())
    events = scratch / "events"
    events.mkdir()
    with (events / "events.csv").open("w") as out:
        out.writelines(f"{key},{value},{at}\n" for key, value, at in read(folder))
    table = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name, setting in {
        "parallelism.default": "2",
        "state.backend.type": "rocksdb",
        "execution.checkpointing.interval": "10 s",
        "execution.checkpointing.dir": f"file://{scratch}/checkpoints",
        "execution.checkpointing.incremental": "true",
        "table.local-time-zone": "UTC",
    }.items():
        table.get_config().set(name, setting)
    table.execute_sql(
        f"""CREATE TABLE events (
              `key` BIGINT, num BIGINT, ms BIGINT, moment AS TO_TIMESTAMP_LTZ(ms, 3),
              WATERMARK FOR moment AS moment - INTERVAL '{DELAY.seconds}' SECOND
            ) WITH ('connector' = 'filesystem', 'path' = 'file://{events}', 'format' = 'csv')"""
    )
    size, slide = (f"INTERVAL '{case[name] // 1000}' SECOND" for name in ("size_ms", "slide_ms"))
    shape = f"TUMBLE(TABLE events, DESCRIPTOR(moment), {size})"
    if size != slide:
        shape = f"HOP(TABLE events, DESCRIPTOR(moment), {slide}, {size})"
    columns = "window_start TIMESTAMP(3), `key` BIGINT, n BIGINT, s BIGINT"
    for name, sink in {
        "kept": f"'connector' = 'filesystem', 'path' = 'file://{scratch}/out', 'format' = 'csv'",
        "told": "'connector' = 'blackhole'",
    }.items():
        table.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({sink})")

    def insert(into: str) -> None:
        table.execute_sql(
            f"""INSERT INTO {into}
                SELECT window_start, `key`, COUNT(*), SUM(num) FROM TABLE({shape})
                GROUP BY window_start, window_end, `key`"""
        ).wait()

    insert("kept")
    sums = [0, 0, 0]
    for path in (scratch / "out").rglob("*"):
        for line in path.read_text().splitlines() if path.is_file() else []:
            _, key, n, s = line.rsplit(",", 3)
            if int(key) != FAR_KEY:
                sums = [sums[0] + 1, sums[1] + int(n), sums[2] + int(s)]

    def work() -> list[int]:
        insert("told")
        return sums

    return work


ENGINES: dict[str, Callable[[dict[str, int], Path, str], Run]] = {
    "bytewax": bytewax,
    "pathway": pathway,
    "quix": quix,
    "pyflink": pyflink,
}


def main() -> None:
    """Run what the first argument asks for; the last line of the output is the result."""
    asked = json.loads(sys.argv[1])
    work = ENGINES[asked["side"]](asked["case"], Path(asked["folder"]), asked["servers"])
    before, began = cpu_seconds(), time.monotonic()
    sums = work()
    spent = {"cpu_s": cpu_seconds() - before, "seconds": time.monotonic() - began}
    sys.stdout.write(json.dumps({**spent, "checksum": sums}) + "\n")


if __name__ == "__main__":
    main()
