"""A store in memory, for tests and for pure logic."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence

from weft.weaver.store.store import StoreConflictError, Write, check_partition


class MemoryStore:
    """Keys in a sorted list beside their values; gone with the process."""

    takes_long = False

    def __init__(self) -> None:
        self._keys: list[bytes] = []
        self._values: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        return self._values.get(key)

    def scan(
        self,
        prefix: bytes,
        *,
        start: bytes | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[tuple[bytes, bytes]]:
        low = bisect_left(self._keys, prefix)
        high = bisect_left(self._keys, prefix + b"\xff")
        keys = self._keys[low:high]
        if start is not None:
            keys = [k for k in keys if (k <= start if reverse else k >= start)]
        if reverse:
            keys = keys[::-1]
        for found in keys[:limit]:
            yield found, self._values[found]

    def apply(
        self,
        writes: Sequence[Write],
        *,
        expect: Mapping[bytes, bytes | None] | None = None,
        durable: bool = True,
    ) -> None:
        check_partition(writes, expect or {})
        for wanted, value in (expect or {}).items():
            if self._values.get(wanted) != value:
                raise StoreConflictError(f"Key {wanted!r} was changed by someone else.")
        for write in writes:
            if write.value is None:
                if self._values.pop(write.key, None) is not None:
                    self._keys.pop(bisect_left(self._keys, write.key))
            else:
                if write.key not in self._values:
                    insort(self._keys, write.key)
                self._values[write.key] = write.value

    def flush(self) -> None:
        """Nothing here outlives the process."""

    def close(self) -> None:
        self._keys, self._values = [], {}
