"""The write log of a store that several weavers share: what was written, numbered, by the one of them that leads.

It is one partition in which every change is a lightweight transaction on the term of the leader. To lead is to have
raised the term: from then on the earlier leader, whatever it believes, appends nothing. A reader that finds the head
where the leader of a term left it has seen all that was ever acknowledged.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from weft.errors import WeftError
from weft.weaver.store.keyspace import Keyspace, StoreAwayError
from weft.weaver.store.store import Write

CHUNK = 1 << 20
"""So many bytes go into one row; a group that has more takes several."""
AGAIN_S = 0.1
_SIZES = struct.Struct(">Ii")
_REMOVED = -1


class StoreLostError(WeftError):
    """Another weaver leads now; what this one asked for was not written, or may not have been."""

    code = "store.lost"
    domain = "external"
    retryable = True

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"This weaver no longer leads: {reason}.",
            hint="Ask again; the weaver that leads now answers. See first whether it was done.",
        )


class LogTrimmedError(WeftError):
    """A part of the log was forgotten while it was read."""

    code = "store.trimmed"
    domain = "external"
    retryable = True

    def __init__(self) -> None:
        super().__init__(
            "The write log of the store was trimmed while it was read.", hint="Try it again."
        )


@dataclass(frozen=True)
class Seat:
    """Who leads, and how far the log is."""

    term: int
    head: int
    beat: int
    applied: int
    holder: str | None
    address: str | None


@dataclass(frozen=True)
class Logged:
    """A group of writes with its number in the log."""

    number: int
    writes: tuple[Write, ...]


class WriteLog:
    """The log in one keyspace."""

    def __init__(self, keyspace: Keyspace) -> None:
        self._keyspace = keyspace

    def seat(self, *, exactly: bool = False) -> Seat:
        """Who leads; `exactly`, also if the newest change of it is not everywhere yet."""
        rows = self._keyspace.run(
            "SELECT term, head, beat, applied, holder, address FROM @log WHERE seat = 'weaver' LIMIT 1",
            serial=exactly,
        )
        row = rows[0]
        return Seat(row.term, row.head, row.beat, row.applied, row.holder, row.address)

    def take(self, seen: Seat, *, holder: str, address: str) -> Seat | None:
        """Lead from now on, if nobody has led or written since `seen`; None when somebody has."""
        try:
            is_ours, _ = self._keyspace.decide(
                "UPDATE @log SET term = ?, holder = ?, address = ? WHERE seat = 'weaver' "
                "IF term = ? AND head = ? AND beat = ?",
                *(seen.term + 1, holder, address, seen.term, seen.head, seen.beat),
            )
        except StoreAwayError:
            is_ours = False  # perhaps; who leads now is looked up
        now = self.seat(exactly=True)
        return now if is_ours or (now.holder, now.term) == (holder, seen.term + 1) else None

    def append(
        self, term: int, number: int, writes: Sequence[Write], *, applied: int, patience_s: float
    ) -> int:
        """Add a group behind `number`, the head, and return the new head; raises StoreLostError.

        An outcome that is not known is asked for again, for so long: a repeated transaction finds what it did
        before, since nobody else has this term.
        """
        deadline = time.monotonic() + patience_s
        for chunk, more in _chunks(_encode(writes)):
            self._append(term, number + 1, chunk, more, applied, deadline)
            number += 1
        return number

    def _append(
        self, term: int, number: int, chunk: bytes, more: bool, applied: int, deadline: float
    ) -> None:
        while True:
            try:
                is_ours, found = self._keyspace.decide(
                    "UPDATE @log SET head = ?, applied = ?, by_term = ?, more = ?, writes = ? "
                    "WHERE seat = 'weaver' AND number = ? IF term = ? AND head = ?",
                    *(number, applied, term, more, chunk, number, term, number - 1),
                )
            except StoreAwayError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(AGAIN_S)
                continue
            if not is_ours and (found.term, found.head) != (term, number):
                raise StoreLostError(f"term {found.term} began while it was in term {term}")
            return

    def beat(self, term: int, count: int) -> None:
        """Show that the leader of a term is there."""
        is_ours, found = self._keyspace.decide(
            "UPDATE @log SET beat = ? WHERE seat = 'weaver' IF term = ?", count, term
        )
        if not is_ours:
            raise StoreLostError(f"term {found.term} began while it was in term {term}")

    def resign(self, term: int) -> None:
        """Say that nobody leads, so that the next one need not wait."""
        self._keyspace.decide(
            "UPDATE @log SET holder = null, address = null WHERE seat = 'weaver' IF term = ?", term
        )

    def after(self, number: int, *, upto: int) -> Iterator[Logged]:
        """The groups behind `number`, in order; one that its leader did not finish is none."""
        rows = self._keyspace.read(
            "SELECT number, by_term, more, writes FROM @log "
            "WHERE seat = 'weaver' AND number > ? AND number <= ?",
            *(number, upto),
        )
        parts: list[bytes] = []
        term, expected = None, number + 1
        for row in rows:
            if row.number != expected:
                raise LogTrimmedError
            expected += 1
            if row.by_term != term:
                parts, term = [], row.by_term
            parts.append(row.writes)
            if not row.more:
                yield Logged(row.number, tuple(_decode(b"".join(parts))))
                parts = []
        if expected != upto + 1:
            raise LogTrimmedError

    def trim(self, upto: int) -> None:
        """Forget the groups up to a number, which everybody finds in the tables."""
        self._keyspace.run("DELETE FROM @log WHERE seat = 'weaver' AND number <= ?", upto)


def _encode(writes: Iterable[Write]) -> bytes:
    parts = []
    for write in writes:
        size = _REMOVED if write.value is None else len(write.value)
        parts += [_SIZES.pack(len(write.key), size), write.key, write.value or b""]
    return b"".join(parts)


def _decode(data: bytes) -> Iterator[Write]:
    place = 0
    while place < len(data):
        key_size, value_size = _SIZES.unpack_from(data, place)
        place += _SIZES.size
        key = data[place : place + key_size]
        place += key_size
        if value_size == _REMOVED:
            yield Write(key, None)
            continue
        yield Write(key, data[place : place + value_size])
        place += value_size


def _chunks(data: bytes) -> Iterator[tuple[bytes, bool]]:
    """Parts of a group, each with whether there are more."""
    last = max(0, len(data) - 1) // CHUNK
    for place in range(last + 1):
        yield data[place * CHUNK : (place + 1) * CHUNK], place < last
