"""Which files of a table may hold a record: the footer of each says between which two ids all of its records are."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from weft.locations.local import LocalLocation
from weft.locations.location import locate
from weft.locations.parquet import open_parquet
from weft.schema.weft import WEFT
from weft.sinks.rows import FilePart

AT_ONCE = 8
REMEMBERED = 50_000
"""Files never change, so that of the files of a long stream each is opened once."""
ID = f"{WEFT}.id"


def may_hold(parts: Iterable[FilePart], id: str) -> list[FilePart]:
    """Those of some files that a record with this id may be in: Spark would open all of them for each look.

    Only of files on a disk; of others Arrow would read more than their footers.
    """
    listed = list(parts)
    if not all(isinstance(locate(part.path), LocalLocation) for part in listed):
        return listed
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(_bounds, (part.path for part in listed)))
    sought = id.encode()
    return [
        part
        for part, bounds in zip(listed, found, strict=True)
        if bounds is None or bounds[0] <= sought <= bounds[1]
    ]


@lru_cache(maxsize=REMEMBERED)
def _bounds(path: str) -> tuple[bytes, bytes] | None:
    """The least and the greatest id in a file; None where it does not say."""
    bounds: list[bytes] = []
    with open_parquet(path) as file:
        for group in map(file.metadata.row_group, range(file.metadata.num_row_groups)):
            columns = map(group.column, range(group.num_columns))
            told = next((one.statistics for one in columns if one.path_in_schema == ID), None)
            if told is None or not told.has_min_max:
                return None
            bounds += [told.min.encode(), told.max.encode()]
    return (min(bounds), max(bounds)) if bounds else None
