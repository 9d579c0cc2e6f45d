"""A store of which only the records count that are what was written; what is damaged is as if it were not there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from weft.weaver.store.records import is_intact
from weft.weaver.store.rocks import RocksStore


class IntactStore(RocksStore):
    """A database without its damaged records."""

    def get(self, key: bytes) -> bytes | None:
        value = super().get(key)
        return value if value is not None and is_intact(key, value) else None

    def scan(
        self,
        prefix: bytes,
        *,
        start: bytes | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[tuple[bytes, bytes]]:
        found = super().scan(prefix, start=start, reverse=reverse)
        return islice((pair for pair in found if is_intact(*pair)), limit)
