"""What cannot be followed is refused with a reason and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.stack.postgres.followed import (
    Follow,
    FollowedTable,
    code_of,
)
from weft.errors import WeftError
from weft.servers.postgres import Postgres
from weft.servers.process import wait_until


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
