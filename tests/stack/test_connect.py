"""What Debezium writes to Kafka about the changes of tables: what sources that read it may rely on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.reading import read
from tests.stack.servers import Kafka, Message
from weft.project.definition import SourceSpec, StreamSpec
from weft.project.settings import Processing
from weft.schema.change import with_change
from weft.schema.schema import Schema
from weft.servers.connect import Connect
from weft.servers.postgres import Postgres
from weft.servers.process import wait_until
from weft.sources import open_stream, parsing_of
from weft.sources.learn import learn_columns
from weft.sources.parse import parse

UNAVAILABLE = "__debezium_unavailable_value"
TABLES = """
create table item (
  shop text, number int, title text, price numeric(12, 4), seen timestamptz, day date, facts jsonb,
  mark uuid, tags text[], prose text, primary key (shop, number)
);
alter table item alter column prose set storage external;
create table note (id bigint primary key, body text);
alter table note replica identity full;
insert into note values (1, 'there before');
"""
LONG = "toast " * 2000
MARK = "7a1c2f60-3f3e-4c3b-9d51-0d7e7f1f9a01"
ITEM = ("a", 1, "lamp", "12.3400", "2024-05-06 07:08:09.123456+00", "2024-05-06", '{"w": 1}')


@dataclass(frozen=True)
class Stack:
    """The three servers, as a test uses them."""

    postgres: Postgres
    kafka: Kafka
    connect: Connect

    def changes(self, topic: str, number: int) -> list[Message]:
        """The messages of a topic, once there are so many of them; tombstones count too."""
        found: list[Message] = []

        def are_there() -> bool:
            found[:] = self.kafka.consume(topic)
            return len(found) >= number

        wait_until(are_there, what=f"{topic} did not get {number} messages")
        return found


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, kafka: Kafka) -> Iterator[Stack]:
    """PostgreSQL and Kafka Connect beside the broker of the whole run."""
    folder = tmp_path_factory.mktemp("connect")
    with Postgres(folder / "postgres") as postgres, Connect(folder / "connect", kafka) as connect:
        yield Stack(postgres, kafka, connect)


def key_of(message: Message) -> dict[str, Any]:
    assert message.key is not None
    key: dict[str, Any] = json.loads(message.key)
    return key


def told(messages: list[Message]) -> list[tuple[str, Any]]:
    """What happened to which key: c, r, u, d, t of the events, and † for a tombstone."""
    return [
        (
            "†" if message.value is None else message.document["op"],
            None if message.key is None else tuple(key_of(message).values()),
        )
        for message in messages
    ]


def test_every_kind_of_change_arrives_in_its_form(stack: Stack) -> None:
    stack.postgres.run(TABLES)
    stack.connect.register_postgres(
        "forms", stack.postgres, ["public.item", "public.note"], skipped_operations="none"
    )
    for sql, *values in (
        (
            "insert into item values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            *ITEM,
            MARK,
            ["x", "y"],
            LONG,
        ),
        ("update item set title = 'lantern' where number = 1",),
        ("update item set number = 2 where number = 1",),
        ("delete from item where number = 2",),
        ("insert into note values (2, 'b')",),
        ("update note set body = 'c' where id = 2",),
        ("delete from note where id = 2",),
        ("truncate note",),
    ):
        stack.postgres.run(sql, *values)

    items = stack.changes("forms.public.item", 7)
    assert told(items) == [
        ("c", ("a", 1)),
        ("u", ("a", 1)),
        *[("d", ("a", 1)), ("†", ("a", 1)), ("c", ("a", 2))],  # a key that changes
        *[("d", ("a", 2)), ("†", ("a", 2))],
    ]
    created, updated, _, _, renamed, deleted, _ = (message.document for message in items)
    assert created["before"] is None
    assert created["after"] == {
        "shop": "a",
        "number": 1,
        "title": "lamp",
        "price": "12.3400",
        "seen": "2024-05-06T07:08:09.123456Z",
        "day": 19849,
        "facts": '{"w": 1}',
        "mark": MARK,
        "tags": ["x", "y"],
        "prose": LONG,
    }
    assert updated["before"] is None
    assert updated["after"] == {**created["after"], "title": "lantern", "prose": UNAVAILABLE}
    assert renamed["after"]["number"] == 2
    assert deleted["after"] is None
    # Without replica identity full, what is not the key is made up.
    assert (deleted["before"]["number"], deleted["before"]["title"]) == (2, None)

    notes = stack.changes("forms.public.note", 6)
    assert told(notes) == [
        *[("r", (1,)), ("c", (2,)), ("u", (2,)), ("d", (2,)), ("†", (2,))],
        ("t", None),
    ]
    read, _, edited, gone, _, emptied = (message.document for message in notes)
    assert (read["source"]["snapshot"], edited["source"]["snapshot"]) == ("last", "false")
    assert (edited["before"], edited["after"]) == ({"id": 2, "body": "b"}, {"id": 2, "body": "c"})
    assert (gone["before"], gone["after"]) == ({"id": 2, "body": "c"}, None)
    assert (emptied["before"], emptied["after"]) == (None, None)

    for topic in (items, notes):
        positions = [one.document["source"]["lsn"] for one in topic if one.value is not None]
        assert positions == sorted(positions)
    by_key = [one["source"]["lsn"] for one in (read, edited, gone, emptied)]
    assert len(set(by_key)) == len(by_key)


UNWRAPPED = {
    "transforms": "unwrap",
    "transforms_unwrap_type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms_unwrap_add_fields": "op,lsn,source.sequence,source.ts_us",
}


@pytest.mark.parametrize("schemas", ["true", "false"])
def test_rows_that_were_unwrapped_are_deleted_by_records_without_a_value(
    stack: Stack, spark: SparkSession, tmp_path: Path, schemas: str
) -> None:
    name = f"unwrapped_{schemas}"
    stack.postgres.run(f"create table {name} (id bigint primary key, op text, at timestamptz)")
    stack.postgres.run(f"insert into {name} values (1, 'x', '2024-05-06 07:08:09Z')")
    stack.connect.register_postgres(
        name,
        stack.postgres,
        [f"public.{name}"],
        key_converter_schemas_enable=schemas,
        value_converter_schemas_enable=schemas,
        **UNWRAPPED,
    )
    for sql in (
        "insert into {} values (2, 'y', null)",
        "update {} set op = 'z' where id = 1",
        "update {} set id = 3 where id = 2",
        "delete from {} where id = 1",
    ):
        stack.postgres.run(sql.format(name))
    topic = f"{name}.public.{name}"
    stack.changes(topic, 6)
    stack.kafka.produce(topic, [None], keys=["17"])

    options: dict[str, Any] = {"servers": stack.kafka.servers, "topic": topic, "unwrapped": True}
    columns = (
        learn_columns(options)
        if schemas == "true"
        else Schema.of({"id": "long", "op": "string", "at": "timestamp"})
    )
    assert columns.to_dict() == {"id": "bigint", "op": "string", "at": "timestamp"}
    source = SourceSpec("debezium", options)
    table = StreamSpec("t", with_change(columns), source, key=("id",), changing=True)
    raw = open_stream(spark, table, checkpoint=tmp_path, processing=Processing())
    [rows] = read(parse(raw, parsing_of(table), source="t"), tmp_path / "c", rows=7).values()
    assert rows.pop()["_bad"] == "it has no value, and its key names no columns"
    assert [row["_bad"] for row in rows] == [None] * 6
    assert [(row["_change"]["op"], row["id"], row["op"]) for row in rows] == [
        *[("r", 1, "x"), ("c", 2, "y"), ("u", 1, "z")],
        *[("d", 2, None), ("c", 3, "y")],  # a key that changes
        ("d", 1, None),
    ]
    places = [row["_change"]["position"] for row in rows if row["_change"]["op"] != "d"]
    assert None not in places and places == sorted(places)


def test_a_change_arrives_at_least_once_however_connect_dies(stack: Stack) -> None:
    stack.postgres.run("create table tally (id int primary key, n int)")
    stack.postgres.run("insert into tally values (0, 0)")
    stack.connect.register_postgres("deaths", stack.postgres, ["public.tally"])
    wait_until(lambda: bool(stack.connect.offsets("deaths")), what="no offset was written")
    for number in range(1, 60):
        stack.postgres.run("insert into tally values (%s, 0)", number)
        stack.postgres.run("update tally set n = %s where id = %s", number, number)
        if number == 30:
            stack.connect.kill()
    stack.connect.start()
    stack.connect.wait_until_following("deaths", stack.postgres)
    stack.postgres.run("insert into tally values (60, 0)")

    expected = {(number, n) for number in range(60) for n in (0, number)} | {(60, 0)}
    rows: list[dict[str, Any]] = []

    def are_there() -> bool:
        messages = stack.kafka.consume("deaths.public.tally")
        rows[:] = [message.document for message in messages]
        return {(row["after"]["id"], row["after"]["n"]) for row in rows} >= expected

    wait_until(are_there, what="not all changes arrived")
    last = {row["after"]["id"]: row["after"]["n"] for row in rows}
    assert last == {number: number for number in range(60)} | {60: 0}
    by_position = {}
    for row in rows:
        kept = by_position.setdefault((row["source"]["lsn"], row["after"]["id"]), row["after"])
        assert kept == row["after"], "a repeated change is the same change"
