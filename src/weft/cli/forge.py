"""The forge that `weft demo --cdc` is about: a folder comes in, out come a database, the servers that tell its changes,
and the project that reads them, written into that folder."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from weft.cli.terminal import Terminal
from weft.errors import WeftError
from weft.servers.connect import Connect
from weft.servers.kafka import Kafka
from weft.servers.postgres import Postgres

EXAMPLE = "user-profile"
CONNECTOR = "app"
SCHEMA = "schema.sql"
PROJECT = "weft.yaml"
SERVERS = "localhost:9092"
"""Where the example's project looks for Kafka."""


@dataclass(frozen=True)
class Forge:
    """What the story needs at hand while the servers run."""

    postgres: Postgres
    kafka: Kafka
    connect: Connect
    project: Path


class ExampleMissingError(WeftError):
    """The files of the example are not where they belong."""

    code = "demo.no-example"
    domain = "internal"


@contextmanager
def open_forge(terminal: Terminal, folder: Path) -> Iterator[Forge]:
    """Start PostgreSQL, Kafka and Kafka Connect below the folder, and say how long each took."""
    example = find_example()
    with ExitStack() as servers:
        postgres = Postgres(folder / "postgres")
        with _told(terminal, "PostgreSQL", postgres.port):
            servers.enter_context(postgres)
            postgres.run((example / SCHEMA).read_text())
        kafka = Kafka(folder / "kafka")
        with _told(terminal, "Kafka", kafka.broker):
            servers.enter_context(kafka)
        connect = Connect(folder / "connect", kafka)
        with _told(terminal, "Kafka Connect with Debezium", connect.port):
            servers.enter_context(connect)
            found = postgres.run("select tablename from pg_tables where schemaname = 'public'")
            connect.register_postgres(CONNECTOR, postgres, [f"public.{name}" for (name,) in found])
        project = folder / EXAMPLE
        project.mkdir()
        written = (example / PROJECT).read_text()
        (project / PROJECT).write_text(written.replace(SERVERS, kafka.servers))
        yield Forge(postgres, kafka, connect, project)


def find_example() -> Path:
    """The folder of the example: beside this package where it is installed, else in the clone."""
    package = Path(__file__).parent.parent
    for folder in (package / "examples", package.parent.parent / "examples"):
        if (folder / EXAMPLE / PROJECT).exists():
            return folder / EXAMPLE
    raise ExampleMissingError(f"The files of the example {EXAMPLE!r} are not there.")


@contextmanager
def _told(terminal: Terminal, name: str, port: int) -> Iterator[None]:
    """Say that a server is up, where, and after how long."""
    started = time.monotonic()
    with terminal.wait(f"Starting {name}"):
        yield
    took = time.monotonic() - started
    terminal.output.line(f"  {name:<28} 127.0.0.1:{port:<6} {took:4.1f} s")
