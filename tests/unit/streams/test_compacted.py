"""Which knots share a file, and what is found of rows that lie together."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from weft.lineage.hashtree import HashTree
from weft.locations.location import locate
from weft.sinks.rows import FilePart, SharedRows
from weft.streams.compacted import CompactedFile, Compactions, batches_of, place_of
from weft.streams.rehash import FileHash


def file(after: int, upto: int) -> CompactedFile:
    return CompactedFile(upto, after, f"{after}-{upto}", rows=1, bytes=1, sha256="")


def test_what_comes_later_takes_the_place_of_what_was_there() -> None:
    found = Compactions([file(0, 5), file(5, 9)])
    assert [found.find(knot) for knot in (1, 5, 6, 9, 10)] == [
        *(file(0, 5), file(0, 5), file(5, 9), file(5, 9)),
        None,
    ]
    found.add((file(5, 7), file(7, 9)))
    assert (found.find(5), found.find(7), found.find(8)) == (file(0, 5), file(5, 7), file(7, 9))
    found.add((file(0, 9),))
    assert {found.find(knot) for knot in range(1, 10)} == {file(0, 9)}
    assert Compactions().find(1) is None


def test_the_rows_of_a_knot_are_found_among_those_of_others(tmp_path: Path) -> None:
    rows = [{"n": n, "_weft": {"knot": knot}} for n, knot in enumerate([1, 1, 3, 4, 4, 4])]
    path = tmp_path / "shared.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=2)
    with pq.ParquetFile(path) as parquet:
        assert [place_of(parquet, knot) for knot in (1, 2, 3, 4)] == [
            (0, 2),
            (2, 0),
            (2, 1),
            (3, 3),
        ]
    some = [row["n"] for batch in batches_of(locate(path), 4) for row in batch.to_pylist()]
    assert some == [3, 4, 5]
    part = SharedRows([FilePart(str(path), after=1, upto=3)], ["n"])
    assert (part.count, [row["n"] for row in part.records()]) == (1, [2])


def test_the_roots_of_a_knots_own_files_are_made_of_its_rows_in_a_shared_one() -> None:
    hashes = [bytes([n]) * 32 for n in range(5)]

    def root(some: list[bytes]) -> str | None:
        tree = HashTree()
        for one in some:
            tree.add(one)
        return tree.root()

    found = FileHash("f", 5, knot=3, leaves=b"".join(hashes))
    assert found.roots([2, 0, 3]) == [root(hashes[:2]), None, root(hashes[2:])]
    assert FileHash("f", 5, knot=3).roots([2, 3]) == [None, None]
