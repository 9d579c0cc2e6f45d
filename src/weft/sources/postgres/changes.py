"""One table of a database as a source behind a journal: its rows, then every change of them, each once and in order.
Made by `weft.sources.spark.pulled`; a batch of it is a segment of the journal, and that is what Spark reads.

1. What was handed out is in the journal when the next batch is asked for; the server is told that it may forget it.
2. Without a journal, or with one that ends within a snapshot, slot and snapshot are made anew: the rows have the
   position of the slot's first moment, and the last of them takes away what an earlier, unfinished snapshot left.
3. Else the log is read on from the slot. What comes again, because the server had not been told, is passed over.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft import codec
from weft.logs import get_logger
from weft.sources.postgres import slot as slots
from weft.sources.postgres.address import PostgresError
from weft.sources.postgres.capture import Capture
from weft.sources.postgres.catalogue import CatalogueTable, find_table
from weft.sources.postgres.event import TableEvents
from weft.sources.postgres.message import TransactionEnd
from weft.sources.postgres.name import lsn
from weft.sources.postgres.replication import Alive, Replication
from weft.sources.postgres.slot import Slot, SlotRecord
from weft.sources.postgres.snapshot import Snapshot
from weft.sources.postgres.transaction import Placed, Transactions

if TYPE_CHECKING:
    from psycopg import Connection

log = get_logger(__name__)

PATIENCE_S = 0.01
MOST_BYTES = 32_000_000
"""So large a batch becomes, whatever the number of its records."""
LONGEST_S = 0.5
"""So long a batch is gathered at most while changes keep coming."""
TELL_S = 5.0
"""So often the server is told what it need not keep any longer."""


@dataclass(frozen=True)
class LogPosition:
    """How far a table was read: within a snapshot, or in the log up to an event of a transaction. All that stands in
    the log before `safe` has been handed out."""

    in_snapshot: bool
    commit: int = 0
    serial: int = 0
    safe: int = 0


class TableChanges:
    """The changes of one table: an event source that can go back to where it stood."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._position = LogPosition(in_snapshot=True)
        self._is_new = True
        self._record: SlotRecord | None = None
        self._snapshot: Snapshot | None = None
        self._stream: Replication | None = None
        self._events: TableEvents | None = None
        self._transactions: Transactions | None = None
        self._left: list[Placed] = []
        self._refusal: PostgresError | None = None
        self._is_asked = False
        self._told_at = time.monotonic()

    def position(self) -> Mapping[str, Any]:
        """Where it stands, for the journal."""
        return codec.pack(self._position)

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on from what the journal's last segment says."""
        self.close()
        self._position = codec.unpack(LogPosition, position)
        self._is_new = False

    def read_batch(self, max_events: int) -> list[bytes]:
        """The next events, as many as there are now and as there may be."""
        if self._snapshot is None and self._stream is None:
            self._open()
        if self._snapshot is not None:
            return self._read_snapshot(self._snapshot, max_events)
        assert self._stream is not None
        try:
            return self._read_log(self._stream, max_events)
        except PostgresError as error:
            if not error.retryable:
                raise
            # A server drops a reader that was silent for a minute, as long batches make us.
            log.info("%s The log is read on from %s.", error.message, lsn(self._position.safe))
            self.close()
            self._open()
            return self._read_log(self._stream, max_events)

    def close(self) -> None:
        """Let go of the database."""
        for held in (self._snapshot, self._stream):
            if held is not None:
                held.close()
        self._snapshot = self._stream = None

    def _open(self) -> None:
        capture, address = self._capture, self._capture.address
        self._record = SlotRecord.find(capture.folder)
        owner = self._record.owner if self._record is not None else ""
        with address.connect(owner) as connection:
            if owner:
                slots.send_away(connection, owner)
            slots.check_server(connection, address)
            table = find_table(connection, capture.table, address)
            table.check(capture.key, address.stream)
            self._events = table.events(capture.columns, capture.key)
            found = slots.find_slot(connection, capture.slot)
            with address.connect(owner, replication=True) as line:
                system = slots.system_of(line, address)
            gone = self._why_lost(found, system, table)
            if gone is not None:
                if not capture.restarts:
                    raise slots.lost(capture.slot, gone, address)
                log.warning("table %s is read anew: %s", capture.table, gone)
            if self._position.in_snapshot or gone is not None:
                if found is not None:
                    self._drop(connection, found, system)
                slots.need_publication(connection, capture.publication, table, address)
                self._begin(system, table)
                return
            assert found is not None
            slots.let_go(connection, found, owner, address)
        self._follow(table)

    def _why_lost(self, found: Slot | None, system: str, table: CatalogueTable) -> str | None:
        """Why the log cannot be read on from where it was left, or None; refuses another database altogether."""
        record, capture = self._record, self._capture
        if self._position.in_snapshot and self._is_new:
            return None
        if record is None or record.system != system:
            raise PostgresError(
                f"Database {capture.address.place} is another one than table {capture.table} was read from.",
                code="source.other-database",
                domain="user",
                hint="Places in its log mean nothing in the other's. Declare the table under another name.",
                stream=capture.address.stream,
            )
        if self._position.in_snapshot:
            return None
        if record.table != table.number:
            return f"table {capture.table} was dropped and made anew"
        if found is None:
            return f"slot {capture.slot!r} is not there any longer"
        if found.is_lost:
            return f"slot {capture.slot!r} fell behind by more than `max_slot_wal_keep_size`"
        if found.confirmed > max(self._position.safe, record.told):
            return f"slot {capture.slot!r} was moved on to {lsn(found.confirmed)} by another reader"
        return None

    def _drop(self, connection: Connection, found: Slot, system: str) -> None:
        """Drop the slot of an earlier attempt; refuses to drop one that this stream has not made."""
        capture, record = self._capture, self._record
        ours = None if record is None else (record.slot, record.system)
        if record is None or ours != (capture.slot, system) or not found.is_ours:
            raise PostgresError(
                f"Slot {capture.slot!r} of database {capture.address.place} is there already, "
                "and this stream has not made it.",
                code="source.slot-taken",
                domain="conflict",
                hint=f"Give the table another `slot`, or drop this one if nobody needs it: "
                f"SELECT pg_drop_replication_slot('{capture.slot}')",
                slot=capture.slot,
                stream=capture.address.stream,
            )
        slots.let_go(connection, found, record.owner, capture.address)
        slots.drop_slot(connection, capture.slot)

    def _begin(self, system: str, table: CatalogueTable) -> None:
        """Make the slot, and the snapshot of what was there before."""
        capture, address = self._capture, self._capture.address
        self._record = SlotRecord.new(capture.slot, system, table.number)
        self._record.keep(capture.folder)
        with address.connect(self._record.owner, replication=True) as line:
            point, name = slots.make_slot(line, capture.slot, address)
            reader = address.open(self._record.owner)
            try:
                self._snapshot = Snapshot(reader, name, point, table, address)
            except BaseException:
                reader.close()
                raise
        log.info("table %s is read as of %s, slot %s", capture.table, lsn(point), capture.slot)

    def _follow(self, table: CatalogueTable) -> None:
        """Read the log on from the slot."""
        assert self._record is not None
        capture = self._capture
        line = capture.address.open(self._record.owner, replication=True)
        try:
            self._stream = Replication(line, capture.slot, capture.publication, capture.address)
        except BaseException:
            line.close()
            raise
        self._transactions = Transactions(capture, table.number)
        self._left, self._refusal = [], None

    def _read_snapshot(self, snapshot: Snapshot, most: int) -> list[bytes]:
        assert self._events is not None
        found = snapshot.read(self._events, most, MOST_BYTES)
        self._position = LogPosition(in_snapshot=True)
        if snapshot.is_read:
            point = snapshot.point
            self._position = LogPosition(in_snapshot=False, commit=point, serial=0, safe=point)
            self._snapshot = None
        self._is_new = False
        return found

    def _read_log(self, stream: Replication | None, most: int) -> list[bytes]:
        assert stream is not None and self._transactions is not None
        self._confirm(stream)
        if self._refusal is not None:
            raise self._refusal
        found: list[bytes] = []
        size, safe = 0, self._position.safe
        last = (self._position.commit, self._position.serial)
        deadline = time.monotonic() + LONGEST_S
        messages = stream.messages(PATIENCE_S)
        while len(found) < most and size < MOST_BYTES:
            if self._left:
                event, place = self._left.pop(0)
                if place > last:
                    found.append(event)
                    size, last = size + len(event), place
                continue
            message = next(messages, None) if time.monotonic() < deadline else None
            if message is None:
                break
            if isinstance(message, Alive):
                safe = safe if self._transactions.is_open else max(safe, message.place)
                self._is_asked = self._is_asked or message.asks
                continue
            try:
                self._left = list(self._transactions.read(message))
            except PostgresError as error:
                if error.retryable or not found:
                    raise
                self._refusal = error  # what came before it is handed out first
                break
            if isinstance(message, TransactionEnd):
                safe = max(safe, message.end)
        self._position = LogPosition(in_snapshot=False, commit=last[0], serial=last[1], safe=safe)
        if self._is_asked and not found:
            self._confirm(stream)
        return found

    def _confirm(self, stream: Replication) -> None:
        """Tell the server now and then how far all is safe, and keep first that it was told: a slot that is further on
        than that was moved by somebody else."""
        assert self._record is not None
        safe, asked = self._position.safe, self._is_asked
        is_due = asked or time.monotonic() - self._told_at > TELL_S
        if is_due and safe > self._record.told:
            self._record = self._record.with_told(safe)
            self._record.keep(self._capture.folder)
            self._told_at = time.monotonic()
        stream.confirm(self._record.told, now=asked)
        self._is_asked = False
