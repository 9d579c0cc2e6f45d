"""Sinks that are slow, or several, on pipelines that run beside each other: one waits, and no other does."""

from __future__ import annotations

import signal
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.spark.projects import orders, shop
from tests.stack.servers import Kafka
from weft.servers.process import wait_until
from weft.testing import play

LONG_MS = 120_000


@pytest.fixture
def fragile(tmp_path: Path) -> Iterator[Kafka]:
    """A broker that the test may stop."""
    folder = tmp_path / "kafka"
    folder.mkdir()
    with Kafka(folder) as kafka:
        yield kafka


def sent(kafka: Kafka, topic: str) -> list[int]:
    return sorted(message.document["id"] for message in kafka.consume(topic))


def to_kafka(kafka: Kafka, topic: str, **options: Any) -> dict[str, Any]:
    return {"kafka": {"topic": topic, "servers": kafka.servers, **options}}


def test_a_broker_that_takes_nothing_holds_its_own_pipeline_and_no_other(
    fragile: Kafka, tmp_path: Path
) -> None:
    """As many slots as there are cores wait for it, and still the other pipeline goes on."""
    patient = {"request.timeout.ms": LONG_MS, "max.block.ms": LONG_MS}
    slow = to_kafka(fragile, "slow", slots=2, client=patient)
    project = shop(
        held={"from": "orders", "to": "held", "sinks": [slow]},
        free={"from": "orders", "steps": [{"filter": "id >= 0"}], "to": "free"},
    )
    with play(project, storage=tmp_path / "storage") as run:
        run.feed("orders", orders(0, 4))
        fragile.java.send(signal.SIGSTOP)
        feeding = threading.Thread(target=run.feed, args=("orders", orders(4, 4)))
        try:
            feeding.start()
            wait_until(lambda: len(run.rows("free")) == 8, what="the other pipeline goes on")
            assert len(run.knots("held")) == 1
        finally:
            fragile.java.send(signal.SIGCONT)
            feeding.join(timeout=120)
        run.settle()
        run.feed("orders", orders(8, 2))
    assert sent(fragile, "slow") == list(range(10))


def test_two_sinks_of_one_stream_get_all_of_it_once_and_give_it_back(
    kafka: Kafka, tmp_path: Path
) -> None:
    name = uuid.uuid4().hex
    topics = [f"{name}-one", f"{name}-two"]
    both = [to_kafka(kafka, topics[0], slots=1), to_kafka(kafka, topics[1], slots=3)]
    project = shop(clean={"from": "orders", "to": "clean", "sinks": both})
    project["app_name"] = f"two{name[:8]}"
    with play(project, storage=tmp_path) as run:
        for first in range(0, 12, 4):
            run.feed("orders", orders(first, 4))
        kept = run.knots("clean")[1].number
        assert [sent(kafka, topic) for topic in topics] == [list(range(12))] * 2
        run.crash("deliver")
        run.feed("orders", orders(12, 4))
        run.resume()
        run.settle()
        assert [sent(kafka, topic) for topic in topics] == [list(range(16))] * 2
        run.rollback("clean", to=kept)
        run.settle()
        for topic in topics:
            newest = {message.key: message.value for message in kafka.consume(topic)}
            assert len(newest) == 16
            assert None not in newest.values()  # what was taken back was made again
            tombstones = [one for one in kafka.consume(topic) if one.value is None]
            assert len(tombstones) == 8
