"""A tree over the hashes of a file's rows in their order, in plain Python: its root, and the way from one row up to it.

The kernel builds the same tree as it writes a file, and the file's root is sealed in its knot. So a record, the hashes
beside it on its way up and the knot prove that the record was written, without the other records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH = 16
"""So many hashes make a node of the level above; the last node of a level may have fewer."""
NODE = b"\xff" * 5
"""Begins what a node is hashed from. No record's canonical form begins so: it would be the position of a column beyond
two billion. So no node passes for a record."""


@dataclass(frozen=True)
class Beside:
    """The hashes of a node before and after the one that is proven, as hex digits."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class HashTree:
    """Takes hashes one by one and keeps a node a level."""

    def __init__(self) -> None:
        self._levels: list[list[bytes]] = []

    def add(self, hashed: bytes, *, height: int = 0) -> None:
        """Add the next hash."""
        if len(self._levels) == height:
            self._levels.append([])
        level = self._levels[height]
        level.append(hashed)
        if len(level) == WIDTH:
            self._close(height)

    def _close(self, height: int) -> None:
        made = node(self._levels[height])
        self._levels[height] = []
        self.add(made, height=height + 1)

    def root(self) -> str | None:
        """The root as hex digits, None when nothing was added; ends the tree."""
        if not self._levels:
            return None
        height = 0
        while height == 0 or height < len(self._levels) - 1 or len(self._levels[height]) > 1:
            if self._levels[height]:
                self._close(height)
            height += 1
        return self._levels[height][0].hex()


def node(hashes: Iterable[bytes]) -> bytes:
    """The hash of a node."""
    return hashlib.sha256(NODE + b"".join(hashes)).digest()


def path_of(hashes: Sequence[bytes], place: int) -> tuple[Beside, ...]:
    """What stands beside the hash at a place, and beside each node above it, up to the root."""
    path: list[Beside] = []
    level = list(hashes)
    while not path or len(level) > 1:
        first = place - place % WIDTH
        group = level[first : first + WIDTH]
        within = place - first
        path.append(Beside(_hex(group[:within]), _hex(group[within + 1 :])))
        level = [node(level[at : at + WIDTH]) for at in range(0, len(level), WIDTH)]
        place //= WIDTH
    return tuple(path)


def climb(hashed: bytes, path: Iterable[Beside]) -> str:
    """The root that a hash and its path make, as hex digits."""
    for beside in path:
        before, after = (map(bytes.fromhex, side) for side in (beside.before, beside.after))
        hashed = node([*before, hashed, *after])
    return hashed.hex()


def _hex(hashes: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(one.hex() for one in hashes)
