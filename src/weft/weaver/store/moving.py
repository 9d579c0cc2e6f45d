"""A store in a folder, put into Cassandra: how one weaver's history becomes that of several. The folder stays."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from weft.errors import WeftError
from weft.weaver.store.address import KeyspaceAddress, connect
from weft.weaver.store.cassandra import CassandraStore
from weft.weaver.store.rocks import RocksStore
from weft.weaver.store.snapshot import StoreMissingError
from weft.weaver.store.store import Write
from weft.weaver.store.writelog import WriteLog

GROUP = 200


class StoreUsedError(WeftError):
    """A keyspace that a weaver has used cannot take another history."""

    code = "store.used"
    domain = "conflict"


def copy_into(folder: Path, address: KeyspaceAddress) -> int:
    """Copy every record of a store that no weaver has open into an empty keyspace; returns how many there were."""
    if not (folder / "CURRENT").exists():
        raise StoreMissingError(
            f"There is no weaver's store in {folder}.",
            hint="Name the folder that `weft up` or `weft weaver` was given as `--storage`.",
        )
    source = RocksStore(folder)  # which keeps weavers out meanwhile
    try:
        keyspace = connect(address)
        log = WriteLog(keyspace)
        seen = log.seat(exactly=True)
        seat = log.take(seen, holder="copy", address="") if seen.head == seen.term == 0 else None
        if seat is None:
            keyspace.close()
            raise StoreUsedError(
                f"There is something in {address} already.",
                hint="Name a keyspace that is new: `weft store create` makes one.",
            )
        target = CassandraStore(keyspace, seat)
        count = 0
        try:
            found = source.scan(b"")
            while group := list(islice(found, GROUP)):
                target.apply([Write(name, value) for name, value in group])
                count += len(group)
        finally:
            target.close()
        return count
    finally:
        source.close()
