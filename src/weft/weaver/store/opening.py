"""Stores by their place, a folder or an address: opened for reading by whoever looks at a storage from outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.weaver.store.address import SCHEME, KeyspaceAddress
from weft.weaver.store.snapshot import RocksSnapshot
from weft.weaver.store.store import Store


def is_shared(place: str) -> bool:
    """Whether a store is one that several weavers share."""
    return place.startswith(SCHEME)


@contextmanager
def read_store(place: str) -> Iterator[Store]:
    """The store at a place as it is now, for reading only; a weaver may have it open."""
    if not is_shared(place):
        with RocksSnapshot(Path(place)) as snapshot:
            yield snapshot
        return
    from weft.weaver.store.copied import read_copy

    yield read_copy(KeyspaceAddress.parse(place))
