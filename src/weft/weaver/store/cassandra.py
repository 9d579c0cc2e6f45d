"""The store in Cassandra, as the weaver has it that leads: by the write log its own, until another has the next term.

A group of writes is decided by one lightweight transaction, whatever keys it has, and is then put into the tables in
the background; groups that are not to be durable at once wait for a flush, which decides all of them together. What is
read was written here or comes from the tables, and is kept: nobody else writes while this term lasts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from weft.errors import WeftError
from weft.logs import get_logger
from weft.weaver.store.keyspace import Keyspace, StoreAwayError
from weft.weaver.store.shelves import Shelves, partition_of, shelf_of
from weft.weaver.store.store import StoreConflictError, Write, check_partition
from weft.weaver.store.writelog import Seat, StoreLostError, WriteLog

log = get_logger(__name__)

TERM_S = 6.0
"""A leader that was silent for so long leads no more; the next one waits a little longer before it takes over."""
BEAT_S = 1.0
GATHER_S = 0.5
"""Changes of so long are put into the tables together."""
LARGEST_VALUE = 8 << 20
KEPT_BEHIND = 2000
"""So many groups stay in the log behind those that the tables have, for whoever copies the store meanwhile."""
BATCH_BYTES = 16 << 10
"""Cassandra warns of larger batches."""


_SHELF = "INSERT INTO @shelves (part, shelf) VALUES (?, ?) USING TIMESTAMP ?"


class ValueTooLargeError(WeftError):
    """A value that no row of the database takes."""

    code = "store.value-too-large"
    domain = "user"


class CassandraTables:
    """The tables behind the write log: what it comes to."""

    def __init__(self, keyspace: Keyspace) -> None:
        self._keyspace = keyspace

    def partitions(self) -> list[bytes]:
        """The first parts of all keys."""
        return [row.part for row in self._keyspace.read("SELECT DISTINCT part FROM @shelves")]

    def names(self, partition: bytes) -> list[bytes]:
        """The names of the shelves of a partition."""
        rows = self._keyspace.read("SELECT shelf FROM @shelves WHERE part = ?", partition)
        return [row.shelf for row in rows]

    def entries(self, shelf: bytes) -> list[tuple[bytes, bytes]]:
        """The keys and values on a shelf."""
        rows = self._keyspace.read("SELECT key, value FROM @kept WHERE shelf = ?", shelf)
        return [(row.key, row.value) for row in rows]

    def write(self, changes: Mapping[bytes, tuple[int, bytes | None]]) -> None:
        """Write values with their numbers in the log; again, and in any order, it comes to the same."""
        names = {shelf_of(key): number for key, (number, _) in changes.items()}
        self._keyspace.run_all(
            [(_SHELF, (partition_of(name), name, number))] for name, number in names.items()
        )
        self._keyspace.run_all(_batches(changes))

    def drop_shelf(self, name: bytes, number: int) -> None:
        """Take a shelf on which nothing lies out of the list."""
        self._keyspace.run(
            "DELETE FROM @shelves USING TIMESTAMP ? WHERE part = ? AND shelf = ?",
            *(number, partition_of(name), name),
        )


def _batches(
    changes: Mapping[bytes, tuple[int, bytes | None]],
) -> Iterator[list[tuple[str, Sequence[object]]]]:
    """The statements for changes, together for each shelf, but not too large."""
    shelves: dict[bytes, list[bytes]] = {}
    for key in changes:
        shelves.setdefault(shelf_of(key), []).append(key)
    for name, keys in shelves.items():
        batch: list[tuple[str, Sequence[object]]] = []
        size = 0
        for key in keys:
            number, value = changes[key]
            if batch and size + len(key) + len(value or b"") > BATCH_BYTES:
                yield batch
                batch, size = [], 0
            size += len(key) + len(value or b"")
            if value is None:
                statement = "DELETE FROM @kept USING TIMESTAMP ? WHERE shelf = ? AND key = ?"
                batch.append((statement, (number, name, key)))
            else:
                statement = (
                    "INSERT INTO @kept (shelf, key, value) VALUES (?, ?, ?) USING TIMESTAMP ?"
                )
                batch.append((statement, (name, key, value, number)))
        yield batch


class CassandraStore:
    """Everything of one keyspace, for as long as one term lasts."""

    takes_long = True

    def __init__(self, keyspace: Keyspace, seat: Seat, *, term_s: float = TERM_S) -> None:
        """Open the store for who has just taken the seat."""
        self.term = seat.term
        self._term_s = term_s
        self._keyspace = keyspace
        self._log = WriteLog(keyspace)
        self._tables = CassandraTables(keyspace)
        self._shelves = Shelves(self._tables)
        self._head, self._applied, self._beats = seat.head, seat.applied, seat.beat
        self._trimmed = 0
        self._undecided: list[Write] = []
        self._untold: dict[bytes, tuple[int, bytes | None, int]] = {}
        self._lost: WeftError | None = None
        self._heard = time.monotonic()
        self._lock = threading.RLock()  # of what is in memory
        self._deciding = threading.Lock()  # one transaction at a time
        self._closing = threading.Event()
        self._told = threading.Event()
        for logged in self._log.after(seat.applied, upto=seat.head):
            for write in logged.writes:
                self._shelves.take(write)
                self._note(write, logged.number)
        self._threads = [
            threading.Thread(
                target=self._until_closed, args=[target], name=f"store-{name}", daemon=True
            )
            for name, target in (("beat", self._beat), ("tables", self._tell))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def is_leading(self) -> bool:
        """Whether nobody else can have begun a term since this one was last heard."""
        return self._lost is None and time.monotonic() < self._heard + self._term_s

    def get(self, key: bytes) -> bytes | None:
        with self._lock:
            self._check()
            return self._shelves.get(key)

    def scan(
        self,
        prefix: bytes,
        *,
        start: bytes | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[tuple[bytes, bytes]]:
        with self._lock:
            self._check()
            found = self._shelves.scan(prefix, start=start, reverse=reverse)
        return islice(self._locked(found), limit)

    def apply(
        self,
        writes: Sequence[Write],
        *,
        expect: Mapping[bytes, bytes | None] | None = None,
        durable: bool = True,
    ) -> None:
        check_partition(writes, expect or {})
        for write in writes:
            _check_size(write)
        with self._lock:
            self._check()
            for wanted, value in (expect or {}).items():
                if self._shelves.get(wanted) != value:
                    raise StoreConflictError(f"Key {wanted!r} was changed by someone else.")
            for write in writes:
                self._shelves.get(
                    write.key
                )  # tables that do not answer are noticed before anything changes
            try:
                for write in writes:
                    self._shelves.take(write)
            except WeftError as error:
                self._lose(error)  # some of it is in memory, and is not to be seen
                raise self._reason() from error
            self._undecided.extend(writes)
        if durable:
            self.flush()

    def flush(self) -> None:
        with self._deciding:
            self._check()
            with self._lock:
                writes, self._undecided = self._undecided, []
            if not writes:
                return
            began = time.monotonic()
            try:
                head = self._log.append(
                    *(self.term, self._head, writes),
                    applied=self._applied,
                    patience_s=self._heard + self._term_s - began,
                )
            except WeftError as error:
                self._lose(error)
                raise self._reason() from error
            self._heard = began
            with self._lock:
                self._head = head
                for write in writes:
                    self._note(write, head)
        self._told.set()

    def close(self) -> None:
        """Write down what waits, let the next weaver lead at once, and end."""
        if self._lost is None:
            try:
                self.flush()
                self._log.resign(self.term)
            except WeftError as error:
                log.warning("the store was left without a word: %s", error)
        self.abandon()

    def abandon(self) -> None:
        """End without a word; whoever leads next finds in the log what the tables lack."""
        self._lose(StoreLostError("it has been closed"))
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()
        self._keyspace.close()

    def _check(self) -> None:
        if self._lost is not None:
            raise self._reason()

    def _reason(self) -> WeftError:
        return (
            self._lost
            if isinstance(self._lost, StoreLostError)
            else StoreLostError(str(self._lost))
        )

    def _lose(self, error: WeftError) -> None:
        if self._lost is None:
            self._lost = error
        self._closing.set()
        self._told.set()

    def _locked(self, found: Iterator[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        while True:
            with self._lock:
                pair = next(found, None)
            if pair is None:
                return
            yield pair

    def _note(self, write: Write, number: int) -> None:
        """Remember that the tables lack a change."""
        _, _, times = self._untold.get(write.key, (0, None, 0))
        self._untold[write.key] = (number, write.value, times + 1)

    def _until_closed(self, do: Callable[[], None]) -> None:
        """Do what goes on for the whole term; where that fails, the term ends, and the next leader does it."""
        try:
            do()
        finally:
            self._lose(StoreLostError("a part of its store has failed"))

    def _beat(self) -> None:
        """Decide what nobody waits for, and show that this weaver is there, until the term ends."""
        while not self._closing.wait(BEAT_S):
            try:
                self.flush()
                with self._deciding:
                    began = time.monotonic()
                    if began < self._heard + BEAT_S:
                        continue
                    self._beats += 1
                    self._log.beat(self.term, self._beats)
                    self._heard = began
            except StoreAwayError as error:
                log.warning("the store does not answer: %s", error)
                if not self.is_leading:
                    self._lose(error)
            except WeftError as error:
                self._lose(error)

    def _tell(self) -> None:
        """Put into the tables what was decided, until the term ends."""
        while not self._closing.is_set():
            self._told.wait()
            if self._closing.wait(GATHER_S):
                return
            self._told.clear()
            with self._lock:
                changes, self._untold = self._untold, {}
                decided = self._head
            newest = {key: (number, value) for key, (number, value, _) in changes.items()}
            self._insist(partial(self._tables.write, newest))
            if self._closing.is_set():
                return
            with self._lock:
                for key, (_, _, times) in changes.items():
                    self._shelves.written(key, times)
                empty = [n for n in {shelf_of(key) for key in changes} if self._shelves.is_empty(n)]
                for name in empty:
                    self._shelves.forget(name)
            for name in empty:
                self._insist(partial(self._tables.drop_shelf, name, decided))
            self._applied = decided
            self._trim()

    def _trim(self) -> None:
        upto = self._applied - KEPT_BEHIND
        if upto >= self._trimmed + KEPT_BEHIND:
            self._insist(partial(self._log.trim, upto))
            self._trimmed = upto

    def _insist(self, write: Callable[[], None]) -> None:
        """Do what may be done again until it is done, or the term ends."""
        while not self._closing.is_set():
            try:
                write()
                return
            except StoreAwayError as error:
                log.warning("the tables of the store are behind its log: %s", error)
                self._closing.wait(BEAT_S)


def _check_size(write: Write) -> None:
    if write.value is not None and len(write.value) > LARGEST_VALUE:
        raise ValueTooLargeError(
            f"A value of {len(write.value):,} bytes is more than the store in Cassandra takes.",
            hint=f"It takes {LARGEST_VALUE:,}; is a file of the project part of it that need not be?",
        )
