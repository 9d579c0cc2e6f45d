"""A table of a real PostgreSQL behind a journal: its rows and all changes of them once, whatever is killed on the way.
Without Spark; `test_postgres_tables` has the whole way."""

from __future__ import annotations

import itertools
import json
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from psycopg import Error

from weft.declared.read import made
from weft.errors import WeftError
from weft.loading.load import load
from weft.project.definition import SourceSpec, StreamSpec
from weft.schema.schema import Schema
from weft.servers.postgres import Postgres
from weft.servers.process import wait_until
from weft.sources.journal import Journal, records
from weft.sources.postgres.changes import TableChanges
from weft.sources.postgres.event import PLACEHOLDER
from weft.sources.postgres.learn import learn_table
from weft.sources.postgres.release import release
from weft.sources.postgres.slot import SlotRecord
from weft.sources.postgres.source import PostgresSource
from weft.sources.segment import JOURNAL, SegmentError, Segments

QUEUE = 7
Row = dict[str, Any]
Follow = Callable[..., "FollowedTable"]


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    folder = tmp_path_factory.mktemp("postgres")
    settings = {"max_replication_slots": "60", "max_wal_senders": "60"}
    with Postgres(folder, **settings) as server:
        yield server


@pytest.fixture
def follow() -> Iterator[Follow]:
    """Makes tables that are followed, and lets go of them at the end."""
    made: list[FollowedTable] = []

    def make(*given: Any, **keys: Any) -> FollowedTable:
        made.append(FollowedTable(*given, **keys))
        return made[-1]

    yield make
    for table in made:
        table.close()


@pytest.fixture
def name() -> str:
    return f"t_{uuid.uuid4().hex[:10]}"


@dataclass
class FollowedTable:
    """A table as it is read, and what its events say so far."""

    postgres: Postgres
    name: str
    folder: Path
    key: tuple[str, ...] = ("id",)
    options: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, str] | None = None
    queue: int = QUEUE
    number: int = 0
    events: list[Row] = field(default_factory=list)
    journal: Journal | None = None
    opened: list[Journal] = field(default_factory=list)

    @property
    def source(self) -> dict[str, Any]:
        connection = self.postgres.connection
        place = {name: connection[name] for name in ("host", "port", "user")}
        return {**place, "database": connection["dbname"], "table": self.name, **self.options}

    def open(self) -> Journal:
        """The journal with its source, as a worker that starts has it."""
        stream = f"s{self.name}".replace('"', "_").lower()[:20]
        schema = Schema.of(self.columns) if self.columns else learn_table(stream, self.source)
        spec = StreamSpec(stream, schema, SourceSpec("postgres", self.source), key=self.key)
        capture = made(PostgresSource, self.source).capture(spec, self.folder)
        self.journal = Journal(self.folder / JOURNAL, TableChanges(capture))
        self.opened.append(self.journal)
        return self.journal

    def read(self) -> bool:
        """Read one batch; False if there is none now."""
        journal = self.journal or self.open()
        number = journal.next(self.number, max_events=self.queue)
        if number == self.number:
            return False
        self.number = number
        found = [json.loads(value) for _, value in records(self.folder / JOURNAL, number)]
        assert 0 < len(found) <= self.queue
        self.events += found
        return True

    def drop(self) -> None:
        """Lose the reader as one that hangs: its connections are still open."""
        self.journal = None

    def close(self) -> None:
        """Let go of the database."""
        for journal in self.opened:
            journal.close()
        self.journal = None

    def leave(self) -> None:
        """Let go of the database, and wait until it knows."""
        self.close()
        asked = "select 1 from pg_replication_slots where slot_name = %s and active"
        wait_until(lambda: not self.postgres.run(asked, slot(self)), what="the slot is still read")

    def reads_until(self, rows: list[Row]) -> None:
        """Read until the rows are these."""

        def are_there() -> bool:
            while self.read():
                pass
            return self.rows() == rows

        wait_until(are_there, what=f"{self.rows()} did not become {rows}", seconds=30)

    def rows(self) -> list[Row]:
        """What the table holds by what its events say: the highest position wins, in whatever order they came."""
        held: dict[Any, tuple[tuple[int, int], Row | None]] = {}
        swept = (0, 0)
        for event in self.events:
            place = (event["source"]["commit_lsn"], event["source"]["event_serial_no"])
            if event["op"] == "t" or event["source"].get("snapshot") == "last":
                swept = max(swept, place)
            if event["op"] == "t":
                continue
            row = event.get("after") or event["before"]
            key = tuple(row[name] for name in self.key)
            known = held.get(key, ((-1, -1), None))
            if place >= known[0]:
                kept = known[1] or {}
                filled = {
                    name: kept.get(name) if value == PLACEHOLDER else value
                    for name, value in row.items()
                }
                held[key] = (place, None if event["op"] == "d" else filled)
        left = [row for place, row in held.values() if row is not None and place >= swept]
        return sorted(left, key=lambda row: tuple(row[name] for name in self.key))


def rows_of(postgres: Postgres, table: str, order: str = "id") -> list[Row]:
    """The rows as the database itself writes them in JSON."""
    return [row for (row,) in postgres.run(f"select to_jsonb(t) from {table} t order by {order}")]


def code_of(table: FollowedTable) -> str:
    with pytest.raises(WeftError) as refused:
        table.read()
    assert refused.value.hint
    return refused.value.code


def places(table: FollowedTable) -> list[tuple[int, int]]:
    return [(one["source"]["commit_lsn"], one["source"]["event_serial_no"]) for one in table.events]


def test_rows_that_are_there_come_first_and_then_every_change(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key, a text)")
    postgres.run(f"insert into {name} select g, 'r' || g from generate_series(1, 20) g")
    table = follow(postgres, name, tmp_path)
    table.reads_until(rows_of(postgres, name))
    assert [one["op"] for one in table.events] == ["r"] * 20
    assert [one["source"]["snapshot"] for one in table.events][::19] == ["first", "last"]
    postgres.run(f"update {name} set a = 'x' where id < 3; delete from {name} where id = 3")
    postgres.run(f"insert into {name} values (30, 'é\"\\')")
    postgres.run(f"update {name} set id = 40 where id = 4")
    table.reads_until(rows_of(postgres, name))
    assert [one["op"] for one in table.events[20:]] == ["u", "u", "d", "c", "d", "c"]
    assert places(table)[20:] == sorted(set(places(table)[20:]))
    postgres.run(f"truncate {name}")
    postgres.run(f"insert into {name} values (1, 'again')")
    table.reads_until([{"id": 1, "a": "again"}])


def test_a_table_that_is_empty_is_told_to_be(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key)")
    table = follow(postgres, name, tmp_path)
    assert table.read() and [one["op"] for one in table.events] == ["t"]
    postgres.run(f"insert into {name} values (5)")
    table.reads_until([{"id": 5}])


def test_a_large_value_that_did_not_change_is_kept(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key, big text, n int)")
    postgres.run(f"alter table {name} alter column big set storage external")
    postgres.run(f"insert into {name} values (1, repeat('toast ', 2000), 1)")
    table = follow(postgres, name, tmp_path)
    table.reads_until(rows_of(postgres, name))
    postgres.run(f"update {name} set n = 2")
    table.reads_until(rows_of(postgres, name))
    assert table.events[-1]["after"]["big"] == PLACEHOLDER
    for identity, to in (("full", 2), ("default", 3)):
        postgres.run(f"alter table {name} replica identity {identity}")
        postgres.run(f"update {name} set id = {to}")
        table.reads_until(rows_of(postgres, name))
        assert table.events[-1]["after"]["big"].startswith("toast")
    postgres.run(f"update {name} set id = 4; delete from {name}")
    table.reads_until([])


HOSTILE = '''create schema if not exists "we.ird ""schema""";
create table "we.ird ""schema"""."Ta.ble ""é" (
  "Id" int primary key, "select" text, "a ""b""" text, "c.d" int, "Ünï✓" text, "%s" text)'''


def test_names_may_be_anything(postgres: Postgres, tmp_path: Path, follow: Follow) -> None:
    hostile = '"we.ird ""schema"""."Ta.ble ""é"'
    postgres.run(HOSTILE)
    postgres.run(f"insert into {hostile} values (1, 'x', '%s', 2, '\\\\', '{{}}')")
    table = follow(postgres, hostile, tmp_path, key=("Id",))
    table.reads_until(rows_of(postgres, hostile, '"Id"'))
    postgres.run(f"update {hostile} set " + '"a ""b""" = $$it\'s$$')
    table.reads_until(rows_of(postgres, hostile, '"Id"'))


VALUES = """
create type mood as enum ('sad', 'ok'); create domain price as numeric(8, 3);
create domain flag as boolean;
create table {0} (
  id bigint primary key, n numeric, d numeric(10, 2), r real, f double precision, b boolean, z timestamptz,
  t timestamp, day date, clock time, blob bytea, j jsonb, u uuid, tags text[], nums int[], m mood, p price, fl flag,
  i interval, money money, ip inet)"""
ROWS = """
(1, 12.3400, 12.34, 0.1, 0.1, true, '2024-05-06 07:08:09.123456+02', '2024-05-06 07:08:09', '2024-05-06',
  '07:08:09', '\\x00ff', '{"a": 1.10}', '7a1c2f60-3f3e-4c3b-9d51-0d7e7f1f9a01', '{a,"b,c",NULL}', '{1,2}',
  'ok', 1.5, true, '1 year 2 days', 12.5, '10.0.0.1'),
(2, 'NaN', -0.01, 'Infinity', 'NaN', false, 'infinity', '0044-03-15 BC', '0044-03-15 BC', '24:00', '', '[]',
  null, '{}', null, 'sad', null, false, '-1 second', null, null)
"""


def test_values_are_the_same_from_the_table_and_from_the_log(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(VALUES.format(name))
    table = follow(postgres, name, tmp_path)
    postgres.run(f"insert into {name} values {ROWS}")
    while len(table.events) < 2:
        table.read()
    postgres.run(f"update {name} set id = id + 10")
    wait_until(lambda: table.read() and len(table.events) == 6, what="no updates")
    before = [one["after"] for one in table.events[:2]]
    after = [{**one["after"], "id": one["after"]["id"] - 10} for one in table.events[3::2]]
    assert before == after
    first, second = before
    told = {key: first[key] for key in ("n", "z", "t", "blob", "tags", "p", "fl", "i", "clock")}
    assert told == {
        "n": 12.34,
        "z": "2024-05-06T05:08:09.123456Z",
        "t": "2024-05-06T07:08:09",
        "blob": "AP8=",
        "tags": ["a", "b,c", None],
        "p": 1.5,
        "fl": True,
        "i": "P1Y2D",
        "clock": "07:08:09",
    }
    assert [second[key] for key in ("n", "f", "z", "day")] == [
        "NaN",
        "NaN",
        "infinity",
        "-0043-03-15",
    ]


def test_a_transaction_larger_than_a_batch_is_read_in_pieces_each_once(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key, a text)")
    table = follow(postgres, name, tmp_path)
    assert table.read()
    postgres.run(
        f"insert into {name} select g, 'x' from generate_series(1, 50) g; update {name} set id = id + 100"
    )
    wait_until(table.read, what="nothing came")
    table.drop()  # in the midst of it: the next reader is told all of it again
    table.reads_until(rows_of(postgres, name))
    assert len(table.events) == 1 + 50 + 100
    assert len(set(places(table))) == len(table.events)


def test_a_snapshot_that_was_interrupted_begins_again_and_takes_away_what_is_gone(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key, a text)")
    postgres.run(f"insert into {name} select g, 'x' from generate_series(1, 30) g")
    table = follow(postgres, name, tmp_path)
    assert table.read() and table.read()
    table.drop()
    postgres.run(f"delete from {name} where id in (1, 9); update {name} set a = 'y' where id = 2")
    table.reads_until(rows_of(postgres, name))
    assert (
        len(postgres.run("select 1 from pg_replication_slots where slot_name = %s", slot(table)))
        == 1
    )


def slot(table: FollowedTable) -> str:
    record = SlotRecord.find(table.folder)
    assert record is not None
    return record.slot


def change(postgres: Postgres, name: str, seed: int, count: int) -> None:
    rng, done = Random(seed), 0
    with postgres.connect() as connection:
        while done < count:
            of, to = rng.randrange(60), rng.randrange(60)
            statement = rng.choice(
                [
                    f"insert into {name} values ({of}, '{rng.random()}', repeat('{of} ', 3000))",
                    f"update {name} set a = '{rng.random()}' where id = {of}",
                    f"update {name} set big = repeat('{to} ', 3000) where id = {of}",
                    f"delete from {name} where id = {of}",
                    f"update {name} set id = {to} where id = {of}",
                    f"truncate {name}"
                    if rng.random() < 0.05
                    else f"delete from {name} where id = {to}",
                ]
            )
            try:
                connection.execute(statement.encode())
                done += 1
            except Error:
                continue


def test_nothing_is_lost_or_doubled_while_readers_die_and_rows_change(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.run(f"create table {name} (id int primary key, a text, big text)")
    postgres.run(f"alter table {name} alter column big set storage external")
    postgres.run(
        f"insert into {name} select g, 'x', repeat('y', 5000) from generate_series(0, 59) g"
    )
    table, rng = follow(postgres, name, tmp_path), Random(7)
    append = Segments.append

    def dying(self: Segments, *args: Any, **keys: Any) -> int:
        fate = rng.random()
        if fate < 0.1:
            raise ZeroDivisionError
        number = append(self, *args, **keys)
        if fate > 0.9:
            raise ZeroDivisionError
        return number

    monkeypatch.setattr(Segments, "append", dying)
    writers = [threading.Thread(target=change, args=(postgres, name, seed, 150)) for seed in (1, 2)]
    for writer in writers:
        writer.start()
    deaths = 0
    for turn in itertools.count():
        try:
            is_read = table.read()
        except ZeroDivisionError:
            table.drop()
            deaths += 1
            continue
        if turn % 15 == 14:
            table.drop()
        if not is_read and not any(writer.is_alive() for writer in writers):
            break
    monkeypatch.undo()
    table.reads_until(rows_of(postgres, name))
    in_log = [place for place in places(table) if place[1]]
    assert len(in_log) == len(set(in_log))
    assert deaths


def test_a_server_that_is_stopped_or_killed_is_read_on(
    tmp_path: Path,
    follow: Follow,
) -> None:
    with Postgres(tmp_path / "server", fsync="on") as server:
        server.run("create table t (id int primary key)")
        table = follow(server, "t", tmp_path / "source")
        server.run("insert into t values (1)")
        table.reads_until([{"id": 1}])
        server.kill()
        with pytest.raises(WeftError) as away:
            wait_until(lambda: table.read(), what="it is still there")
        assert (away.value.code, away.value.retryable) == ("source.database-away", True)
        server.start()
        server.run("insert into t values (2)")
        table.reads_until([{"id": 1}, {"id": 2}])
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        with pytest.raises(WeftError):
            wait_until(table.read, what="it did not stop")
        stopping.join()
        server.start()
        server.run("insert into t values (3)")
        table.reads_until([{"id": 1}, {"id": 2}, {"id": 3}])
        assert len(set(places(table))) == len(table.events)
        table.close()  # a server waits for its readers before it stops


def test_the_server_need_not_keep_what_is_safe(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.sources.postgres.changes.TELL_S", 0.0)
    postgres.run(f"create table {name} (id int primary key)")
    postgres.run(f"create table {name}_other (id int primary key)")
    table = follow(postgres, name, tmp_path)
    table.read()
    postgres.run(f"insert into {name}_other select generate_series(1, 100)")
    [(end,)] = postgres.run("select pg_current_wal_lsn()")

    def is_told() -> bool:
        table.read()
        asked = "select confirmed_flush_lsn >= %s::pg_lsn from pg_replication_slots where slot_name = %s"
        return postgres.run(asked, end, slot(table)) == [(True,)]

    wait_until(is_told, what="the slot stays where it is")


def test_a_slot_that_is_gone_stops_the_table_or_reads_it_anew(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key)")
    postgres.run(f"insert into {name} values (1), (2)")
    table = follow(postgres, name, tmp_path)
    table.reads_until([{"id": 1}, {"id": 2}])
    table.leave()
    postgres.run("select pg_drop_replication_slot(%s)", slot(table))
    postgres.run(f"delete from {name} where id = 1; insert into {name} values (3)")
    assert code_of(table) == "source.slot-lost"
    table.drop()
    table.options = {"when_lost": "snapshot"}
    table.reads_until([{"id": 2}, {"id": 3}])


def test_a_slot_that_another_reader_moved_on_is_found_out(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key)")
    table = follow(postgres, name, tmp_path)
    table.reads_until([])
    table.leave()
    postgres.run(f"insert into {name} values (1)")
    postgres.run("select pg_replication_slot_advance(%s, pg_current_wal_lsn())", slot(table))
    assert code_of(table) == "source.slot-lost"


def test_a_slot_of_somebody_else_is_left_alone(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key)")
    postgres.run("select pg_create_logical_replication_slot(%s, 'pgoutput')", name)
    table = follow(postgres, name, tmp_path, options={"slot": name})
    assert code_of(table) == "source.slot-taken"
    assert postgres.run("select 1 from pg_replication_slots where slot_name = %s", name) == [(1,)]


def test_a_table_that_is_altered_goes_on_if_what_is_declared_is_there(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key, a int, b text)")
    columns = {"id": "int", "a": "long"}
    table = follow(postgres, name, tmp_path, columns=columns)
    table.reads_until([])
    postgres.run(f"insert into {name} values (1, 1, 'x')")
    postgres.run(f"alter table {name} add column c int default 5, drop column b")
    postgres.run(f"alter table {name} alter column a type bigint")
    postgres.run(f"insert into {name} values (2, 5000000000)")
    table.reads_until([{"id": 1, "a": 1}, {"id": 2, "a": 5_000_000_000}])
    postgres.run(f"insert into {name} values (8, 8); delete from {name} where id = 8")
    postgres.run(f"alter table {name} alter column a type timestamptz using now()")
    postgres.run(f"insert into {name} values (3, now())")
    before = len(table.events)
    with pytest.raises(WeftError) as refused:
        wait_until(lambda: not table.read() and False, what="it is not refused")
    assert [one["op"] for one in table.events[before:]] == ["c", "d"]
    assert (refused.value.code, refused.value.ids["column"]) == ("source.table-changed", "a")
    postgres.run(f"alter table {name} drop column a")
    table.drop()
    assert code_of(table) == "source.table-changed"
    table.drop()
    table.columns = {"id": "int"}
    table.reads_until([{"id": 1, "a": 1}, {"id": 2, "a": 5_000_000_000}, {"id": 3}])


def test_a_column_that_is_declared_once_it_is_there_is_null_in_what_was_before(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key)")
    table = follow(postgres, name, tmp_path, columns={"id": "int"})
    table.reads_until([])
    table.close()
    postgres.run(f"insert into {name} values (1)")
    postgres.run(f"alter table {name} add column a int")
    postgres.run(f"insert into {name} values (2, 2)")
    table.columns = {"id": "int", "a": "int"}
    table.reads_until([{"id": 1}, {"id": 2, "a": 2}])


@pytest.mark.parametrize(
    ("ddl", "keys", "code"),
    [
        ("create table {0} (id int)", {}, "source.identity"),
        ("create table {0} (id int primary key, a int)", {"key": ("a",)}, "source.identity"),
        (
            "create table {0} (id int primary key); alter table {0} replica identity nothing",
            {},
            "source.identity",
        ),
        ("create view {0} as select 1 as id", {}, "source.no-table"),
        ("select '{0}'", {"columns": {"id": "int"}}, "source.no-table"),
        (
            "create table {0} (id int primary key)",
            {"columns": {"id": "int", "a": "int"}},
            "source.table-changed",
        ),
        (
            "create table {0} (id int primary key, a timestamp)",
            {"columns": {"id": "int", "a": "int"}},
            "source.table-changed",
        ),
        (
            "create table {0} (id int primary key); create publication {0}",
            {"options": {"publication": "{0}"}},
            "source.publication",
        ),
        (
            "create table {0} (id int primary key); create publication {0} for table {0} where (id > 1)",
            {"options": {"publication": "{0}"}},
            "source.publication",
        ),
    ],
)
def test_a_table_that_cannot_be_followed_is_refused(
    postgres: Postgres,
    name: str,
    tmp_path: Path,
    follow: Follow,
    ddl: str,
    keys: dict[str, Any],
    code: str,
) -> None:
    postgres.run(ddl.format(name))
    options = {key: value.format(name) for key, value in keys.pop("options", {}).items()}
    keys = {"columns": {"id": "int"}, **keys} if "view" in ddl else keys
    assert code_of(follow(postgres, name, tmp_path, options=options, **keys)) == code
    left = "select 1 from pg_replication_slots where slot_name like %s"
    assert postgres.run(left, f"weft_s{name[:19]}%") == []


def test_a_database_that_refuses_says_why(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.run(f"create table {name} (id int primary key); create role r_{name} login")
    table = follow(postgres, name, tmp_path, columns={"id": "int"})
    for options, code in (
        ({"user": f"r_{name}"}, "source.privilege"),
        ({"database": "nowhere"}, "source.no-database"),
        ({"user": "nobody_here"}, "source.login"),
        ({"port": 1}, "source.database-away"),
        ({"password_env": "NOT_SET_ANYWHERE"}, "source.no-password"),
        ({"password_file": str(tmp_path / "none")}, "source.no-password"),
    ):
        table.options = options
        assert code_of(table) == code, options
        table.drop()


def test_a_password_is_taken_from_where_it_is_said(
    tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Postgres(tmp_path / "server") as server:
        server.run("create role app login replication superuser password 'right'")
        server.run("create table t (id int primary key)")
        rules = tmp_path / "server" / "data" / "pg_hba.conf"
        rules.write_text("host all app all scram-sha-256\n" + rules.read_text())
        server.run("select pg_reload_conf()")
        (tmp_path / "password").write_text("right\n")
        monkeypatch.setenv("WRONG", "wrong")
        for options in ({}, {"password_env": "WRONG"}):
            table = follow(server, "t", tmp_path, options={"user": "app", **options})
            wait_until(lambda table=table: is_refused(table), what="it is let in")  # type: ignore[misc]
        table = follow(
            server,
            "t",
            tmp_path,
            options={"user": "app", "password_file": str(tmp_path / "password")},
        )
        table.reads_until([])
        table.close()


def is_refused(table: FollowedTable) -> bool:
    try:
        table.open()
    except WeftError as error:
        return error.code == "source.login"
    return False


def test_a_server_without_a_log_of_changes_is_refused(tmp_path: Path, follow: Follow) -> None:
    with Postgres(tmp_path / "server", wal_level="replica") as server:
        server.run("create table t (id int primary key)")
        assert code_of(follow(server, "t", tmp_path / "source")) == "source.wal-level"


def test_slots_are_counted(tmp_path: Path, follow: Follow) -> None:
    with Postgres(tmp_path / "server", max_replication_slots="1") as server:
        server.run("create table a (id int primary key); create table b (id int primary key)")
        assert follow(server, "a", tmp_path / "a").read()
        assert code_of(follow(server, "b", tmp_path / "b")) == "source.no-slot-free"


def test_a_log_that_was_thrown_away_is_found_out(tmp_path: Path, follow: Follow) -> None:
    small = {"max_slot_wal_keep_size": "1MB", "min_wal_size": "32MB", "max_wal_size": "32MB"}
    with Postgres(tmp_path / "server", **small) as server:
        server.run("create table t (id int primary key); create table other (a text)")
        table = follow(server, "t", tmp_path / "source")
        table.reads_until([])
        table.leave()
        for _ in range(4):
            server.run("insert into other select repeat('x', 1000) from generate_series(1, 20000)")
            server.run("select pg_switch_wal()")
            server.run("checkpoint")
        assert code_of(table) == "source.slot-lost"


def test_partitions_are_one_table(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key, a text) partition by range (id)")
    postgres.run(f"create table {name}_1 partition of {name} for values from (0) to (10)")
    postgres.run(f"create table {name}_2 partition of {name} for values from (10) to (20)")
    postgres.run(f"insert into {name} values (1, 'x')")
    table = follow(postgres, name, tmp_path)
    table.reads_until(rows_of(postgres, name))
    postgres.run(f"insert into {name} values (11, 'y'); update {name} set id = 12 where id = 1")
    table.reads_until(rows_of(postgres, name))


def test_of_two_workers_one_reads(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key)")
    first, second = follow(postgres, name, tmp_path), follow(postgres, name, tmp_path)
    first.reads_until([])
    second.reads_until([])
    postgres.run(f"insert into {name} values (1)")
    second.reads_until([{"id": 1}])
    first.reads_until([{"id": 1}])  # from the journal, though it was sent away
    assert first.number == second.number
    postgres.run(f"insert into {name} values (2)")
    first.reads_until([{"id": 1}, {"id": 2}])
    with pytest.raises(SegmentError) as taken:
        Segments(tmp_path / JOURNAL).append([], number=first.number, stated={}, only=True)
    assert taken.value.code == "source.segment-taken"


def test_a_table_that_is_no_longer_read_lets_go_of_its_slot(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key)")
    table = follow(postgres, name, tmp_path, options={"slot": f"weft_{name}"})
    table.reads_until([])
    url = f"postgresql://postgres@127.0.0.1:{postgres.port}/postgres"
    source = {"postgres": {"url": url, "table": name, "slot": f"weft_{name}"}}
    stream = f"s{name}"
    project = load({"app_name": "shop", "tables": {stream: {"key": "id", "source": source}}})
    with pytest.raises(WeftError) as active:
        release(project, stream)
    assert active.value.code == "source.slot-active"
    table.leave()
    assert release(project, stream) == [f"slot weft_{name}", f"publication weft_{name}"]
    assert release(project, stream) == []
    assert code_of(table) == "source.slot-lost"
