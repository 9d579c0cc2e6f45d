"""Stores in a real Cassandra, for tests and benches: each in a keyspace of its own, opened as a leader does."""

from __future__ import annotations

import itertools
import os

from weft.servers.cassandra import Cassandra
from weft.weaver.store.address import KeyspaceAddress, connect
from weft.weaver.store.cassandra import TERM_S, CassandraStore
from weft.weaver.store.writelog import WriteLog

_numbers = itertools.count(1)


def new_keyspace(cassandra: Cassandra) -> str:
    """The address of an empty store."""
    address = cassandra.address(f"test_{os.getpid()}_{next(_numbers)}")
    keyspace = connect(KeyspaceAddress.parse(address), is_made=False)
    keyspace.create(replicas=1)
    keyspace.close()
    return address


def open_store(address: str, *, term_s: float = TERM_S) -> CassandraStore:
    """The store at an address in a new term, whoever leads now."""
    keyspace = connect(KeyspaceAddress.parse(address))
    log = WriteLog(keyspace)
    seat = log.take(log.seat(exactly=True), holder="test", address="http://127.0.0.1:1")
    assert seat is not None
    return CassandraStore(keyspace, seat, term_s=term_s)


def new_store(cassandra: Cassandra) -> CassandraStore:
    """An empty store."""
    return open_store(new_keyspace(cassandra))
