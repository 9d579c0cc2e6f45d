"""The place in a database's log that is kept for one stream: its replication slot and publication, made, found and
dropped, and what Weft keeps of them beside the journal. Called by `changes` and by `weft table drop-slot`."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from weft import codec
from weft.locations.location import Location
from weft.sources.postgres.address import Address, PostgresError
from weft.sources.postgres.catalogue import CatalogueTable
from weft.sources.postgres.name import quoted, to_lsn

if TYPE_CHECKING:
    from psycopg import Connection

FILE = PurePath("source") / "slot.json"
OLDEST = 130_000
LET_GO_S = 5.0
LOOK_S = 0.05
_SLOT = """
select plugin, database, active_pid, confirmed_flush_lsn::text, coalesce(wal_status, ''), slot_type,
  coalesce((select application_name from pg_stat_activity where pid = active_pid), '')
from pg_replication_slots where slot_name = %s
"""
_OTHERS = """
select pg_terminate_backend(pid) from pg_stat_activity where application_name = %s and pid <> pg_backend_pid()
"""
_PUBLICATION = """
select p.pubinsert and p.pubupdate and p.pubdelete and p.pubtruncate,
  t.tablename is not null, to_jsonb(t) ->> 'rowfilter'
from pg_publication p left join pg_publication_tables t
  on t.pubname = p.pubname and t.schemaname = %s and t.tablename = %s
where p.pubname = %s
"""


@dataclass(frozen=True)
class SlotRecord:
    """What is kept of a slot beside the journal: whose it is, of which server and table, and how far the server was
    told that all is safe."""

    owner: str
    slot: str
    system: str
    table: int
    told: int = 0

    @staticmethod
    def find(folder: Location) -> SlotRecord | None:
        """What was kept in the folder of a source, or None."""
        try:
            return codec.unpack(SlotRecord, json.loads((folder / FILE).read()))
        except FileNotFoundError:
            return None

    @staticmethod
    def new(slot: str, system: str, table: int) -> SlotRecord:
        """The record of a slot that is about to be made."""
        return SlotRecord(uuid.uuid4().hex[:12], slot, system, table)

    def keep(self, folder: Location) -> None:
        """Write it durably."""
        (folder / FILE).write(json.dumps(codec.pack(self)).encode())

    def with_told(self, place: int) -> SlotRecord:
        """The same, once the server may forget what is before a place."""
        return replace(self, told=max(self.told, place))


@dataclass(frozen=True)
class Slot:
    """A slot as the server has it."""

    name: str
    database: str
    is_ours: bool
    """Whether it is one for changes of rows, by `pgoutput`."""
    reader: int | None
    reader_name: str
    confirmed: int
    status: str

    @property
    def is_lost(self) -> bool:
        """Whether the server has thrown away what the slot was to keep."""
        return self.status == "lost"


def find_slot(connection: Connection, name: str) -> Slot | None:
    """The slot of a name, or None."""
    found = connection.execute(_SLOT, (name,)).fetchone()
    if found is None:
        return None
    plugin, database, reader, confirmed, status, kind, reader_name = found
    is_ours = kind == "logical" and plugin == "pgoutput"
    place = to_lsn(confirmed) if confirmed else 0
    return Slot(name, database or "", is_ours, reader, reader_name, place, status)


def check_server(connection: Connection, address: Address) -> None:
    """Refuse a server that writes no log of changes, or is too old to tell them."""
    version, level = connection.execute(
        "select current_setting('server_version_num')::int, current_setting('wal_level')"
    ).fetchone() or (0, "")
    if version < OLDEST:
        raise PostgresError(
            f"Database {address.place} is of version {version // 10_000}; it should be 13 or newer.",
            code="source.server",
            hint="Upgrade it, or have Debezium read it.",
            stream=address.stream,
        )
    if level != "logical":
        raise PostgresError(
            f"Database {address.place} logs no changes of rows: its `wal_level` is {level}.",
            code="source.wal-level",
            hint="ALTER SYSTEM SET wal_level = logical, and restart the server.",
            stream=address.stream,
        )


def send_away(connection: Connection, owner: str) -> None:
    """End what an earlier reader of a stream has open, as one that hangs: within a snapshot it holds the table, and
    whoever would empty or alter that waits for it, with all others behind."""
    deadline = time.monotonic() + LET_GO_S
    while connection.execute(_OTHERS, (f"weft {owner}",)).fetchall():
        if time.monotonic() > deadline:
            return  # what it holds may be nothing that is needed
        time.sleep(LOOK_S)


def let_go(connection: Connection, slot: Slot, owner: str, address: Address) -> Slot:
    """The slot without a reader: an earlier one of this stream is sent away, a stranger is not."""
    deadline = time.monotonic() + LET_GO_S
    found: Slot | None = slot
    while found is not None and found.reader is not None:
        is_ours = bool(owner) and found.reader_name == f"weft {owner}"
        # One without a name may be on its way out: it is waited for, and never sent away.
        if (found.reader_name and not is_ours) or time.monotonic() > deadline:
            raise PostgresError(
                f"Slot {slot.name!r} is read by process {found.reader} of the server, "
                f"which calls itself {found.reader_name!r}.",
                code="source.slot-active",
                retryable=True,
                hint="End the other reader, or give this table another `slot`. It is tried again by itself.",
                stream=address.stream,
            )
        if is_ours:
            connection.execute("select pg_terminate_backend(%s)", (found.reader,))
        time.sleep(LOOK_S)
        found = find_slot(connection, slot.name)
    return found or slot


def drop_slot(connection: Connection, name: str) -> None:
    """Drop a slot; the server need keep nothing for it any longer."""
    connection.execute("select pg_drop_replication_slot(%s)", (name,))


def make_slot(connection: Connection, name: str, address: Address) -> tuple[int, str]:
    """Make a slot on a connection for replication; from where on it tells changes, and the snapshot of the rows that
    were there before, which lasts until the connection is used again."""
    made = run_command(
        connection,
        f"CREATE_REPLICATION_SLOT {quoted(name)} LOGICAL pgoutput EXPORT_SNAPSHOT",
        address,
    )
    return to_lsn(made["consistent_point"]), made["snapshot_name"]


def system_of(connection: Connection, address: Address) -> str:
    """What tells a server's log from that of every other, on a connection for replication."""
    return run_command(connection, "IDENTIFY_SYSTEM", address)["systemid"]


def run_command(connection: Connection, command: str, address: Address) -> Mapping[str, str]:
    """The row that a command for replication gives, by column; such connections know no other way to ask."""
    from psycopg import errors, pq

    found = connection.pgconn.exec_(command.encode())
    if found.status != pq.ExecStatus.TUPLES_OK:
        address.refuse(errors.error_from_result(found))
    values = [(found.fname(at), found.get_value(0, at)) for at in range(found.nfields)]
    return {name.decode(): value.decode() for name, value in values if name and value is not None}


def need_publication(
    connection: Connection, name: str, table: CatalogueTable, address: Address
) -> None:
    """Make the publication of a table where there is none; refuse one that does not tell all of its changes."""
    said = (table.name.schema, table.name.name, name)
    found: tuple[Any, ...] | None = connection.execute(_PUBLICATION, said).fetchone()
    if found is None:
        through = " WITH (publish_via_partition_root = true)" if table.is_root else ""
        connection.execute(
            f"CREATE PUBLICATION {quoted(name)} FOR TABLE {table.name.sql}{through}".encode()
        )
        return
    tells_all, has_table, row_filter = found
    why = None
    if not has_table:
        why = f"table {table.name} is not in it"
    elif not tells_all:
        why = "it leaves out inserts, updates, deletes or truncations"
    elif row_filter is not None:
        why = "it tells of some rows only"
    if why is not None:
        raise PostgresError(
            f"Publication {name!r} of database {address.place} cannot be read: {why}.",
            code="source.publication",
            domain="user",
            hint=f"ALTER PUBLICATION {quoted(name)} ADD TABLE {table.name.sql}, or name another `publication`.",
            stream=address.stream,
        )


def lost(slot: str, why: str, address: Address) -> PostgresError:
    """Changes that nobody can tell any longer."""
    return PostgresError(
        f"Changes since the last that were read are gone: {why}.",
        code="source.slot-lost",
        hint="`when_lost: snapshot` reads the table anew, and takes away rows that are gone; "
        "what happened in between is not told.",
        slot=slot,
        stream=address.stream,
    )
