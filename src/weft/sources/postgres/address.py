"""Where a database is and how it is reached: connections, and what goes wrong with them in words. Called by all of
this room that talks to the database."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from weft.errors import WeftError

if TYPE_CHECKING:
    from psycopg import Connection, Error

ANSWER_S = 10
SETTINGS: Mapping[str, str] = {
    "datestyle": "ISO,YMD",
    "intervalstyle": "iso_8601",
    "timezone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}
"""What decides the texts of values, and that nothing ends while a table is read."""


class PostgresError(WeftError):
    """A database that cannot be read."""

    code = "source.database"
    domain = "external"


@dataclass(frozen=True)
class Address:
    """A database, and as whom it is asked."""

    parameters: Mapping[str, Any]
    """What libpq needs, under its names and without the password."""
    password_env: str | None = None
    password_file: str | None = None
    stream: str | None = None
    """The stream that it is asked for, which errors name."""

    @property
    def place(self) -> str:
        """The database for people, without anything that is secret."""
        from psycopg import ProgrammingError, conninfo

        said = {**self.parameters}
        url = said.pop("conninfo", "")
        try:
            said = {**conninfo.conninfo_to_dict(url), **said}
        except ProgrammingError:
            return f"{url!r}"
        host = f"{said.get('host', 'localhost')}:{said.get('port', 5432)}"
        return f"{said.get('dbname') or said.get('user') or 'postgres'} at {host}"

    @contextmanager
    def connect(self, owner: str = "", *, replication: bool = False) -> Iterator[Connection]:
        """A connection on which each statement is a transaction; what it fails with is told in words."""
        connection = self.open(owner, replication=replication)
        try:
            with self.told():
                yield connection
        finally:
            connection.close()

    def open(self, owner: str = "", *, replication: bool = False) -> Connection:
        """A connection that the caller closes."""
        import psycopg

        options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
        said: dict[str, Any] = {
            **self.parameters,
            **self._secret(),
            "client_encoding": "UTF8",
            "options": options,
            "application_name": f"weft {owner}".strip(),
        }
        said.setdefault("connect_timeout", ANSWER_S)
        if replication:
            said["replication"] = "database"
        with self.told():
            return psycopg.connect(**said, autocommit=True, prepare_threshold=None)

    @contextmanager
    def told(self) -> Iterator[None]:
        """Within this, what the database refuses is raised in words."""
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            self.refuse(error)

    def refuse(self, error: Error) -> NoReturn:
        """Raise what the database refused, in words."""
        import psycopg

        said = str(error).strip().replace("\n", " ")
        meaning = _meaning(error.sqlstate, said)
        if meaning is None and isinstance(error, psycopg.OperationalError):
            meaning = (
                "source.database-away",
                "It is asked again by itself. See whether the database runs there, and is reached from here.",
            )
        code, hint = meaning or ("source.database", "The database's own log may say more.")
        raise PostgresError(
            f"Database {self.place} does not do what is asked: {said}",
            code=code,
            hint=hint,
            retryable=code == "source.database-away",
            stream=self.stream,
        ) from error

    def _secret(self) -> dict[str, str]:
        """The password, where one is named; else libpq looks for it in its own places."""
        if self.password_env is not None:
            found = os.environ.get(self.password_env)
            if found is None:
                self._no_password(f"variable {self.password_env} of the environment is not set")
            return {"password": found}
        if self.password_file is not None:
            try:
                return {"password": Path(self.password_file).read_text().strip()}
            except (OSError, UnicodeDecodeError) as error:
                self._no_password(f"file {self.password_file} cannot be read ({error})")
        return {}

    def _no_password(self, why: str) -> NoReturn:
        raise PostgresError(
            f"Database {self.place} cannot be reached: {why}.",
            code="source.no-password",
            domain="user",
            hint="Set it where the worker runs, and where `weft check` does.",
            stream=self.stream,
        )


_CODES: Mapping[str, tuple[str, str]] = {
    "42501": (
        "source.privilege",
        "It takes REPLICATION and SELECT on the table, and to own it unless its publication is there already.",
    ),
    "53400": (
        "source.no-slot-free",
        "Raise `max_replication_slots` of the server, or drop slots that nobody reads: each table has one.",
    ),
    "3D000": ("source.no-database", "Correct `database`, or the end of `url`."),
    "28P01": (
        "source.login",
        "Correct the user, or the password that `password_env` or `password_file` gives.",
    ),
}
_WORDS: tuple[tuple[str, str], ...] = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("no pg_hba.conf entry", "28P01"),
    ('" is not permitted to log in', "28P01"),
    ("permission denied", "42501"),
    ("must be superuser or replication role", "42501"),
    ("max_wal_senders", "53400"),
    ("all replication slots are in use", "53400"),
)
"""What a server says to a connection that it refuses; libpq hands no code on there."""


def _meaning(code: str | None, said: str) -> tuple[str, str] | None:
    if code is not None and code.startswith("28"):
        code = "28P01"
    if code is None:
        code = next((found for words, found in _WORDS if words in said), None)
    if code is None and said.endswith("does not exist"):
        code = "3D000" if "database" in said else "28P01"
    return _CODES.get(code or "")


def need_client() -> None:
    """Refuse to go on without the package that talks to PostgreSQL."""
    if importlib.util.find_spec("psycopg") is None:
        raise PostgresError(
            "PostgreSQL cannot be asked: its client is not installed.",
            code="source.no-client",
            domain="user",
            hint="Type: pip install 'weft[postgres]'",
        )
