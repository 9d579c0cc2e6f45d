"""Which knot has the newest row of each key of a stream: look-ups by key go by it, and read one knot and not the whole
history. Kept in a worker's memory from the first look-up on; knots that are new since the last one are added."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pyarrow.parquet as pq

from weft.streams.note import TableKnot

MOST_KEYS = 2_000_000
"""Of streams with more keys none is kept: about 100 bytes each."""


class KeyIndex:
    """The newest knot of each key, by a hash of it: whoever asks looks into that knot, and may find another key."""

    def __init__(self, columns: Sequence[str], *, most: int = MOST_KEYS) -> None:
        self._columns = list(columns)
        self._most = most
        self._newest: dict[int, int] = {}
        self._indexed: dict[int, int] = {}
        self._lock = threading.Lock()

    def find(self, key: Sequence[Any], knots: Sequence[TableKnot], path: str) -> int | None:
        """The knot that should have the newest row of a key, of a table with these knots; None: nobody knows.

        0 is said of a key that no knot has.
        """
        with self._lock:
            self._follow(knots, path)
            if len(self._newest) > self._most:
                return None
            return self._newest.get(_hash(key), 0)

    def _follow(self, knots: Sequence[TableKnot], path: str) -> None:
        """Take in the knots that are new; after a rollback, all of them anew."""
        live = {knot.note.knot: knot.version for knot in knots}
        if not self._indexed.items() <= live.items():
            self._newest.clear()
            self._indexed.clear()
        for knot in knots:
            if len(self._newest) > self._most:
                return
            if knot.note.knot not in self._indexed:
                self._add(knot, path)
                self._indexed[knot.note.knot] = knot.version

    def _add(self, knot: TableKnot, path: str) -> None:
        for file in knot.files:
            table = pq.read_table(f"{path}/{file.path}", columns=self._columns)
            columns = [table.column(name).to_pylist() for name in self._columns]
            for key in zip(*columns, strict=True):
                name = _hash(key)
                self._newest[name] = max(knot.note.knot, self._newest.get(name, 0))


def _hash(key: Sequence[Any]) -> int:
    """By its text: a key may hold what has no hash of its own."""
    return hash(repr(tuple(key)))
