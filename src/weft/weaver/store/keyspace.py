"""A keyspace of Cassandra as the place of a weaver's store: an address comes in, out come statements that run, or fail
as errors of the store. `weft store create` makes its tables; the write log and the shelves of a store use it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from cassandra import ConsistencyLevel, DriverException, InvalidRequest
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.concurrent import execute_concurrent
from cassandra.connection import ConnectionException
from cassandra.policies import (
    ConstantReconnectionPolicy,
    DCAwareRoundRobinPolicy,
    FallthroughRetryPolicy,
    TokenAwarePolicy,
)
from cassandra.protocol import RequestExecutionException, ServerError
from cassandra.query import BatchStatement, BatchType, SimpleStatement

from weft.errors import WeftError
from weft.weaver.store.address import KeyspaceAddress

CONNECT_S = 5.0
ANSWER_S = 5.0
PROTOCOL = 5  # Cassandra 4 and later
AT_ONCE = 64
ROWS = 500
"""Rows are fetched by so many at a time."""
T = TypeVar("T")

TABLES = (
    # One partition that only lightweight transactions write: what was decided, in order, and by whom.
    """
    CREATE TABLE IF NOT EXISTS @log (
      seat text, number bigint, by_term bigint, more boolean, writes blob,
      term bigint static, head bigint static, beat bigint static, applied bigint static,
      holder text static, address text static,
      PRIMARY KEY (seat, number)
    ) WITH gc_grace_seconds = 3600
    """,
    # What the log comes to: written again and again with the number in the log as its time, so the newest wins.
    """
    CREATE TABLE IF NOT EXISTS @kept (
      shelf blob, key blob, value blob, PRIMARY KEY (shelf, key)
    )
    """,
    "CREATE TABLE IF NOT EXISTS @shelves (part blob, shelf blob, PRIMARY KEY (part, shelf))",
)
FIRST = """
INSERT INTO @log (seat, term, head, beat, applied) VALUES ('weaver', 0, 0, 0, 0) IF NOT EXISTS
"""


AWAY = (
    DriverException,
    NoHostAvailable,
    ConnectionException,
    RequestExecutionException,
    ServerError,
    OSError,
)


class StoreAwayError(WeftError):
    """The cluster does not answer, or not enough of it."""

    code = "store.away"
    domain = "external"
    retryable = True

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The weaver's store in Cassandra does not answer: {reason}.",
            hint="Look at the cluster; weavers and workers wait and go on by themselves.",
        )


class KeyspaceMissingError(WeftError):
    """The keyspace, or a table in it, was not made."""

    code = "store.missing"
    domain = "missing"


class Keyspace:
    """A connection to the cluster, for the statements of one store; `@` in them stands for its keyspace."""

    def __init__(self, address: KeyspaceAddress, *, is_made: bool = True) -> None:
        self.address = address
        self._cluster, self._session = _connected(address)
        self._prepared: dict[str, Any] = {}
        if is_made:
            try:
                self.run("SELECT head FROM @log WHERE seat = 'weaver'")
            except BaseException:
                self.close()
                raise

    def run(self, statement: str, *values: Any, serial: bool = False) -> list[Any]:
        """The rows of a statement; raises StoreAwayError when its outcome is not known, or it was not run."""
        return self._asked(
            lambda: list(self._session.execute(self._bound(statement, values, serial)))
        )

    def read(self, statement: str, *values: Any) -> list[Any]:
        """The rows of a query, which may be asked twice."""
        try:
            return self.run(statement, *values)
        except StoreAwayError:
            return self.run(statement, *values)

    def decide(self, statement: str, *values: Any) -> tuple[bool, Any]:
        """Whether a conditional statement was applied, and the row that it found otherwise."""

        def ask() -> tuple[bool, Any]:
            found = self._session.execute(self._bound(statement, values))
            return bool(found.was_applied), found.one()

        return self._asked(ask)

    def run_all(self, groups: Iterable[Sequence[tuple[str, Sequence[Any]]]]) -> None:
        """Run groups of writes at once; those of one group go to one partition and are one write."""
        batches = []
        for group in groups:
            batch = BatchStatement(BatchType.UNLOGGED)
            for statement, values in group:
                batch.add(self._bound(statement, values))
            batches.append((batch, ()))
        self._asked(lambda: execute_concurrent(self._session, batches, concurrency=AT_ONCE))

    def create(self, *, replicas: int) -> None:
        """Make the keyspace and its tables; those that are there stay as they are."""
        name = self.address.keyspace
        replication = f"{{'class': 'NetworkTopologyStrategy', 'replication_factor': {replicas}}}"
        self.run(f"CREATE KEYSPACE IF NOT EXISTS {name} WITH replication = {replication}")
        for table in TABLES:
            self.run(table)
        self.decide(FIRST)

    def close(self) -> None:
        """End the connection."""
        self._cluster.shutdown()

    def _bound(self, statement: str, values: Sequence[Any], serial: bool = False) -> Any:
        text = statement.replace("@", f"{self.address.keyspace}.")
        if values:
            prepared = self._prepared.get(statement)
            if prepared is None:
                prepared = self._asked(lambda: self._session.prepare(text))
                self._prepared[statement] = prepared
            bound = prepared.bind(values)
        else:
            bound = SimpleStatement(text)
        bound.fetch_size = ROWS
        bound.serial_consistency_level = ConsistencyLevel.SERIAL
        if serial:
            bound.consistency_level = ConsistencyLevel.SERIAL
        return bound

    def _asked(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except InvalidRequest as error:
            if "not exist" not in str(error) and "unconfigured table" not in str(error):
                raise
            raise KeyspaceMissingError(
                f"There is no weaver's store at {self.address}.",
                hint=f"Make it with `weft store create --store {self.address}`.",
            ) from error
        except AWAY as error:
            raise StoreAwayError(_reason(error)) from error


def _connected(address: KeyspaceAddress) -> tuple[Cluster, Any]:
    """The driver's cluster and session."""
    profile = ExecutionProfile(
        request_timeout=ANSWER_S,
        consistency_level=ConsistencyLevel.QUORUM,
        # What is safe to repeat is known here, and not to the driver.
        retry_policy=FallthroughRetryPolicy(),
        load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy()),
    )
    user = os.environ.get("WEFT_CASSANDRA_USER")
    password = os.environ.get("WEFT_CASSANDRA_PASSWORD", "")
    cluster = Cluster(
        address.hosts,
        port=address.port,
        protocol_version=PROTOCOL,
        # The driver sends in small parts, each of which would else wait for the acknowledgement of the one before.
        sockopts=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
        auth_provider=PlainTextAuthProvider(user, password) if user else None,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        connect_timeout=CONNECT_S,
        reconnection_policy=ConstantReconnectionPolicy(1.0, None),
    )
    try:
        return cluster, cluster.connect()
    except AWAY as error:
        cluster.shutdown()
        raise StoreAwayError(_reason(error)) from error


def _reason(error: BaseException) -> str:
    """Why the driver gave up, in one line."""
    errors = getattr(error, "errors", None)
    if isinstance(errors, dict) and errors:
        return "; ".join(f"{host}: {why}" for host, why in errors.items())[:500]
    return (str(error) or type(error).__name__).rstrip(".")[:500]
