"""A copy of a store in Cassandra as it was at one moment, for reading only, while weavers go on writing."""

from __future__ import annotations

from weft.weaver.store.address import KeyspaceAddress, connect
from weft.weaver.store.cassandra import CassandraTables
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.store import Write
from weft.weaver.store.writelog import LogTrimmedError, WriteLog

TRIES = 5


def read_copy(address: KeyspaceAddress) -> MemoryStore:
    """Everything that was acknowledged before some moment after this was called.

    The tables are read while they change; what the log says of that time, done again over it, makes it one moment.
    """
    keyspace = connect(address)
    try:
        for attempt in range(TRIES):
            try:
                return _copy(WriteLog(keyspace), CassandraTables(keyspace))
            except LogTrimmedError:
                if attempt == TRIES - 1:
                    raise
    finally:
        keyspace.close()
    raise AssertionError("unreachable")


def _copy(log: WriteLog, tables: CassandraTables) -> MemoryStore:
    began = log.seat(exactly=True).applied
    copy = MemoryStore()
    for partition in tables.partitions():
        for shelf in tables.names(partition):
            copy.apply([Write(key, value) for key, value in tables.entries(shelf)])
    for logged in log.after(began, upto=log.seat(exactly=True).head):
        copy.apply(logged.writes)
    return copy
