"""A store of which only the records count that are what was written; what is damaged is as if it were not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from weft.weaver.store.records import is_intact
from weft.weaver.store.store import Store, Write


class IntactStore:
    """Another store, without its damaged records."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""
        value = self._store.get(key)
        return value if value is not None and is_intact(key, value) else None

    def scan(
        self,
        prefix: bytes,
        *,
        start: bytes | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs whose key begins with `prefix`, in key order, from `start` on."""
        found = self._store.scan(prefix, start=start, reverse=reverse)
        for number, pair in enumerate(pair for pair in found if is_intact(*pair)):
            if number == limit:
                return
            yield pair

    def apply(
        self,
        writes: Sequence[Write],
        *,
        expect: Mapping[bytes, bytes | None] | None = None,
        durable: bool = True,
    ) -> None:
        """Write all or nothing."""
        self._store.apply(writes, expect=expect, durable=durable)

    def flush(self) -> None:
        """Make everything durable that was written."""
        self._store.flush()

    def close(self) -> None:
        """Release the store."""
        self._store.close()
