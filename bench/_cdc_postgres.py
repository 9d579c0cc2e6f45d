"""PostgreSQL's side of `bench.cdc`: after each change, the documents that it touches are queried again.

The tables have every index that helps, nothing is written to a log, queries are prepared, and each core has a
connection. Only what the queries cost is counted, not the changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self, TypeVar

import psutil
from psycopg import Connection, sql

from bench._cdc_data import TABLES, Change, World
from bench._cdc_weft import EXAMPLE
from weft.servers.postgres import Postgres

T = TypeVar("T")

SETTINGS = {
    "shared_buffers": "2GB",
    "work_mem": "64MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "synchronous_commit": "off",
    "jit": "off",
    "timezone": "UTC",
}
INDEXES = """
create index on star (repo_name, repo_owner, username);
create index on pull_request (author, repo, repo_owner, index);
create index on payment_info (email, verified);
"""
DOCUMENT = """
select u.email, json_build_object(
  'email', u.email,
  'username', u.username,
  'starred_repos', coalesce((
    select json_agg(json_build_object('repo', s.repo_name, 'description', r.description)
                    order by s.repo_name, s.repo_owner)
    from star s left join repo r on r.owner = s.repo_owner and r.name = s.repo_name
    where s.username = u.username), '[]'),
  'pull_requests', coalesce((
    select json_agg(json_build_object('repo', p.repo, 'index', p.index, 'title', p.title,
                                      'created_at', p.created_at, 'status', p.status)
                    order by p.repo, p.repo_owner, p.index)
    from pull_request p where p.author = u.username), '[]'),
  'payment_verified', (select bool_or(y.verified) from payment_info y where y.email = u.email))
from "user" u
"""
TOUCHED = {
    "pull_request": (f"{DOCUMENT} where u.username = %s", ("author",)),
    "star": (f"{DOCUMENT} where u.username = %s", ("username",)),
    "payment_info": (f"{DOCUMENT} where u.email = %s", ("email",)),
    "repo": (
        f"""{DOCUMENT} where u.username in
        (select username from star where repo_owner = %s and repo_name = %s)""",
        ("owner", "name"),
    ),
}
"""For a change of a table: the query of the documents that it touches, and the columns that it takes."""

BATCH = f"""{DOCUMENT} where u.email in (
  select unnest(%(email)s::text[])
  union select o.email from "user" o where o.username = any(%(username)s)
  union select o.email
  from unnest(%(owner)s::text[], %(name)s::text[]) r (owner, name)
  join star s on s.repo_owner = r.owner and s.repo_name = r.name
  join "user" o on o.username = s.username)
"""
"""The documents that many changes touch, each once."""


class Requery:
    """A database with the same rows, whose documents are queried after each change."""

    def __init__(self, folder: Path) -> None:
        self._postgres = Postgres(folder, **SETTINGS)
        self._connections: list[Connection] = []

    def __enter__(self) -> Self:
        self._postgres.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections:
            connection.close()
        self._postgres.__exit__()

    def load(self, world: World) -> None:
        """Make the tables with their rows and indexes."""
        tables = (EXAMPLE / "schema.sql").read_text().partition("alter table")[0]
        self._postgres.run(tables.replace("create table", "create unlogged table"))
        fill(self._postgres, world)
        self._postgres.run(INDEXES)
        self._postgres.run("vacuum analyze")
        self._connections = [self._postgres.connect() for _ in range(os.cpu_count() or 1)]

    def apply(self, changes: Iterable[Change]) -> None:
        """Make changes to the tables, and clean up behind them."""
        with self._postgres.connect() as connection:
            with connection.transaction(), connection.pipeline():
                for change in changes:
                    connection.execute(*statement(change), prepare=True)
            connection.execute("vacuum")

    def requery(self, changes: Sequence[Change]) -> tuple[float, int]:
        """Query the documents of each change; says the backends' CPU seconds, and how many documents came."""

        def touched(connection: Connection, change: Change) -> int:
            query, columns = TOUCHED[change.table]
            values = [change.row[column] for column in columns]
            return connection.execute(query, values, prepare=True).rowcount

        return self._spend(touched, changes)

    def requery_batches(self, changes: Sequence[Change], *, each: int) -> tuple[float, int]:
        """Query the documents of so many changes at a time, each document once; says the same."""

        def touched(connection: Connection, batch: Sequence[Change]) -> int:
            return connection.execute(BATCH, _touched_by(batch), prepare=True).rowcount

        batches = [changes[first : first + each] for first in range(0, len(changes), each)]
        return self._spend(touched, batches)

    def _spend(
        self, query: Callable[[Connection, T], int], asked: Sequence[T]
    ) -> tuple[float, int]:
        """Ask on all connections at once; says the backends' CPU seconds, and how many rows came."""
        before = self._cpu()
        with ThreadPoolExecutor(len(self._connections)) as threads:
            shares = [
                asked[place :: len(self._connections)] for place in range(len(self._connections))
            ]
            found = threads.map(
                lambda connection, share: sum(query(connection, one) for one in share),
                self._connections,
                shares,
            )
            rows = sum(found)
        return self._cpu() - before, rows

    def documents(self, keys: Sequence[str]) -> dict[str, Any]:
        """The documents of these keys."""
        with self._postgres.connect() as connection:
            return dict(connection.execute(f"{DOCUMENT} where u.email = any(%s)", [list(keys)]))

    def _cpu(self) -> float:
        """CPU seconds of the backends that query."""
        backends = (psutil.Process(one.info.backend_pid) for one in self._connections)
        return sum(sum(backend.cpu_times()[:2]) for backend in backends)


def _touched_by(changes: Iterable[Change]) -> dict[str, list[str]]:
    """What the query of many changes takes: keys of users, their names, and repositories."""
    found: dict[str, list[str]] = {"email": [], "username": [], "owner": [], "name": []}
    names = {"author": "username"}
    for change in changes:
        for column in TOUCHED[change.table][1]:
            found[names.get(column, column)].append(change.row[column])
    return found


def fill(postgres: Postgres, world: World) -> None:
    """Write the rows that the tables have in the beginning."""
    with postgres.connect() as connection, connection.cursor() as cursor:
        for table in TABLES:
            with cursor.copy(sql.SQL("copy {} from stdin").format(_name(table))) as copy:
                for row in world.rows(table):
                    copy.write_row(tuple(row.values()))


def statement(change: Change) -> tuple[sql.Composed, list[Any]]:
    """SQL that makes a change, and its values."""
    row, key = change.row, TABLES[change.table]
    name = _name(change.table)
    found = sql.SQL(" and ").join(sql.SQL("{} = %s").format(_name(column)) for column in key)
    at = [row[column] for column in key]
    if change.op == "d":
        return sql.SQL("delete from {} where {}").format(name, found), at
    if change.op == "u":
        rest = [column for column in row if column not in key]
        values = sql.SQL(", ").join(sql.SQL("{} = %s").format(_name(column)) for column in rest)
        update = sql.SQL("update {} set {} where {}").format(name, values, found)
        return update, [*(row[column] for column in rest), *at]
    values = sql.SQL(", ").join(sql.SQL("%s") * len(row))
    return sql.SQL("insert into {} values ({})").format(name, values), list(row.values())


def _name(name: str) -> sql.Identifier:
    return sql.Identifier(name)
