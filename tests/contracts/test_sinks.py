"""What every sink keeps to, whatever it writes to; each is told apart by its promise alone."""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from prometheus_client import REGISTRY

from tests.contracts.event_sinks import Collector
from weft import sinks
from weft.locations.location import Location, locate
from weft.schema.schema import Schema
from weft.sinks import Sink, TableRows, memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = Schema.of({"id": "long", "name": "string"})
Record = dict[str, Any]


def make_rows(knot: int, *records: tuple[int, str]) -> TableRows:
    """Rows of one knot, as the spine hands them over."""
    return TableRows(
        pa.table(
            {
                "id": pa.array([number for number, _ in records], pa.int64()),
                "name": pa.array([name for _, name in records], pa.string()),
                "_weft": pa.array(
                    [{"id": f"s/0/{number}", "knot": knot} for number, _ in records],
                    pa.struct({"id": pa.string(), "knot": pa.int64()}),
                ),
            }
        )
    )


def join_rows(*parts: TableRows) -> TableRows:
    """The rows of several knots, as a rollback hands them over."""
    return TableRows(pa.Table.from_batches([b for part in parts for b in part.batches()]))


ONE = make_rows(1, (1, "ann"), (2, "bob"))
TWO = make_rows(2, (3, "cid"))
THREE = make_rows(3, (4, "dan"))
FOUR = make_rows(4, (5, "eve"))
NOTHING = make_rows(9)


def plain(*parts: TableRows) -> list[Record]:
    """The records as their reader should see them."""
    return [
        {"id": record["id"], "name": record["name"]} for part in parts for record in part.records()
    ]


@dataclass
class Outside:
    """A place outside Weft: sinks are opened on it, and its reader says what is there."""

    kind: str
    options: dict[str, Any]
    read: Callable[[], list[Record]]
    history: str = "first"
    spark: SparkSession | None = None

    def open(self) -> Sink:
        """A sink on this place, as a worker opens it when it starts."""
        return sinks.open(
            self.kind,
            self.options,
            app=f"app-{id(self)}",
            pipeline="clean",
            stream="orders",
            schema=SCHEMA,
            key=(),
            history=self.history,
            spark=self.spark,
            parallelism=2,
        )


def read_json(folder: Location) -> list[Record]:
    texts = [(folder / name).read() for name in folder.names() if name.endswith(".jsonl")]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def read_csv(folder: Location) -> list[Record]:
    texts = [(folder / name).read().decode() for name in folder.names() if name.endswith(".csv")]
    rows = [row for text in texts for row in csv.DictReader(io.StringIO(text))]
    return [{"id": int(row["id"]), "name": row["name"]} for row in rows]


def read_parquet(folder: Location) -> list[Record]:
    files = [(folder / name).read() for name in folder.names() if name.endswith(".parquet")]
    return [row for file in files for row in pq.read_table(pa.BufferReader(file)).to_pylist()]


def read_kafka(kafka: Any, topic: str) -> list[Record]:
    """What a careful reader keeps of a topic without keys: what is retracted is dropped."""
    kept: dict[str, Record] = {}
    for message in kafka.consume(topic):
        if "weft-retracts" in message.headers:
            kept.pop(message.headers["weft-retracts"].decode())
        else:
            assert message.headers["weft-id"].decode() not in kept
            kept[message.headers["weft-id"].decode()] = message.document
    return list(kept.values())


KINDS = [
    "memory",
    "files-json",
    "files-csv",
    "files-parquet",
    "python",
    "metrics",
    "console",
    pytest.param("kafka", marks=pytest.mark.stack),
    *(
        pytest.param(f"{place}-{form}", marks=[pytest.mark.stack, pytest.mark.xdist_group("stack")])
        for place, form in (("bucket", "json"), ("bucket", "parquet"), ("hdfs", "csv"))
    ),
]
RECORDING = [kind for kind in KINDS if kind not in ("metrics", "console")]


@pytest.fixture
def outside(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Outside]:
    """A fresh place of each kind."""
    kind, _, variant = request.param.partition("-")
    name = str(uuid.uuid4())
    match kind:
        case "memory":
            yield Outside(kind, {"name": name}, lambda: memory.read(name))
            memory.forget(name)
        case "files" | "bucket" | "hdfs":
            reader = {"json": read_json, "csv": read_csv, "parquet": read_parquet}[variant]
            folder = str(tmp_path)
            if kind != "files":
                server = request.getfixturevalue("s3" if kind == "bucket" else "hdfs")
                folder = server.address(name)
            options = {"path": folder, "format": variant}
            yield Outside("files", options, lambda: reader(locate(folder)))
        case "python":
            Collector.seen.clear()
            options = {"class": "tests.contracts.event_sinks:Collector", "name": name}
            yield Outside(kind, options, lambda: list(Collector.seen[name]))
        case "kafka":
            kafka = request.getfixturevalue("kafka")
            options = {"topic": f"sink-{name}", "servers": kafka.servers}
            spark = request.getfixturevalue("spark")
            yield Outside(kind, options, lambda: read_kafka(kafka, options["topic"]), spark=spark)
        case _:
            yield Outside(kind, {}, list)


def each(kinds: list[Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("outside", kinds, indirect=True)


@each(KINDS)
def test_every_sink_states_its_promise_and_keeps_the_protocol(outside: Outside) -> None:
    sink = outside.open()
    assert isinstance(sink, Sink)
    assert sink.promise in ("exactly once", "at least once")
    sink.close()


@each(KINDS)
def test_a_closed_sink_can_be_opened_again(outside: Outside) -> None:
    for knot, rows in ((1, ONE), (2, TWO)):
        sink = outside.open()
        sink.deliver(knot, rows)
        sink.close()


@each(RECORDING)
def test_rows_arrive_in_the_order_of_their_knots(outside: Outside) -> None:
    sink = outside.open()
    sink.deliver(1, ONE)
    sink.deliver(2, TWO)
    sink.close()
    assert outside.read() == plain(ONE, TWO)


@each(RECORDING)
def test_a_knot_without_rows_delivers_nothing(outside: Outside) -> None:
    sink = outside.open()
    sink.deliver(1, ONE)
    sink.deliver(9, NOTHING)
    sink.close()
    assert outside.read() == plain(ONE)


@each(RECORDING)
def test_a_crash_before_the_acknowledgement_keeps_the_promise(outside: Outside) -> None:
    crashed = outside.open()
    crashed.deliver(1, ONE)
    crashed.deliver(2, TWO)
    # Nobody heard that knot 2 arrived: the next worker delivers it again.
    sink = outside.open()
    sink.deliver(2, TWO)
    sink.deliver(3, THREE)
    sink.close()
    if sink.promise == "exactly once":
        assert outside.read() == plain(ONE, TWO, THREE)
    else:
        assert outside.read() == plain(ONE, TWO, TWO, THREE)


@each(KINDS)
def test_a_knot_delivered_twice_by_one_worker_is_no_harm(outside: Outside) -> None:
    sink = outside.open()
    sink.deliver(1, ONE)
    sink.deliver(1, ONE)
    sink.close()
    if sink.promise == "exactly once":
        assert outside.read() == plain(ONE)


@each(KINDS)
def test_what_a_sink_says_is_delivered_is_there(outside: Outside) -> None:
    sink = outside.open()
    assert sink.delivered() is None
    sink.deliver(1, ONE)
    sink.deliver(2, TWO)
    assert sink.delivered() in (None, 2)
    if sink.promise == "exactly once":
        assert outside.open().delivered() == 2
        assert outside.read() == plain(ONE, TWO)
    sink.close()


@each(KINDS)
def test_retracted_knots_are_gone_and_later_ones_follow(outside: Outside) -> None:
    sink = outside.open()
    for knot, rows in ((1, ONE), (2, TWO), (3, THREE)):
        sink.deliver(knot, rows)
    sink.retract(range(2, 4), join_rows(TWO, THREE))
    sink.deliver(4, FOUR)
    sink.close()
    if sink.promise == "exactly once":
        assert outside.read() == plain(ONE, FOUR)


@each(KINDS)
def test_a_retraction_that_a_crash_interrupted_can_be_repeated(outside: Outside) -> None:
    crashed = outside.open()
    crashed.deliver(1, ONE)
    crashed.deliver(2, TWO)
    crashed.retract(range(2, 3), TWO)
    if crashed.promise == "exactly once":
        sink = outside.open()
        sink.retract(range(2, 3), TWO)
        sink.deliver(4, FOUR)
        sink.close()
        assert outside.read() == plain(ONE, FOUR)
    else:
        crashed.retract(range(2, 3), TWO)
        crashed.close()


@each(RECORDING)
def test_what_never_arrived_is_not_retracted(outside: Outside) -> None:
    sink = outside.open()
    if sink.promise == "exactly once":
        sink.retract(range(1, 2), ONE)
        sink.deliver(2, TWO)
        sink.retract(range(2, 4), join_rows(TWO, THREE))
        sink.deliver(4, FOUR)
        assert outside.read() == plain(FOUR)
    sink.close()


@pytest.fixture(autouse=True)
def _no_metrics_left() -> Iterator[None]:
    """A sink that a test abandoned, as a crash would, takes its metrics along."""
    before = set(REGISTRY._collector_to_names)
    yield
    for collector in set(REGISTRY._collector_to_names) - before:
        REGISTRY.unregister(collector)
