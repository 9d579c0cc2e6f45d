"""The store protocol: ordered keys in partitions, atomic groups of writes, conditions within one partition.

A key's first part is its partition. Groups of writes may go to several partitions at once; conditions, and what is
written under them, stay within one. That is what a store over several machines can keep too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.errors import WeftError


class StoreConflictError(WeftError):
    """A conditional write found something else than it expected; nothing was written."""

    code = "store.conflict"
    domain = "conflict"
    retryable = True


class StoreFullError(WeftError):
    """The store has no room for what should be written; nothing was."""

    code = "store.full"
    domain = "external"
    retryable = True


@dataclass(frozen=True)
class Write:
    """One change of a key: its new value, or None to remove it."""

    key: bytes
    value: bytes | None


class Store(Protocol):
    """Durable once `apply` or, where it was put off, `flush` returns; keys are read back in byte order."""

    takes_long: bool
    """Whether a flush goes over a network, so that whoever has other things to do waits for it in a thread."""

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""
        ...

    def scan(
        self,
        prefix: bytes,
        *,
        start: bytes | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs whose key begins with `prefix`, in key order, from `start` on (inclusive)."""
        ...

    def apply(
        self,
        writes: Sequence[Write],
        *,
        expect: Mapping[bytes, bytes | None] | None = None,
        durable: bool = True,
    ) -> None:
        """Write all or nothing; raise StoreConflictError when a key does not hold what is expected.

        With `expect`, all keys are of one partition. What is not `durable` is read back at once, and is there
        for whoever comes later only after `flush` or a durable write.
        """
        ...

    def flush(self) -> None:
        """Make everything durable that was written."""
        ...

    def close(self) -> None:
        """Release the store; it must not be used afterwards."""
        ...


def key(*parts: str | int) -> bytes:
    """A key from its parts: numbers are padded so that they sort, parts are split by a NUL.

    >>> key("knot", "orders", 7) < key("knot", "orders", 12)
    True
    """
    return b"\x00".join(
        [b"%020d" % part if isinstance(part, int) else part.encode() for part in parts]
    )


def check_partition(writes: Sequence[Write], expect: Mapping[bytes, bytes | None]) -> None:
    """Refuse conditions on one partition for writes to another; implementations call this."""
    touched = {_partition(name) for name in (*expect, *(write.key for write in writes))}
    if expect and len(touched) > 1:
        raise ValueError(f"a conditional write spans the partitions {sorted(touched)}")


def _partition(key: bytes) -> bytes:
    return key.partition(b"\x00")[0]


def key_range(*parts: str | int) -> bytes:
    """The prefix of all keys that continue these parts."""
    return key(*parts) + b"\x00"
