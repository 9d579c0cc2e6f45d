"""The whole way, on real servers: rows change by concurrent transactions, what is on the way is killed in turn, and the
documents are those of the database's own query. With `CHANGES=50000` in the environment it takes longer."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import psutil
import pytest
from psycopg import Connection, Error

from weft.servers.connect import Connect
from weft.servers.kafka import Kafka
from weft.servers.postgres import Postgres

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "user-profile"
CHANGES = int(os.environ.get("CHANGES", "600"))
WRITERS = 3
LONGEST_S = 300.0
SETTLE_S = "240"


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[Kafka]:
    """A broker of its own, since it is killed."""
    with Kafka(tmp_path / "kafka") as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, kafka: Kafka) -> Path:
    written = (EXAMPLE / "weft.yaml").read_text()
    folder = tmp_path / "forge"
    folder.mkdir()
    (folder / "weft.yaml").write_text(written.replace("localhost:9092", kafka.servers))
    return folder


@pytest.fixture
def up(project: Path) -> Iterator[httpx.Client]:
    """`weft up` on the example, and a line to its weaver."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "weft.cli", "up", "--port", str(port), "--metrics-port", "0"]
    command += ["--master", "local[2]", "--conf", "spark.driver.memory=1g"]
    process = subprocess.Popen(command, cwd=project, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=address, trust_env=False, timeout=30) as api:
        yield api
    for one in (*psutil.Process(process.pid).children(recursive=True), process):
        one.kill()
    process.wait()


def wait_for(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + LONGEST_S
    while time.monotonic() < deadline:
        try:
            if found := what():
                return found
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise TimeoutError


def change(connection: Connection, rng: Random, numbers: Iterator[int]) -> None:
    """One transaction of one to three changes."""
    people = [f"u{rng.randrange(12)}" for _ in range(3)]
    repos = [f"r{rng.randrange(6)}" for _ in range(3)]
    with connection.transaction():
        for person, repo in itertools.islice(zip(people, repos, strict=True), rng.randint(1, 3)):
            text, number = f"t{rng.random()}", next(numbers)
            connection.execute(
                *STATEMENTS[rng.randrange(len(STATEMENTS))](person, repo, text, number)
            )


Statement = tuple[str, tuple[Any, ...]]
STATEMENTS: list[Callable[[str, str, str, int], Statement]] = [
    lambda u, r, t, n: ('insert into "user" values (%s, %s) on conflict do nothing', (f"{u}@x", u)),
    lambda u, r, t, n: ('delete from "user" where username = %s and random() < 0.3', (u,)),
    lambda u, r, t, n: (
        'update "user" set email = %s where username = %s and random() < 0.3',
        (f"{u}+{n}@x", u),
    ),
    lambda u, r, t, n: (
        "insert into repo values ('o', %s, %s) on conflict (owner, name) do nothing",
        (r, t),
    ),
    lambda u, r, t, n: ("update repo set description = %s where name = %s", (t, r)),
    lambda u, r, t, n: ("delete from repo where name = %s and random() < 0.2", (r,)),
    lambda u, r, t, n: ("insert into star values (%s, %s, 'o') on conflict do nothing", (u, r)),
    lambda u, r, t, n: ("delete from star where username = %s and repo_name = %s", (u, r)),
    lambda u, r, t, n: (
        "insert into pull_request (repo, repo_owner, index, title, author) values (%s, 'o', %s, %s, %s)",
        (r, n, t, u),
    ),
    lambda u, r, t, n: (
        "update pull_request set status = 'merged', title = %s where author = %s and random() < 0.3",
        (t, u),
    ),
    lambda u, r, t, n: ("update pull_request set author = %s where index = %s", (u, n - 5)),
    lambda u, r, t, n: ("insert into payment_info values (%s, %s, true)", (n, f"{u}@x")),
    lambda u, r, t, n: (
        "update payment_info set verified = not verified where email = %s",
        (f"{u}@x",),
    ),
]


def write(postgres: Postgres, seed: int, count: int) -> None:
    rng, numbers, done = Random(seed), itertools.count(seed * 10_000_000, 1), 0
    with postgres.connect() as connection:
        while done < count:
            try:
                change(connection, rng, numbers)
                done += 1
            except Error:  # another transaction was faster: what this one did is undone
                continue


VICTIMS = ("connect", "worker", "kafka")


def kill(turn: int, up: httpx.Client, kafka: Kafka, connect: Connect) -> None:
    """Kill one of those on the way, and have it start again."""
    match VICTIMS[turn % len(VICTIMS)]:
        case "connect":
            connect.kill()
            connect.start()
        case "kafka":
            kafka.java.kill()
            kafka.start()
        case _:
            for worker in wait_for(lambda: up.get("/workers").json()):
                if worker["connected"]:
                    psutil.Process(worker["pid"]).kill()


def check(up: httpx.Client, postgres: Postgres, project: Path) -> subprocess.CompletedProcess[str]:
    """What `weft product check` says."""
    against = f"postgresql://postgres@127.0.0.1:{postgres.port}/postgres"
    command = [sys.executable, "-m", "weft.cli", "product", "check", "user-profile"]
    command += ["--weaver", str(up.base_url), "--against", against, "--wait", SETTLE_S]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def test_documents_are_those_of_the_database_after_kills_of_everything_on_the_way(
    tmp_path: Path, project: Path, kafka: Kafka, up: httpx.Client
) -> None:
    with (
        Postgres(tmp_path / "postgres") as postgres,
        Connect(tmp_path / "connect", kafka) as connect,
    ):
        postgres.run((EXAMPLE / "schema.sql").read_text())
        names = [
            name
            for (name,) in postgres.run(
                "select tablename from pg_tables where schemaname = 'public'"
            )
        ]
        connect.register_postgres("app", postgres, [f"public.{name}" for name in names])
        wait_for(lambda: connect.offsets("app"))
        wait_for(lambda: up.get("/products/user-profile/ada@example.com").is_success)
        writers = [
            threading.Thread(target=write, args=(postgres, seed, CHANGES // WRITERS))
            for seed in range(1, WRITERS + 1)
        ]
        for writer in writers:
            writer.start()
        for turn in itertools.count():
            kill(turn, up, kafka, connect)
            if turn >= len(VICTIMS) - 1 and not any(writer.is_alive() for writer in writers):
                break
        told = check(up, postgres, project)
        assert told.returncode == 0, told.stdout + told.stderr
        assert "all are the same" in told.stdout
