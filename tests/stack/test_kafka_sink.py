"""The Kafka sink against a real broker, where the promise is hard to keep."""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import ConfigResource

from tests.contracts.test_sinks import ONE, SCHEMA, THREE, TWO, join_rows, make_rows, plain
from tests.stack.servers import Kafka
from weft import sinks
from weft.sinks import Sink, SinkError, SinkFencedError
from weft.testing import play

ROOT = Path(__file__).parents[2]


def open_sink(
    kafka: Kafka, topic: str, *, key: Sequence[str] = (), history: str = "h", **options: Any
) -> Sink:
    return sinks.open(
        "kafka",
        {"topic": topic, "servers": kafka.servers, **options},
        app="shop",
        pipeline="clean",
        stream="orders",
        schema=SCHEMA,
        key=key,
        history=history,
    )


@pytest.fixture
def topic() -> str:
    """The name of a topic that is not there yet."""
    return f"orders-{uuid.uuid4()}"


def documents(kafka: Kafka, topic: str) -> list[Any]:
    return [message.document for message in kafka.consume(topic)]


def test_a_zombie_is_shut_out_and_stays_out(kafka: Kafka, topic: str) -> None:
    zombie = open_sink(kafka, topic)
    zombie.deliver(1, ONE)
    with closing(open_sink(kafka, topic)) as heir:
        heir.deliver(2, TWO)
        for _ in range(2):
            with pytest.raises(SinkFencedError) as caught:
                zombie.deliver(2, TWO)
            assert caught.value.code == "sinks.fenced"
            assert not caught.value.retryable
        heir.deliver(3, THREE)
    assert documents(kafka, topic) == plain(ONE, TWO, THREE)


KILLED = """
import os, signal, sys
from tests.contracts.test_sinks import ONE, TWO
from tests.stack.test_kafka_sink import open_sink
from weft.sinks import kafka as module

class Server:
    servers = sys.argv[1]

sink = open_sink(Server, sys.argv[2])
sink.deliver(1, ONE)
link = sink._link
link._producer.begin_transaction()
for message in sink._messages(TWO):
    link._send(message)
link._producer.flush(30)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_worker_killed_inside_a_transaction_leaves_nothing_of_it(
    kafka: Kafka, topic: str
) -> None:
    command = [sys.executable, "-c", KILLED, kafka.servers, topic]
    assert subprocess.call(command, cwd=ROOT) == -signal.SIGKILL
    assert len(kafka.consume(topic, committed=False)) == 3
    with closing(open_sink(kafka, topic)) as sink:
        assert sink.delivered() == 1
        sink.deliver(2, TWO)
    assert documents(kafka, topic) == plain(ONE, TWO)


def test_a_keyed_topic_gets_one_tombstone_for_each_retracted_key(kafka: Kafka, topic: str) -> None:
    with closing(open_sink(kafka, topic, key=("name",))) as sink:
        sink.deliver(1, ONE)
        again = make_rows(2, (7, "bob"), (8, "bob"), (9, "zoe"))
        sink.deliver(2, again)
        sink.retract(range(2, 3), again)
    retracted = kafka.consume(topic)[5:]
    assert [(message.key, message.value) for message in retracted] == [
        (b"bob", None),
        (b"zoe", None),
    ]


def test_documents_become_upserts_and_tombstones_and_go_back_to_what_they_were(
    kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    users = {"topic": "u", "key": ["id"], "columns": {"id": "int", "name": "string"}}
    sink = {"kafka": {"topic": topic, "servers": kafka.servers}}
    project = {
        "app_name": f"p{topic[-8:]}",
        "tables": {"users": users},
        "products": {"people": {"root": "users", "sinks": [sink]}},
    }

    def event(op: str, lsn: int, id: int | None = None, name: str | None = None) -> dict[str, Any]:
        row = {"id": id, "name": name} if id is not None else None
        gone = {"before": row, "after": None} if op in "dt" else {"after": row}
        return {"op": op, **gone, "source": {"lsn": lsn}}

    with play(project, storage=tmp_path) as run:
        run.feed("users", [event("c", 1, 1, "ann"), event("c", 2, 2, "bob")])
        kept = run.knots("people")[-1].number
        run.feed("users", [event("u", 3, 1, "eve"), event("d", 4, 2), event("c", 5, 3, "zoe")])
        assert upserted(kafka, topic) == {
            b"1": {"id": 1, "name": "eve"},
            b"3": {"id": 3, "name": "zoe"},
        }
        run.feed("users", [event("t", 6)])
        assert upserted(kafka, topic) == {}
        before = len(kafka.consume(topic))
        run.rollback(
            "people", to=kept
        )  # its tables stay: it goes on from there, and ends where it was
        back = kafka.consume(topic)[before : before + 3]
        assert {one.key: one.document for one in back} == {
            b"1": {"id": 1, "name": "ann"},
            b"2": {"id": 2, "name": "bob"},
            b"3": None,
        }
        assert upserted(kafka, topic) == {}
    assert policy(kafka, topic) == "compact"


def upserted(kafka: Kafka, topic: str) -> dict[bytes | None, Any]:
    """What a reader of a keyed topic has: the newest value of each key."""
    newest = {message.key: message.document for message in kafka.consume(topic)}
    return {key: value for key, value in newest.items() if value is not None}


def policy(kafka: Kafka, topic: str) -> str:
    """What a broker does with the old records of a topic."""
    asked = ConfigResource(ConfigResource.Type.TOPIC, topic)
    admin = kafka.admin()
    return str(admin.describe_configs([asked])[asked].result(10)["cleanup.policy"].value)


def test_a_topic_without_keys_gets_the_records_again_marked_as_retracted(
    kafka: Kafka, topic: str
) -> None:
    with closing(open_sink(kafka, topic)) as sink:
        sink.deliver(1, ONE)
        sink.deliver(2, TWO)
        sink.retract(range(2, 4), join_rows(TWO, THREE))
    *kept, retraction = kafka.consume(topic)
    assert len(kept) == 3
    assert retraction.headers == {"weft-retracts": b"s/0/3"}
    assert retraction.document == plain(TWO)[0]


def test_keys_of_several_columns_are_objects_and_numbers_are_json(kafka: Kafka, topic: str) -> None:
    with closing(open_sink(kafka, topic, key=("id",))) as sink:
        sink.deliver(1, TWO)
    with closing(open_sink(kafka, topic, key=("id", "name"))) as sink:
        sink.deliver(2, THREE)
    keys = [message.key for message in kafka.consume(topic)]
    assert keys == [b"3", b'{"id":4,"name":"dan"}']


def test_a_new_table_starts_anew_though_an_older_one_got_further(kafka: Kafka, topic: str) -> None:
    with closing(open_sink(kafka, topic, history="old")) as sink:
        sink.deliver(7, ONE)
    with closing(open_sink(kafka, topic, history="new")) as sink:
        assert sink.delivered() is None
        sink.deliver(1, TWO)
        assert sink.delivered() == 1
    assert documents(kafka, topic) == plain(ONE, TWO)


def test_a_topic_that_is_not_there_is_made_with_the_partitions_asked_for(
    kafka: Kafka, topic: str
) -> None:
    with closing(open_sink(kafka, topic, partitions=3)) as sink:
        sink.deliver(1, make_rows(1, *((number, "x") for number in range(50))))
    assert len(kafka.consume(topic)) == 50
    with closing(open_sink(kafka, topic, partitions=5)):
        assert kafka.partitions(topic) == 3
    assert policy(kafka, topic) == "delete"


@pytest.fixture
def fragile(tmp_path: Path) -> Iterator[Kafka]:
    """A broker that the test may break."""
    with Kafka(tmp_path) as kafka:
        yield kafka


def test_a_broker_that_is_away_is_said_and_delivery_goes_on_when_it_is_back(
    fragile: Kafka, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.sinks.kafka.REPLY_S", 2.0)
    fast = {"transaction.timeout.ms": 3000, "message.timeout.ms": 2000}
    with closing(open_sink(fragile, topic, client=fast)) as sink:
        sink.deliver(1, ONE)
        fragile.java.stop()
        with pytest.raises(SinkError) as caught:
            sink.deliver(2, TWO)
        assert caught.value.retryable
        assert caught.value.ids == {"stream": "orders", "topic": topic}
        fragile.start()
        monkeypatch.setattr("weft.sinks.kafka.REPLY_S", 30.0)
        sink.deliver(2, TWO)
        sink.deliver(3, THREE)
    assert documents(fragile, topic) == plain(ONE, TWO, THREE)


def test_an_address_without_a_broker_is_an_error_that_names_it(
    topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.sinks.kafka.REPLY_S", 1.0)

    class Nowhere:
        servers = "127.0.0.1:1"

    with pytest.raises(SinkError) as caught:
        open_sink(Nowhere, topic)  # type: ignore[arg-type]
    assert caught.value.code == "sinks.kafka"
    assert "127.0.0.1:1" in caught.value.message
