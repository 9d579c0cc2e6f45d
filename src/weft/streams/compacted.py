"""Files that several knots share: which knot's rows lie in which, as the log of a table says. No Spark.

The rows in such a file are in the order of their knots, of each knot's own files as its commit names them, and of the
rows in these: so a knot's rows, its files' rows and the root over each are found in it again.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from weft.locations.location import Location
from weft.locations.parquet import open_parquet
from weft.schema.weft import WEFT

KNOT = f"{WEFT}.knot"
MARK = "-compacted-"
"""Is in the name of every file that knots share, and of no other."""


@dataclass(frozen=True, order=True)
class CompactedFile:
    """One file that has the rows of the knots in (after, upto]; its path is relative to the table's folder."""

    upto: int
    after: int
    path: str
    rows: int
    bytes: int
    sha256: str


class Compactions:
    """Which knots share which file; what comes later takes the place of what was there."""

    def __init__(self, made: Iterable[CompactedFile] = ()) -> None:
        self._files: list[CompactedFile] = []
        self.add(tuple(made))

    def add(self, made: tuple[CompactedFile, ...]) -> None:
        """Take in the files of one compaction."""
        for one in made:
            self._files = [old for old in self._files if not _meet(old, one)]
        for one in made:
            insort(self._files, one)

    def find(self, knot: int) -> CompactedFile | None:
        """The file that a knot shares, or None when it has its own."""
        place = bisect_left(self._files, knot, key=lambda one: one.upto)
        found = self._files[place] if place < len(self._files) else None
        return found if found is not None and found.after < knot else None


def is_shared(path: str) -> bool:
    """Whether a file is one that knots share, by its name."""
    return MARK in PurePath(path).name


def _meet(one: CompactedFile, other: CompactedFile) -> bool:
    return one.after < other.upto and other.after < one.upto


def place_of(parquet: pq.ParquetFile, knot: int) -> tuple[int, int]:
    """The first row of a knot in a file that it shares, and how many it has."""
    first = count = 0
    for group in range(parquet.num_row_groups):
        numbers = knots_of(parquet, group)
        first += pc.sum(pc.less(numbers, knot)).as_py() or 0
        count += pc.sum(pc.equal(numbers, knot)).as_py() or 0
    return first, count


def knots_of(parquet: pq.ParquetFile, group: int) -> pa.Array:
    """The numbers of the knots that the rows of a row group are of."""
    column = parquet.read_row_group(group, columns=[KNOT]).column(WEFT).combine_chunks()
    return pc.struct_field(column, "knot")


def batches_of(path: Location, knot: int | None) -> Iterator[pa.RecordBatch]:
    """The rows of a file in their order; those of one knot where others share it."""
    with open_parquet(path) as parquet:
        for batch in parquet.iter_batches():
            if knot is None:
                yield batch
            else:
                numbers = pc.struct_field(batch.column(WEFT), "knot")
                yield batch.filter(pc.equal(numbers, knot))
