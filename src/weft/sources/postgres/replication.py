"""The log of a database as it is told: messages of a replication slot, one by one, and the server told how far they are
safe. Called by `changes`. Over the replication protocol, which decodes the log once; asking for changes by SQL decodes
what a slot keeps again for every question, and took three and a half times as long for 200,000 rows."""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING

from weft.sources.postgres.address import Address
from weft.sources.postgres.message import EPOCH_US, Message, decode
from weft.sources.postgres.name import literal, quoted

if TYPE_CHECKING:
    from psycopg import Connection

SPEAK_S = 5.0
"""So often the server hears from us at least, as long as it is asked for changes."""
_DATA = Struct(">cQQq")
_ALIVE = Struct(">cQqB")
_STATUS = Struct(">cQQQqB")


@dataclass(frozen=True)
class Alive:
    """All that stands in the log before this place has been told; the server may ask to hear how much of it is safe,
    as one does that is to stop."""

    place: int
    asks: bool


class Replication:
    """A running stream of one slot's changes, of one publication."""

    def __init__(
        self, connection: Connection, slot: str, publication: str, address: Address
    ) -> None:
        from psycopg import errors, pq

        self._connection = connection
        self._address = address
        self._safe = 0
        self._spoke = 0.0
        options = f"proto_version '1', publication_names {literal(quoted(publication)).strip()}"
        command = f"START_REPLICATION SLOT {quoted(slot)} LOGICAL 0/0 ({options})"
        started = connection.pgconn.exec_(command.encode())
        if started.status != pq.ExecStatus.COPY_BOTH:
            address.refuse(errors.error_from_result(started))

    def messages(self, patience_s: float) -> Iterator[Message | Alive]:
        """What is there now, and what comes before nothing has come for so long."""
        with self._address.told():
            while (data := self._next(patience_s)) is not None:
                found = self._read(data)
                if found is not None:
                    yield found

    def confirm(self, place: int, *, now: bool) -> None:
        """Tell the server that all before a place is safe, so that it need not keep it; also if nothing is new, `now`
        or when it is time."""
        is_new = place > self._safe
        self._safe = max(self._safe, place)
        if is_new or now or time.monotonic() - self._spoke > SPEAK_S:
            with self._address.told():
                self._speak()

    def close(self) -> None:
        """Let go of the slot."""
        self._connection.close()

    def _next(self, patience_s: float) -> bytes | None:
        """The next piece of data, or None when none has come for so long."""
        line = self._connection.pgconn
        while True:
            # What has arrived is used up before more is taken in: libpq moves all of it each time.
            size, data = line.get_copy_data(1)
            if size > 0:
                return bytes(data)
            if size < 0:
                self._ended()
            if not select.select([line.socket], [], [], patience_s)[0]:
                return None
            line.consume_input()

    def _ended(self) -> None:
        """The server has ended the stream: say why."""
        from psycopg import OperationalError, errors

        found = self._connection.pgconn.get_result()
        if found is not None and found.error_message:
            raise errors.error_from_result(found)
        raise OperationalError("the server ended the stream of changes")

    def _read(self, data: bytes) -> Message | Alive | None:
        if data[:1] == b"w":
            return decode(data[_DATA.size :])
        _, place, _, asks = _ALIVE.unpack(data)
        return Alive(place, bool(asks))

    def _speak(self) -> None:
        now = int(time.time() * 1_000_000) - EPOCH_US
        line = self._connection.pgconn
        line.put_copy_data(_STATUS.pack(b"r", self._safe, self._safe, self._safe, now, 0))
        line.flush()
        self._spoke = time.monotonic()
