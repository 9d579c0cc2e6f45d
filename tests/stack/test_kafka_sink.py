"""The Kafka sink against a real broker, where the promise is hard to keep."""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import ConfigResource

from tests.contracts.test_sinks import ONE, SCHEMA, THREE, TWO, join_rows, make_rows, plain
from tests.stack.servers import Kafka
from weft import sinks
from weft.schema.schema import Schema
from weft.sinks import ParquetRows, Sink, SinkError, SinkFencedError
from weft.sinks.rows import RowFile
from weft.sinks.topic import Topic
from weft.testing import play, shared_session

ROOT = Path(__file__).parents[2]


def open_sink(
    kafka: Kafka,
    topic: str,
    *,
    key: Sequence[str] = (),
    history: str = "h",
    schema: Schema = SCHEMA,
    **options: Any,
) -> Sink:
    return sinks.open(
        "kafka",
        {"topic": topic, "servers": kafka.servers, **options},
        app="shop",
        pipeline="clean",
        stream="orders",
        schema=schema,
        key=key,
        history=history,
        spark=shared_session(),
        parallelism=2,
    )


def in_files(
    folder: Path | str, knot: int, files: int, *, rows: int = 2, first: int = 100
) -> ParquetRows:
    """The rows of a knot as the spine leaves them: in files, which are written the first time."""
    found = []
    for place in range(files):
        path = Path(folder) / f"{knot}-{place}.parquet"
        begin = first + place * rows
        made = make_rows(knot, *((number, f"n{number}") for number in range(begin, begin + rows)))
        if not path.exists():
            pq.write_table(pa.Table.from_batches(made.batches()), path)
        found.append(RowFile(str(path), rows, path.stat().st_size, knot, place))
    return ParquetRows(found, SCHEMA.names)


def ids(records: Iterable[dict[str, Any]]) -> list[int]:
    return sorted(record["id"] for record in records)


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
from tests.contracts.test_sinks import ONE
from tests.stack.test_kafka_sink import in_files, open_sink
from weft.sinks.topic import Topic

class Server:
    servers = sys.argv[1]

sink = open_sink(Server, sys.argv[2], slots=2)
sink.deliver(1, ONE)
rows = in_files(sys.argv[3], 2, 3)
send = Topic.send

def killed(topic, claim, rows, shares, outgoing):
    if sys.argv[4] == "between":
        send(topic, claim, rows, shares[:1], outgoing)
    if sys.argv[4] == "after":
        send(topic, claim, rows, shares, outgoing)
    os.kill(os.getpid(), signal.SIGKILL)

Topic.send = killed
sink.deliver(2, rows)
"""


@pytest.mark.parametrize(("moment", "sent"), [("before", 2), ("between", None), ("after", 8)])
def test_a_worker_that_is_killed_leaves_whole_files_and_nothing_is_lost_or_doubled(
    kafka: Kafka, topic: str, tmp_path: Path, moment: str, sent: int | None
) -> None:
    command = [sys.executable, "-c", KILLED, kafka.servers, topic, str(tmp_path), moment]
    assert subprocess.call(command, cwd=ROOT) == -signal.SIGKILL
    found = len(documents(kafka, topic))
    assert found == sent or (sent is None and 2 < found < 8)
    rows = in_files(tmp_path, 2, 3)
    with closing(open_sink(kafka, topic, slots=1)) as sink:
        assert sink.delivered() == (2 if moment == "after" else 1 if moment == "before" else None)
        sink.deliver(2, rows)
        assert sink.delivered() == 2
        sink.deliver(3, THREE)
    assert ids(documents(kafka, topic)) == ids(plain(ONE, rows, THREE))


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


def test_results_of_queries_become_upserts_and_tombstones(
    kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    users = {"topic": "u", "key": ["id"], "columns": {"id": "int", "city": "string"}}
    cities = {"topic": "c", "key": ["name"], "columns": {"name": "string", "land": "string"}}
    counts = {"by": "land", "aggregate": {"users": "count(*)"}}
    project = {
        "app_name": f"q{topic[-8:]}",
        "tables": {"users": users, "cities": cities},
        "pipelines": {
            "homes": {
                "from": ["users", "cities"],
                "join": {"on": {"city": "name"}, "type": "left"},
            },
            "counts": {
                "from": "homes",
                "group": counts,
                "sinks": [{"kafka": {"topic": topic, "servers": kafka.servers}}],
            },
        },
    }

    def event(op: str, lsn: int, **row: Any) -> dict[str, Any]:
        told = {"before": row} if op == "d" else {"after": row}
        return {"op": op, **told, "source": {"lsn": lsn}}

    with play(project, storage=tmp_path) as run:
        run.feed("users", [event("c", 1, id=1, city="Ulm"), event("c", 2, id=2, city=None)])
        assert upserted(kafka, topic) == {b"null": {"land": None, "users": 2}}
        run.feed("cities", [event("c", 3, name="Ulm", land="BW")])
        assert upserted(kafka, topic) == {
            b"BW": {"land": "BW", "users": 1},
            b"null": {"land": None, "users": 1},
        }
        run.feed("users", [event("u", 4, id=1, city=None), event("d", 5, id=2)])
        assert upserted(kafka, topic) == {b"null": {"land": None, "users": 1}}
        # A group that counts one user before a batch and after it is not told again.
        assert sorted(message.key or b"" for message in kafka.consume(topic)) == [
            b"BW",
            b"BW",
            b"null",
            b"null",
        ]


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
    fragile: Kafka, topic: str
) -> None:
    with closing(open_sink(fragile, topic, client={"transaction.timeout.ms": 5000})) as sink:
        sink.deliver(1, ONE)
        fragile.java.stop()
        with pytest.raises(SinkError) as caught:
            sink.deliver(2, TWO)
        assert caught.value.retryable
        assert caught.value.ids == {"stream": "orders", "topic": topic}
        fragile.start()
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


def test_the_number_of_slots_may_change_in_the_middle_of_a_knot(
    kafka: Kafka, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was sent by whichever slot, another number of them sends the rest and nothing else."""
    send = Topic.send

    def first_share_only(self: Topic, claim: str, rows: Any, shares: Any, outgoing: Any) -> Any:
        send(self, claim, rows, shares[:1], outgoing)
        raise ConnectionError("the others never got there")

    told: list[list[int]] = []
    for slots in (3, 2, 4, 1):
        with monkeypatch.context() as broken, closing(open_sink(kafka, topic, slots=slots)) as sink:
            if slots != 1:
                broken.setattr(Topic, "send", first_share_only)
                with pytest.raises(ConnectionError):
                    sink.deliver(1, in_files(tmp_path, 1, 6))
            else:
                sink.deliver(1, in_files(tmp_path, 1, 6))
                assert sink.delivered() == 1
            told.append(ids(documents(kafka, topic)))
    assert [len(each) for each in told[:2]] == [4, 8]
    assert told[-1] == list(range(100, 112))
    with closing(open_sink(kafka, topic, slots=3)) as sink:
        sink.deliver(1, in_files(tmp_path, 1, 6))
        sink.deliver(2, in_files(tmp_path, 2, 2, first=200))
    assert ids(documents(kafka, topic)) == [*range(100, 112), *range(200, 204)]


def test_of_a_knot_that_was_half_sent_only_that_half_is_taken_back_and_no_file_follows(
    kafka: Kafka, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = in_files(tmp_path, 1, 2)
    send = Topic.send

    def half(self: Topic, claim: str, rows: Any, shares: Any, outgoing: Any) -> Any:
        send(self, claim, rows, shares[1:], outgoing)
        raise ConnectionError

    with monkeypatch.context() as broken, closing(open_sink(kafka, topic, slots=2)) as sink:
        broken.setattr(Topic, "send", half)
        with pytest.raises(ConnectionError):
            sink.deliver(1, rows)
    sent = [message.headers["weft-id"] for message in kafka.consume(topic)]
    assert len(sent) == 2
    with closing(open_sink(kafka, topic, slots=2)) as sink:
        sink.retract(range(1, 2), rows)
        sink.retract(range(1, 2), rows)
        sink.deliver(1, rows)
        taken = [one for one in kafka.consume(topic) if "weft-retracts" in one.headers]
        assert [one.headers["weft-retracts"] for one in taken] == sent
        sink.restore(1, rows)
        sink.deliver(1, rows)
    assert len(kafka.consume(topic)) == 2 + 2 + 4


def test_a_task_that_another_worker_left_behind_is_shut_out_too(
    kafka: Kafka, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes late, with a connection of its own, into a slot that its heir does not even use."""
    late: list[Any] = []
    send = Topic.send

    def later(self: Topic, claim: str, rows: Any, shares: Any, outgoing: Any) -> Any:
        late.append((self, claim, rows, shares, outgoing))
        raise ConnectionError

    zombie = open_sink(kafka, topic, slots=3)
    with monkeypatch.context() as broken:
        broken.setattr(Topic, "send", later)
        with pytest.raises(ConnectionError):
            zombie.deliver(1, in_files(tmp_path, 1, 3))
    with closing(open_sink(kafka, topic, slots=1)) as heir:
        assert {one.outcome for one in send(*late[0])} == {"fenced"}
        heir.deliver(1, in_files(tmp_path, 1, 3))
        assert {one.outcome for one in send(*late[0])} == {"fenced"}
        heir.deliver(2, TWO)
    assert ids(documents(kafka, topic)) == [3, *range(100, 106)]


def test_a_key_stays_in_the_partition_in_which_it_always_was(kafka: Kafka, topic: str) -> None:
    """By its checksum, as clients made of librdkafka choose it: topics that were written by these go on."""
    keys = ["", "a", "n1", "é", "x" * 300]
    with closing(open_sink(kafka, topic, key=("name",), partitions=5)) as sink:
        sink.deliver(1, make_rows(1, *enumerate(keys)))
    producer = Producer({"bootstrap.servers": kafka.servers, "partitioner": "consistent_random"})
    for key in keys:
        producer.produce(topic, b"{}", key)
    assert producer.flush(30) == 0
    places: dict[bytes | None, set[int]] = {}
    for message in kafka.consume(topic):
        places.setdefault(message.key, set()).add(message.partition)
    assert {key: len(found) for key, found in places.items() if key} == {
        key.encode(): 1 for key in keys if key
    }
