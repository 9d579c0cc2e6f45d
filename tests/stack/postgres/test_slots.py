"""Slots and snapshots: what the server keeps for a table, who may have it, and what happens when it is gone."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.stack.postgres.followed import (
    Follow,
    code_of,
    places,
    rows_of,
    slot,
)
from weft.errors import WeftError
from weft.loading.load import load
from weft.servers.postgres import Postgres
from weft.servers.process import wait_until
from weft.sources.postgres.release import release
from weft.sources.segment import JOURNAL, SegmentError, Segments


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


@pytest.mark.parametrize("called", ["", "theirs"])
def test_a_reader_that_is_not_ours_is_not_sent_away(
    postgres: Postgres,
    name: str,
    tmp_path: Path,
    follow: Follow,
    monkeypatch: pytest.MonkeyPatch,
    called: str,
) -> None:
    monkeypatch.setattr("weft.sources.postgres.slot.LET_GO_S", 0.5)
    postgres.run(f"create table {name} (id int primary key)")
    table = follow(postgres, name, tmp_path)
    table.reads_until([])
    table.leave()
    settings = {**postgres.connection, "application_name": called, "replication": "database"}
    with closing(psycopg.connect(**settings, autocommit=True)) as stranger:
        begin = f'START_REPLICATION SLOT "{slot(table)}" LOGICAL 0/0 '
        options = f"(proto_version '1', publication_names '{slot(table)}')"
        stranger.pgconn.exec_((begin + options).encode())
        assert code_of(table) == "source.slot-active"
        reading = "select 1 from pg_replication_slots where slot_name = %s and active"
        assert postgres.run(reading, slot(table))
    table.reads_until([])


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
