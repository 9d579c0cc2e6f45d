"""Files that cannot hold a record are left out of the search for it, and no others."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from weft.sinks.rows import FilePart
from weft.streams.bounds import may_hold


def write(path: Path, *ids: str | None, statistics: bool = True) -> FilePart:
    rows = pa.array(
        [{"id": one, "knot": 1} for one in ids], pa.struct({"id": pa.string(), "knot": pa.int64()})
    )
    pq.write_table(pa.table({"_weft": rows}), path, row_group_size=2, write_statistics=statistics)
    return FilePart(str(path))


def test_a_file_is_left_out_where_its_ids_are_all_before_or_behind(tmp_path: Path) -> None:
    first = write(tmp_path / "1", "s/0/1", "s/0/2", "s/0/3")
    second = write(tmp_path / "2", "s/0/5", "s/0/4", "s/0/4")
    third = write(tmp_path / "3", "s/0/é", "s/1/0")
    parts = [first, second, third]
    assert may_hold(parts, "s/0/3") == [first]
    assert may_hold(parts, "s/0/5") == [second]
    assert may_hold(parts, "s/0/é") == [third]
    assert may_hold(parts, "s/0/9") == []
    assert may_hold([], "s/0/9") == []


def test_a_file_that_does_not_say_is_looked_into(tmp_path: Path) -> None:
    silent = write(tmp_path / "1", "s/0/1", statistics=False)
    empty, unnamed = write(tmp_path / "2"), write(tmp_path / "3", None)
    assert may_hold([silent, empty, unnamed], "s/0/9") == [silent, empty, unnamed]
