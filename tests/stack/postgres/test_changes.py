"""The rows of a table and all changes of them are read once, as they are, whatever is killed on the way."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest
from psycopg import Error

from tests.stack.postgres.followed import (
    Follow,
    code_of,
    places,
    rows_of,
)
from weft.errors import WeftError
from weft.servers.postgres import Postgres
from weft.servers.process import wait_until
from weft.sources.postgres.event import PLACEHOLDER
from weft.sources.segment import Segments


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


def test_a_reader_that_hangs_in_a_snapshot_keeps_nobody_from_the_table(
    postgres: Postgres, name: str, tmp_path: Path, follow: Follow
) -> None:
    postgres.run(f"create table {name} (id int primary key)")
    postgres.run(f"insert into {name} select generate_series(1, 30)")
    table = follow(postgres, name, tmp_path)
    assert table.read()
    table.drop()
    emptying = threading.Thread(target=postgres.run, args=(f"truncate {name}",))
    emptying.start()
    waiting = "select 1 from pg_locks where not granted and relation = %s::regclass"
    wait_until(lambda: bool(postgres.run(waiting, name)), what="nobody waits for the table")
    table.reads_until([])
    emptying.join()


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
    # However few times it is read, it dies once before and once after what it read is written down.
    fates = itertools.chain((0.0, 1.0), iter(rng.random, None))
    append = Segments.append

    def dying(self: Segments, *args: Any, **keys: Any) -> int:
        fate = next(fates)
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
    assert deaths >= 2
