"""The whole way, on real servers: rows change by concurrent transactions, what is on the way is killed in turn, and the
documents are those of the database's own query. With `CHANGES=50000` in the environment it takes longer."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import psutil
from psycopg import Connection, Error

from tests.up import running_up, wait_for
from weft.cli.forge import CONNECTOR, Forge, open_forge
from weft.cli.terminal import Terminal
from weft.servers.postgres import Postgres

CHANGES = int(os.environ.get("CHANGES", "600"))
PEOPLE, REPOS = max(12, CHANGES // 50), max(6, CHANGES // 100)
WRITERS = 3
SETTLE_S = "240"
VICTIMS = ("connect", "worker", "kafka")


def change(connection: Connection, rng: Random, numbers: Iterator[int]) -> None:
    """One transaction of one to three changes."""
    people = [f"u{rng.randrange(PEOPLE)}" for _ in range(3)]
    repos = [f"r{rng.randrange(REPOS)}" for _ in range(3)]
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


def kill(turn: int, forge: Forge, up: httpx.Client) -> None:
    """Kill one of those on the way, and have it start again."""
    match VICTIMS[turn % len(VICTIMS)]:
        case "connect":
            forge.connect.kill()
            forge.connect.start()
        case "kafka":
            forge.kafka.kill()
            forge.kafka.start()
        case _:
            for worker in wait_for(lambda: up.get("/workers").json()):
                if worker["connected"]:
                    psutil.Process(worker["pid"]).kill()


def check(up: httpx.Client, forge: Forge) -> subprocess.CompletedProcess[str]:
    """What `weft product check` says."""
    against = f"postgresql://postgres@127.0.0.1:{forge.postgres.port}/postgres"
    command = [sys.executable, "-m", "weft.cli", "product", "check", "user-profile"]
    command += ["--weaver", str(up.base_url), "--against", against, "--wait", SETTLE_S]
    return subprocess.run(command, cwd=forge.project, capture_output=True, text=True, check=False)


def test_documents_are_those_of_the_database_after_kills_of_everything_on_the_way(
    tmp_path: Path,
) -> None:
    with (
        open_forge(Terminal(), tmp_path) as forge,
        running_up(forge.project) as (_, up),
    ):
        wait_for(lambda: forge.connect.offsets(CONNECTOR))
        wait_for(lambda: up.get("/products/user-profile/ada@example.com").is_success)
        writers = [
            threading.Thread(target=write, args=(forge.postgres, seed, CHANGES // WRITERS))
            for seed in range(1, WRITERS + 1)
        ]
        for writer in writers:
            writer.start()
        for turn in itertools.count():
            kill(turn, forge, up)
            if turn >= len(VICTIMS) - 1 and not any(writer.is_alive() for writer in writers):
                break
        told = check(up, forge)
        assert told.returncode == 0, told.stdout + told.stderr
        assert "all are the same" in told.stdout
