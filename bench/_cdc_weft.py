"""Our side of `bench.cdc`: Weft as a user runs it, fed through Kafka.

A folder and a project come in, out come documents, and what they cost.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import httpx
import orjson
from confluent_kafka import Consumer, Producer, TopicPartition

from bench._cdc_data import TABLES, Change, World
from bench._cpu import cpu_seconds
from weft.clock import parse_iso
from weft.loading.document import from_text
from weft.servers.kafka import Kafka
from weft.servers.process import LOOPBACK, ServerProcess, free_port

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "user-profile"
PRODUCT = "user-profile"
PARTITIONS = 2
OTHER_TABLES = 9
TICK_S = 0.05
LOOK_S = 0.25
"""Rarely: what the weaver does to answer counts as work."""
START_S = 900.0
LIMIT_S = 3600.0


def example(kafka: Kafka, *, sinks: bool, **processing: Any) -> dict[str, Any]:
    """The project of the example on this broker, with other processing; without sinks its documents are its table."""
    text = (EXAMPLE / "weft.yaml").read_text()
    project: dict[str, Any] = from_text(text.replace("localhost:9092", kafka.servers)).value
    project["processing"] |= processing
    if not sinks:
        del project["products"][PRODUCT]["sinks"]
    return project


def add_products(project: dict[str, Any], kafka: Kafka, number: int) -> list[str]:
    """Add so many products over other tables to a project; says which tables those are."""
    tables = [f"other_{place}" for place in range(min(number, OTHER_TABLES))]
    for table in tables:
        columns = {"id": "long", "parent": "long"}
        source = {"topic": topic_of(table), "servers": kafka.servers}
        project["tables"][table] = {**source, "key": ["id"], "columns": columns}
    for place in range(number):
        root, part = (tables[(place + step) % len(tables)] for step in (0, 1))
        parts = {"children": {"many": part, "on": {"parent": "id"}}}
        project["products"][f"product-{place}"] = {"root": root, "parts": parts}
    return tables


def topic_of(table: str) -> str:
    """The topic that has the changes of a table."""
    return f"app.public.{table}"


class Feed:
    """Writes changes to Kafka as Debezium would, and knows how many are there."""

    def __init__(self, kafka: Kafka, world: World, *, others: Sequence[str] = ()) -> None:
        """`others` are tables that have one row each, which never changes."""
        self.written = dict.fromkeys([*TABLES, *others], 0)
        for table in self.written:
            kafka.create_topic(topic_of(table), partitions=PARTITIONS)
        self._others = others
        self._world = world
        settings = {"bootstrap.servers": kafka.servers, "linger.ms": 10, "log_level": 0}
        self._producer = Producer(settings)

    def load(self) -> int:
        """Write all rows that the tables have in the beginning; says how many they are."""
        for table in TABLES:
            for row in self._world.rows(table):
                self._write(table, *self._world.message(Change(table, "r", None, row)))
        for table in self._others:
            event = {"op": "r", "before": None, "after": {"id": 1, "parent": 1}}
            self._write(table, orjson.dumps({"id": 1}), orjson.dumps(event))
        self._producer.flush()
        return sum(self.written.values())

    def write(self, changes: Iterable[Change], *, per_second: int) -> None:
        """Write changes at a rate; what each looks like is made beforehand."""
        messages = [(change.table, *self._world.message(change)) for change in changes]
        at_once = max(1, round(per_second * TICK_S))
        began = time.monotonic()
        for tick, first in enumerate(range(0, len(messages), at_once)):
            time.sleep(max(0.0, began + tick * TICK_S - time.monotonic()))
            for message in messages[first : first + at_once]:
                self._write(*message)
            self._producer.poll(0)
        self._producer.flush()

    def _write(self, table: str, key: bytes, value: bytes) -> None:
        while True:
            try:
                self._producer.produce(topic_of(table), value, key)
                break
            except BufferError:
                self._producer.poll(0.1)
        self.written[table] += 1


def written(kafka: Kafka) -> dict[str, int]:
    """How many records the topics of the tables have by now, whoever wrote them."""
    client = Consumer({"bootstrap.servers": kafka.servers, "group.id": "ends", "log_level": 0})
    found = dict.fromkeys(TABLES, 0)
    for table in TABLES:
        topic = topic_of(table)
        for partition in client.list_topics(topic).topics[topic].partitions:
            found[table] += client.get_watermark_offsets(TopicPartition(topic, partition))[1]
    client.close()
    return found


class Weft:
    """`weft up` over a project, in a folder of its own."""

    def __init__(self, folder: Path, project: Mapping[str, Any]) -> None:
        self.process = ServerProcess("weft", folder)
        self._storage = folder / "storage"
        self._port = free_port()
        self._file = folder / "weft.yaml"
        self._file.write_text(json.dumps(project))
        address = f"http://{LOOPBACK}:{self._port}"
        self._api = httpx.Client(base_url=address, timeout=120, trust_env=False)

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "weft.cli", "up", str(self._file)]
        command += ["--storage", str(self._storage), "--port", str(self._port)]
        self.process.start(*command, "--metrics-port", "0")
        self.process.wait_for(self._runs, seconds=START_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._api.close()
        self.process.kill()

    def cpu(self) -> float:
        """CPU seconds of weaver, worker and Spark so far."""
        return cpu_seconds(self.process.pid)

    def settle(self, written: Mapping[str, int]) -> None:
        """Wait until so many changes of each table have become documents."""
        limit = time.monotonic() + LIMIT_S
        while not self._is_settled(written):
            if time.monotonic() > limit:
                raise TimeoutError(f"Not all changes became documents: {self.process.tail()}")
            time.sleep(LOOK_S)

    def knots(self, stream: str, *, after: int = 0) -> list[dict[str, Any]]:
        """The knots of a stream after a number, newest first."""
        found: list[dict[str, Any]] = []
        while not found or found[-1]["number"] > after + 1:
            params = {"stream": stream, "limit": 1000}
            if found:
                params["before"] = found[-1]["number"]
            more = self._get("/knots", **params)
            if not more:
                break
            found += more
        return [knot for knot in found if knot["number"] > after]

    def loading_s(self) -> float:
        """Seconds from the pin of the first knot of a table to the completion of the last knot of documents."""
        first = min(parse_iso(self.knots(table)[-1]["now"]) for table in TABLES)
        return self.last_out() - first.timestamp()

    def last_out(self) -> float:
        """When the newest knot of documents was complete, in seconds since 1970."""
        return parse_iso(self.knots(PRODUCT)[0]["completed"]).timestamp()

    def documents(self, keys: Sequence[str]) -> dict[str, Any]:
        """The documents of these keys, as the API answers them."""
        return {key: self._get(f"/products/{PRODUCT}/{key}")["document"] for key in keys}

    def _is_settled(self, written: Mapping[str, int]) -> bool:
        if any(self._consumed(table) < number for table, number in written.items()):
            return False
        return not any(self._get(f"/pipelines/{PRODUCT}")["behind"].values())

    def _consumed(self, table: str) -> int:
        number = self._get(f"/streams/{table}")["knot"]
        if number is None:
            return 0
        end = self._get(f"/knots/{table}/{number}")["offsets"]["to"]
        return sum(sum(at.values()) for part in end if part for at in _by_topic(part, table))

    def _runs(self) -> bool:
        try:
            found = self._get("/pipelines")
        except httpx.HTTPError:
            return False
        return bool(found) and all(one["state"] == "running" for one in found)

    def _get(self, path: str, **params: Any) -> Any:
        return self._api.get(path, params=params).raise_for_status().json()


def _by_topic(position: Any, table: str) -> list[dict[str, int]]:
    """What a source's position says of the topic of a table: the next offset of each partition."""
    found = position.get(topic_of(table)) if isinstance(position, dict) else None
    return [found] if found else []
