"""The index of keys: which knot has the newest row of each, after new knots, rollbacks and too many keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from weft.lineage.facts import DataFile
from weft.runtime.key_index import KeyIndex
from weft.streams.note import Note, TableKnot

KEY = ("id", "at")


def knot(folder: Path, number: int, *keys: tuple[Any, Any], version: int = 0) -> TableKnot:
    """A knot whose rows have these keys."""
    rows = [{"id": one, "at": other, "_weft": {"knot": number}} for one, other in keys]
    name = f"{number}-{version}.parquet"
    mark = pa.struct({"knot": pa.int64()})
    kinds = pa.schema({"id": pa.string(), "at": pa.list_(pa.int64()), "_weft": mark})
    pq.write_table(pa.Table.from_pylist(rows, schema=kinds), folder / name)
    note = Note(number, f"k{number}", "s", "s", "h", "g", "l", len(rows), "")
    return TableKnot(version or number, note, (DataFile(name, len(rows), 0, ""),))


def test_the_newest_knot_of_a_key_is_known_while_knots_come_and_go(tmp_path: Path) -> None:
    index = KeyIndex(KEY)
    knots = [knot(tmp_path, 1, ("a", [1]), ("b", None)), knot(tmp_path, 2, ("a", [1]))]

    def find(*key: Any) -> int | None:
        return index.find(key, knots, str(tmp_path))

    assert (find("a", [1]), find("b", None), find("a", [2])) == (2, 1, 0)
    knots.append(knot(tmp_path, 3, ("b", None)))
    assert (find("a", [1]), find("b", None)) == (2, 3)
    del knots[1:]
    assert (find("a", [1]), find("b", None)) == (1, 1)
    knots.append(knot(tmp_path, 4, ("c", [3])))
    assert (find("a", [1]), find("c", [3])) == (1, 4)
    knots.insert(1, knot(tmp_path, 2, ("a", [1]), ("c", [3]), version=9))  # one that came back
    assert (find("a", [1]), find("c", [3])) == (2, 4)


def test_files_are_read_once(tmp_path: Path) -> None:
    index = KeyIndex(KEY)
    knots = [knot(tmp_path, number, (str(number), None)) for number in range(1, 4)]
    assert index.find(("3", None), knots, str(tmp_path)) == 3
    for file in tmp_path.iterdir():
        file.unlink()
    assert index.find(("1", None), knots, str(tmp_path)) == 1


def test_of_too_many_keys_nothing_is_said(tmp_path: Path) -> None:
    index = KeyIndex(KEY, most=2)
    knots = [knot(tmp_path, 1, *((str(n), None) for n in range(3)))]
    assert index.find(("1", None), knots, str(tmp_path)) is None
