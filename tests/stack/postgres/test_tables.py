"""Documents of tables that are read from PostgreSQL itself, without Kafka: what `weft up` makes of them, while rows
change, workers are killed and the database is restarted, is what the database's own query gives. With `KILLS=20` in the
environment it takes longer, and kills as often at random moments."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import httpx
import psutil
import pytest
import yaml
from psycopg import Connection, Error

from tests.up import running_up, wait_for
from weft.servers.postgres import Postgres

KILLS = int(os.environ.get("KILLS", "0"))
WRITERS = 2
PAUSE_S = 0.2
SETTLE_S = "240"
TABLES = """
create table users (email text primary key, name text, bio text, paid numeric(10, 2), joined timestamptz);
alter table users alter column bio set storage external;
create schema app;
create table app."Sta.rs" (name text, "Ré""po" text, at timestamp, primary key (name, "Ré""po"));
insert into users
  select 'u' || g || '@x', 'u' || g, repeat('bio ' || g, 500), g / 3.0, now() from generate_series(0, 249) g;
insert into app."Sta.rs" select 'u' || g % 10, 'r' || g, now() from generate_series(0, 99) g
"""
PRODUCT = {
    "root": "users",
    "fields": ["name", "bio", "paid"],
    "parts": {
        "stars": {"many": "stars", "on": "name", "fields": {"repo": '`Ré"po`'}},
        "count": {"many": "stars", "on": "name", "aggregate": {"n": "count(*)"}},
    },
}
STATEMENTS = [
    "insert into users values ('{n}@x', 'u{u}', repeat('{n} ', 500), {n} / 7.0, now())",
    "update users set name = 'u{o}' where name = 'u{u}'",
    "update users set paid = paid + 0.01 where name = 'u{u}'",
    "update users set bio = repeat('{n} ', 500) where name = 'u{u}'",
    "update users set email = '{n}+@x' where email = 'u{u}@x'",
    "delete from users where name = 'u{u}' and random() < 0.2",
    """insert into app."Sta.rs" values ('u{u}', 'r{o}', now()) on conflict do nothing""",
    """update app."Sta.rs" set name = 'u{o}' where name = 'u{u}' and random() < 0.3""",
    """delete from app."Sta.rs" where name = 'u{u}' and random() < 0.3""",
]


def write(postgres: Postgres, seed: int, ended: threading.Event) -> None:
    rng, numbers = Random(seed), itertools.count(seed * 1_000_000)
    while not ended.is_set():
        with suppress(Error), postgres.connect() as connection:  # it may be restarting
            while not ended.wait(PAUSE_S):
                change(connection, rng, numbers)


def change(connection: Connection, rng: Random, numbers: Iterator[int]) -> None:
    """One transaction."""
    if rng.random() < 0.005:
        connection.execute('truncate app."Sta.rs"')
    statement = rng.choice(STATEMENTS)
    said = statement.format(u=rng.randrange(12), o=rng.randrange(12), n=next(numbers))
    try:
        connection.execute(said.encode())
    except Error:  # a key that is there already
        if connection.closed:
            raise


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[Postgres]:
    with Postgres(tmp_path / "postgres") as server:
        server.run(TABLES)
        yield server


def write_project(folder: Path, postgres: Postgres, **stars: Any) -> Path:
    """A project without columns, which are learnt from the database."""
    source = {"url": f"postgresql://postgres@127.0.0.1:{postgres.port}/postgres"}
    tables = {
        "users": {"key": "email", "source": {"postgres": source}},
        "stars": {
            "key": ["name", 'Ré"po'],
            "source": {"postgres": {**source, "table": 'app."Sta.rs"', **stars}},
        },
    }
    project = {
        "app_name": "forge",
        "processing": {"checkpoint_interval": 0.1, "queue_size": 200},
        "tables": tables,
        "products": {"profile": PRODUCT},
    }
    folder.mkdir()
    (folder / "weft.yaml").write_text(yaml.safe_dump(project))
    return folder


def weft(up: httpx.Client, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "weft.cli", *words, "--weaver", str(up.base_url)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def kill_workers(up: httpx.Client) -> None:
    for worker in wait_for(lambda: up.get("/workers").json()):
        with suppress(psutil.NoSuchProcess):
            psutil.Process(worker["pid"]).kill()


def knot_of(up: httpx.Client, pipeline: str) -> int:
    found = {one["id"]: one["knot"] for one in up.get("/pipelines").json()}
    return found.get(pipeline) or 0


def wait_for_knots(up: httpx.Client, *pipelines: str, more: int = 1) -> None:
    """Wait until each of the pipelines has tied so many more."""
    for name in pipelines:
        first = wait_for(lambda: up.get("/pipelines").is_success) and knot_of(up, name)
        wait_for(lambda name=name, first=first: knot_of(up, name) >= first + more)


def test_documents_are_those_of_the_database_after_kills_and_restarts(
    tmp_path: Path, postgres: Postgres
) -> None:
    folder = write_project(tmp_path / "project", postgres)
    ended = threading.Event()
    writers = [
        threading.Thread(target=write, args=(postgres, seed, ended))
        for seed in range(1, WRITERS + 1)
    ]
    with running_up(folder) as (_, up):
        try:
            wait_for_knots(up, "users")
            for writer in writers:
                writer.start()
            kill_workers(up)  # within the snapshot, which has several batches
            wait_for_knots(up, "profile", "users", "stars")
            postgres.kill()
            postgres.start()
            wait_for_knots(up, "users", "stars")
            for turn in range(KILLS):
                wait_for_knots(up, "users", more=Random(turn).randrange(8))
                kill_workers(up)
        finally:
            ended.set()
        for writer in writers:
            writer.join()
        against = f"postgresql://postgres@127.0.0.1:{postgres.port}/postgres"
        told = weft(
            up, folder, "product", "check", "profile", "--against", against, "--wait", SETTLE_S
        )
        assert told.returncode == 0, told.stdout + told.stderr
        assert "all are the same" in told.stdout
        listed = weft(up, folder, "table", "list")
        assert 'app."Sta.rs"' in listed.stdout
