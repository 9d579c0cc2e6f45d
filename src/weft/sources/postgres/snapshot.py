"""The rows that were in a table before the log is read, in pieces, as of one moment. Called by `changes`."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from weft.sources.postgres.address import Address
from weft.sources.postgres.catalogue import CatalogueTable, select_of
from weft.sources.postgres.event import ChangePlace, TableEvents, emptied
from weft.sources.postgres.message import Row
from weft.sources.postgres.name import literal

if TYPE_CHECKING:
    from psycopg import Connection

CURSOR = "weft_rows"
PIECE = 2_000
PIECE_BYTES = 8_000_000
"""So many rows are asked for at a time, and fewer where they are large."""


class Snapshot:
    """A table as it was at one place of the log: every transaction that committed before it is in there, and none that
    comes later. Its last row says that it is, and takes away what is not in the table any longer."""

    def __init__(
        self, connection: Connection, name: str, point: int, table: CatalogueTable, address: Address
    ) -> None:
        self.point = point
        self.is_read = False
        self._connection = connection
        self._address = address
        self._at_us = time.time_ns() // 1000
        self._rows: deque[Row] = deque()
        self._piece = 50
        self._began = False
        self._ended = False
        with address.told():
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            connection.execute(f"SET TRANSACTION SNAPSHOT {literal(name)}".encode())
            cursor = f"DECLARE {CURSOR} NO SCROLL CURSOR FOR {select_of(table)}"
            connection.execute(cursor.encode())

    def read(self, events: TableEvents, most: int, most_bytes: int) -> list[bytes]:
        """The next rows as events; after the last, `is_read` holds. Of an empty table it is that it is empty."""
        found: list[bytes] = []
        size = 0
        while len(found) < most and size < most_bytes:
            # The last row is known as such once there is none behind it.
            while len(self._rows) < 2 and not self._ended:
                self._fetch()
            if not self._rows:
                found.append(emptied(self._place("last")))
                self._finish()
                return found
            row = self._rows.popleft()
            is_last = self._ended and not self._rows
            found.append(events.read(row, self._place("last" if is_last else self._part())))
            size += len(found[-1])
            if is_last:
                self._finish()
                return found
        return found

    def close(self) -> None:
        """Let go of the table."""
        self._connection.close()

    def _part(self) -> str:
        part = "true" if self._began else "first"
        self._began = True
        return part

    def _place(self, part: str) -> ChangePlace:
        return ChangePlace(self.point, 0, self._at_us, snapshot=part)

    def _fetch(self) -> None:
        asked = self._piece
        with self._address.told():
            found = self._connection.execute(f"FETCH {asked} FROM {CURSOR}".encode()).pgresult
        assert found is not None
        columns, size = range(found.nfields), 0
        for number in range(found.ntuples):
            row = tuple(found.get_value(number, column) for column in columns)
            size += sum(len(value) for value in row if value is not None)
            self._rows.append(row)
        self._ended = found.ntuples < asked
        self._piece = max(1, min(PIECE, asked * 4, asked * PIECE_BYTES // max(size, 1)))

    def _finish(self) -> None:
        self.is_read = True
        self.close()
