"""Records in a store: values in their stored forms, with a checksum, so that one changed byte is noticed on reading."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, TypeVar

from weft import canonical, codec
from weft.errors import WeftError
from weft.weaver.store.store import Store, StoreConflictError, Write, key, key_range

T = TypeVar("T")
CHECKSUM_BYTES = 8
KEPT_OPEN = 512
"""Values that are kept as they were opened: a batch asks for the same few again and again."""


class RecordCorruptError(WeftError):
    """A stored record is not what was written."""

    code = "store.corrupt"
    domain = "internal"


class Records:
    """Reads records of a store by the parts of their key; the first part is the partition."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._open: OrderedDict[bytes, tuple[bytes, Any]] = OrderedDict()
        """Values that cannot change, each with the stored bytes behind it: good while these are the same."""

    def find(self, kind: type[T], *parts: str | int) -> T | None:
        """The record at this key, or None."""
        name = key(*parts)
        value = self.store.get(name)
        return None if value is None else self._opened(kind, name, value)

    def get(self, kind: type[T], *parts: str | int) -> T:
        """The record at this key, which must be there."""
        record = self.find(kind, *parts)
        if record is None:
            where = "/".join(map(str, parts))
            raise RecordCorruptError(
                f"Record '{where}' is missing from the weaver's store.",
                hint="Run `weft verify`; `weft store rebuild` makes the store anew from its tables.",
                record=where,
            )
        return record

    def expected(self, *parts: str | int, value: T | None) -> dict[bytes, bytes | None]:
        """The condition that the record at this key still is a value that was read before.

        It is the bytes that are stored: an older version may have written them, in a form of its own.
        """
        name = key(*parts)
        stored = self.store.get(name)
        found = None if stored is None else self._opened(type(value), name, stored)
        if value is not None and found != value:
            raise StoreConflictError(f"Record '{'/'.join(map(str, parts))}' has changed meanwhile.")
        return {name: None if value is None else stored}

    def scan(
        self,
        kind: type[T],
        *parts: str | int,
        start: int | str | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[T]:
        """The records below these key parts in key order, from the part `start` on."""
        first = None if start is None else key(*parts, start)
        for name, value in self.store.scan(
            key_range(*parts), start=first, limit=limit, reverse=reverse
        ):
            yield value_of(kind, open_record(name, value))

    def kept(self, write: Write, value: Any) -> Write:
        """A write of a value that cannot change, which whoever asks for it next gets as it is."""
        assert write.value is not None
        self._keep(write.key, write.value, value)
        return write

    def _opened(self, kind: type[T], name: bytes, value: bytes) -> T:
        known = self._open.get(name)
        if known is not None and known[0] == value and isinstance(known[1], kind):
            return known[1]
        opened = value_of(kind, open_record(name, value))
        declared = getattr(kind, "__dataclass_params__", None)
        if declared is not None and declared.frozen:
            self._keep(name, value, opened)
        return opened

    def _keep(self, name: bytes, value: bytes, opened: Any) -> None:
        self._open[name] = (value, opened)
        if len(self._open) > KEPT_OPEN:
            self._open.popitem(last=False)


def put(*parts: str | int, value: Any) -> Write:
    """The write that stores a value at a key."""
    return put_encoded(*parts, body=canonical.encode(form_of(value)))


def put_encoded(*parts: str | int, body: bytes) -> Write:
    """The write that stores a value, of which the canonical bytes are known, at a key."""
    name = key(*parts)
    return Write(name, _checksum(name, body) + body)


def remove(*parts: str | int) -> Write:
    """The write that removes a record."""
    return Write(key(*parts), None)


def form_of(value: Any) -> Any:
    """The stored form of a value; one that keeps the form it was sealed in says it itself."""
    own = getattr(value, "to_dict", None)
    return codec.pack(value) if own is None else own()


def value_of(kind: type[T], form: Any) -> T:
    """The value behind a stored form."""
    own = getattr(kind, "from_dict", None)
    value: T = codec.unpack(kind, form) if own is None else own(form)
    return value


def open_record(name: bytes, value: bytes) -> Any:
    """The form behind a stored value, checked."""
    if not is_intact(name, value):
        where = name.decode(errors="replace").replace("\x00", "/")
        raise RecordCorruptError(
            f"Record '{where}' in the weaver's store is not what was written.",
            hint="`weft verify` lists everything that differs; `weft store rebuild` makes the store "
            "anew from its tables.",
            record=where,
        )
    return canonical.decode(value[CHECKSUM_BYTES:])


def is_intact(name: bytes, value: bytes) -> bool:
    """Whether a stored value has the checksum that it was written with."""
    return value[:CHECKSUM_BYTES] == _checksum(name, value[CHECKSUM_BYTES:])


def _checksum(name: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(name + b"\x00" + body, digest_size=CHECKSUM_BYTES).digest()
