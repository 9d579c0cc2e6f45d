"""Records in a store: JSON values that carry a checksum, so that one changed byte is noticed on reading."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from weft import canonical
from weft.errors import WeftError
from weft.weaver.store.store import Store, Write, key, key_range

CHECKSUM_BYTES = 8


class RecordCorruptError(WeftError):
    """A stored record is not what was written."""

    code = "store.corrupt"
    domain = "internal"


class Records:
    """Reads records of a store by the parts of their key, and prepares writes of them."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def find(self, *parts: str | int) -> Any | None:
        """The record at this key, or None."""
        name = key(*parts)
        value = self.store.get(name)
        return None if value is None else open_record(name, value)

    def get(self, *parts: str | int) -> Any:
        """The record at this key, which must be there."""
        record = self.find(*parts)
        if record is None:
            where = "/".join(map(str, parts))
            raise RecordCorruptError(
                f"Record '{where}' is missing from the weaver's store.",
                hint="Restore the store from a backup.",
                record=where,
            )
        return record

    def scan(
        self,
        *parts: str | int,
        start: int | str | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[Any]:
        """The records below these key parts in key order, from the part `start` on."""
        first = None if start is None else key(*parts, start)
        for name, value in self.store.scan(
            key_range(*parts), start=first, limit=limit, reverse=reverse
        ):
            yield open_record(name, value)

    def keys(self, *parts: str | int, limit: int | None = None) -> Iterator[list[str]]:
        """The key parts of the records below, without reading what they hold."""
        for name, _ in self.store.scan(key_range(*parts), limit=limit):
            yield name.decode().split("\x00")


def put(*parts: str | int, record: Any) -> Write:
    """The write that stores a record at a key."""
    name, body = key(*parts), canonical.encode(record)
    return Write(name, _checksum(name, body) + body)


def remove(*parts: str | int) -> Write:
    """The write that removes a record."""
    return Write(key(*parts), None)


def open_record(name: bytes, value: bytes) -> Any:
    """The record behind a stored value, checked."""
    checksum, body = value[:CHECKSUM_BYTES], value[CHECKSUM_BYTES:]
    if checksum != _checksum(name, body):
        where = name.decode(errors="replace").replace("\x00", "/")
        raise RecordCorruptError(
            f"Record '{where}' in the weaver's store is not what was written.",
            hint="Restore the store from a backup; `weft verify` lists everything that differs.",
            record=where,
        )
    return canonical.decode(body)


def _checksum(name: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(name + b"\x00" + body, digest_size=CHECKSUM_BYTES).digest()
