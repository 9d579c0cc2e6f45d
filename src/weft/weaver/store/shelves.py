"""Shelves: how the keys of a store are spread over the partitions of a database, and those of them that are in memory.

A key lies on the shelf of its first part, or, where it has a number, on one with a hundred neighbours: a stream of a
million knots has ten thousand small partitions and none that is large. A shelf's name begins all of its keys, so keys
are read in order by going through shelves in order. Whoever has the store to itself reads each shelf once, keeps it
while it is in use, and knows then of every key of it, also that it is not there.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from weft.weaver.store.store import Write

DIGITS = 20
"""Numbers in keys are padded to so many digits."""
SHELF_DIGITS = 18
BUDGET = 64 << 20
"""So many bytes of shelves are kept that nobody is writing to."""
_LAST = b"\xff"


def partition_of(key: bytes) -> bytes:
    """The first part of a key."""
    return key.partition(b"\x00")[0]


def shelf_of(key: bytes) -> bytes:
    """The name of the shelf on which a key lies.

    >>> shelf_of(b"line/orders\\x00knot\\x00" + b"%020d" % 1234)[-4:]
    b'0012'
    """
    parts = key.split(b"\x00")
    for place in range(len(parts) - 1, 0, -1):
        if len(parts[place]) == DIGITS and parts[place].isdigit():
            return b"\x00".join([*parts[:place], parts[place][:SHELF_DIGITS]])
    return parts[0]


class ShelfTables(Protocol):
    """Where shelves are read from."""

    def partitions(self) -> list[bytes]:
        """The first parts of all keys."""

    def names(self, partition: bytes) -> list[bytes]:
        """The names of the shelves of a partition."""

    def entries(self, shelf: bytes) -> list[tuple[bytes, bytes]]:
        """The keys and values on a shelf."""


@dataclass
class Shelf:
    """The keys and values on one shelf."""

    values: dict[bytes, bytes]
    keys: list[bytes] = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.keys = sorted(self.values)
        self.size = sum(len(key) + len(value) for key, value in self.values.items())

    def take(self, write: Write) -> None:
        """Change one key."""
        before = self.values.pop(write.key, None)
        if before is not None:
            self.size -= len(write.key) + len(before)
        if write.value is None:
            if before is not None:
                self.keys.pop(bisect_left(self.keys, write.key))
            return
        if before is None:
            insort(self.keys, write.key)
        self.values[write.key] = write.value
        self.size += len(write.key) + len(write.value)

    def between(self, low: bytes, high: bytes) -> list[tuple[bytes, bytes]]:
        """The pairs from one key to another, both included."""
        first, last = bisect_left(self.keys, low), bisect_left(self.keys, high + b"\x00")
        return [(key, self.values[key]) for key in self.keys[first:last]]


class Shelves:
    """All shelves of a store that nobody else writes."""

    def __init__(self, tables: ShelfTables, *, budget: int = BUDGET) -> None:
        self._tables = tables
        self._budget = budget
        self._loaded: OrderedDict[bytes, Shelf] = OrderedDict()
        self._size = 0
        self._names: dict[bytes, list[bytes]] = {}
        self._busy: Counter[bytes] = Counter()

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""
        name = shelf_of(key)
        return self._shelf(name).values.get(key) if self._is_there(name) else None

    def take(self, write: Write) -> None:
        """Change a key; its shelf stays in memory until `written` says as often that the tables have it."""
        name = shelf_of(write.key)
        shelf = self._shelf(name)
        self._size -= shelf.size
        shelf.take(write)
        self._size += shelf.size
        self._busy[name] += 1
        if not self._is_there(name):
            insort(self._names.setdefault(partition_of(name), []), name)

    def written(self, key: bytes, times: int) -> None:
        """Take note that the tables have so many changes of a key."""
        name = shelf_of(key)
        self._busy[name] -= times
        if not self._busy[name]:
            del self._busy[name]

    def is_empty(self, name: bytes) -> bool:
        """Whether it is known that nothing lies on a shelf, and nobody is writing to it."""
        shelf = self._loaded.get(name)
        return shelf is not None and not shelf.values and not self._busy[name]

    def forget(self, name: bytes) -> None:
        """Leave out a shelf on which nothing lies."""
        self._names_of(partition_of(name)).remove(name)
        self._size -= self._loaded.pop(name).size

    def scan(
        self, prefix: bytes, *, start: bytes | None, reverse: bool
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs whose key begins with `prefix`, in key order."""
        low, high = prefix, prefix + _LAST
        if start is not None:
            low, high = (low, min(high, start)) if reverse else (max(low, start), high)
        if b"\x00" in prefix:
            partitions = [partition_of(prefix)]
        else:
            known = {*self._tables.partitions(), *self._names}
            partitions = sorted((p for p in known if p.startswith(prefix)), reverse=reverse)
        for partition in partitions:
            names = [
                name
                for name in self._names_of(partition)
                if name <= high and name + _LAST >= low and _share(name, prefix)
            ]
            yield from self._merged(names, low, high, reverse)

    def _merged(
        self, names: Sequence[bytes], low: bytes, high: bytes, reverse: bool
    ) -> Iterator[tuple[bytes, bytes]]:
        """The pairs on several shelves in order; a shelf is read when its first key may be the next."""
        waiting = [_Next(name + _LAST if reverse else name, name, reverse) for name in names]
        heapq.heapify(waiting)
        while waiting:
            nearest = heapq.heappop(waiting)
            if nearest.pairs is None:
                pairs = self._shelf(nearest.shelf).between(low, high)
                nearest.pairs = pairs if not reverse else pairs[::-1]
            else:
                yield nearest.pairs[nearest.place]
                nearest.place += 1
            if nearest.place < len(nearest.pairs):
                nearest.key = nearest.pairs[nearest.place][0]
                heapq.heappush(waiting, nearest)

    def _names_of(self, partition: bytes) -> list[bytes]:
        names = self._names.get(partition)
        if names is None:
            names = sorted(self._tables.names(partition))
            if names:
                self._names[partition] = names
        return names

    def _is_there(self, name: bytes) -> bool:
        names = self._names_of(partition_of(name))
        place = bisect_left(names, name)
        return names[place : place + 1] == [name]

    def _shelf(self, name: bytes) -> Shelf:
        shelf = self._loaded.get(name)
        if shelf is None:
            known = self._tables.entries(name) if self._is_there(name) else ()
            shelf = self._loaded[name] = Shelf(dict(known))
            self._size += shelf.size
        self._loaded.move_to_end(name)
        if self._size > self._budget:
            self._make_room(but=name)
        return shelf

    def _make_room(self, *, but: bytes) -> None:
        """Let go of the shelves that were used longest ago, of which the tables have everything."""
        for name in list(self._loaded):
            if self._size <= self._budget:
                return
            if name != but and not self._busy[name]:
                self._size -= self._loaded.pop(name).size


@dataclass
class _Next:
    """The next key of a shelf in a scan, or what bounds it while the shelf is unread."""

    key: bytes
    shelf: bytes
    reverse: bool
    pairs: list[tuple[bytes, bytes]] | None = None
    place: int = 0

    def __lt__(self, other: _Next) -> bool:
        return self.key > other.key if self.reverse else self.key < other.key


def _share(name: bytes, prefix: bytes) -> bool:
    """Whether a shelf may have keys with this prefix."""
    return name.startswith(prefix) or prefix.startswith(name)
