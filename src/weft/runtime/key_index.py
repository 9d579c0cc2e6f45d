"""Which knot has the newest row of each key of a stream: look-ups by key go by it, and read one knot and not the whole
history. Kept in a worker's memory from the first look-up on; knots that are new since the last one are added."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pyarrow.compute as pc

from weft.locations.parquet import open_parquet
from weft.schema.weft import WEFT
from weft.sinks.rows import FilePart
from weft.streams.note import TableKnot
from weft.streams.pieces import parts_of

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
        new = [knot for knot in knots if knot.note.knot not in self._indexed]
        for part in parts_of(path, new):
            if len(self._newest) > self._most:
                return
            self._add(part)
        self._indexed.update((knot.note.knot, knot.version) for knot in new)

    def _add(self, part: FilePart) -> None:
        with open_parquet(part.path) as file:
            for batch in file.iter_batches(columns=[*self._columns, f"{WEFT}.knot"]):
                rows = part.of(batch)
                numbers = pc.struct_field(rows.column(WEFT), "knot").to_pylist()
                columns = [rows.column(name).to_pylist() for name in self._columns]
                for number, *key in zip(numbers, *columns, strict=True):
                    name = _hash(key)
                    self._newest[name] = max(number, self._newest.get(name, 0))


def _hash(key: Sequence[Any]) -> int:
    """By its text: a key may hold what has no hash of its own."""
    return hash(repr(tuple(key)))
