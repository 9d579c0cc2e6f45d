"""The Delta sink: a table that any reader of Delta sees as the documents are, after repeats, rollbacks, new lives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from weft import sinks
from weft.errors import WeftError
from weft.schema.change import with_change
from weft.schema.schema import Schema
from weft.sinks import Rows, Sink, SinkError, TableRows
from weft.streams.delta import open_table
from weft.streams.standing import StandingRows

SCHEMA = with_change(
    Schema.of({"Id": "long", 'odd "name': "string", "list": "array<struct<a:int>>"})
)
ARROW = pa.schema(
    {
        "Id": pa.int64(),
        'odd "name': pa.string(),
        "list": pa.list_(pa.struct({"a": pa.int32()})),
        "_change": pa.struct({"op": pa.string()}),
        "_weft": pa.struct({"id": pa.string(), "knot": pa.int64()}),
    }
)


@pytest.fixture(
    params=[
        "folder",
        pytest.param("bucket", marks=[pytest.mark.stack, pytest.mark.xdist_group("stack")]),
    ]
)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a table may be, on a disk and in a bucket."""
    if request.param == "folder":
        return str(tmp_path / "t")
    return str(request.getfixturevalue("s3").address(f"{tmp_path.name}/t"))


def open_sink(
    path: Path | str,
    history: str = "first",
    *,
    key: tuple[str, ...] = ("Id",),
    standing: Callable[[int], Rows] | None = None,
) -> Sink:
    return sinks.open(
        "delta",
        {"path": str(path)},
        app="app",
        pipeline="docs",
        stream="docs",
        schema=SCHEMA,
        key=key,
        history=history,
        is_current=True,
        standing=standing,
    )


def rows(
    *changes: tuple[str, int | None, str | None], before: TableRows | None = None
) -> TableRows:
    made = [
        {"Id": key, 'odd "name': name, "list": [{"a": 1}], "_change": {"op": op}}
        for op, key, name in changes
    ]
    found = TableRows(pa.Table.from_pylist(made, schema=ARROW))
    found.before = before
    return found


def read(path: Path | str) -> dict[Any, Any]:
    found = open_table(str(path)).to_pyarrow_table().to_pylist()
    assert all(set(row) == {"Id", 'odd "name', "list"} for row in found)
    made = {row["Id"]: row['odd "name'] for row in found}
    assert len(made) == len(found)
    return made


def test_a_table_follows_what_is_created_changed_and_deleted(tmp_path: Path) -> None:
    sink = open_sink(tmp_path / "t")
    assert sink.delivered() is None
    sink.deliver(1, rows(("c", 1, "ann"), ("c", 2, "bob"), ("c", None, "nobody")))
    sink.deliver(2, rows(("u", 1, "Ann"), ("d", 2, None), ("d", 9, None), ("u", None, "somebody")))
    assert read(tmp_path / "t") == {1: "Ann", None: "somebody"}
    assert open_sink(tmp_path / "t").delivered() == 2


def test_a_knot_that_is_in_the_table_is_not_merged_again(tmp_path: Path) -> None:
    sink = open_sink(tmp_path / "t")
    sink.deliver(1, rows(("c", 1, "ann")))
    sink.deliver(2, rows(("u", 1, "Ann")))
    late = open_sink(tmp_path / "t")
    late.deliver(1, rows(("c", 1, "ann")))
    assert read(tmp_path / "t") == {1: "Ann"}


def test_keys_get_what_they_had_before_the_knots_that_are_taken_back(table: str) -> None:
    sink = open_sink(table)
    sink.deliver(1, rows(("c", 1, "ann")))
    sink.deliver(2, rows(("u", 1, "Ann"), ("c", 2, "bob")))
    taken = rows(("u", 1, "Ann"), ("c", 2, "bob"), before=rows(("c", 1, "ann"), ("d", 2, None)))
    sink.retract(range(2, 3), taken)
    assert read(table) == {1: "ann"}
    sink.deliver(3, rows(("u", 1, "Anna")))
    sink.retract(range(2, 3), taken)  # somebody who comes too late
    assert read(table) == {1: "Anna"}
    sink.retract(range(3, 4), rows(("u", 1, "Anna"), before=rows(("c", 1, "ann"))))
    for _ in range(2):
        sink.restore(2, taken)
        assert read(table) == {1: "Ann", 2: "bob"}
    sink.retract(range(2, 3), taken)
    assert read(table) == {1: "ann"}


def test_what_never_reached_the_table_is_not_taken_back(tmp_path: Path) -> None:
    sink = open_sink(tmp_path / "t")
    before = rows(("c", 1, "old"))
    sink.retract(range(1, 3), rows(("u", 1, "new"), before=before))
    assert not (tmp_path / "t").exists()
    sink.deliver(5, rows(("c", 1, "new")))
    sink.retract(range(6, 7), rows(("u", 1, "newer"), before=before))
    assert read(tmp_path / "t") == {1: "new"}


def test_a_new_life_of_the_stream_begins_with_an_empty_table(tmp_path: Path) -> None:
    open_sink(tmp_path / "t").deliver(7, rows(("c", 1, "ann"), ("c", 2, "bob")))
    sink = open_sink(tmp_path / "t", history="second")
    sink.deliver(1, rows(("c", 2, "Bob")))
    sink.deliver(2, rows(("c", 3, "cid")))
    assert read(tmp_path / "t") == {2: "Bob", 3: "cid"}


def test_keys_of_several_columns_are_merged_by_all_of_them(tmp_path: Path) -> None:
    sink = open_sink(tmp_path / "t", key=("Id", 'odd "name'))
    sink.deliver(1, rows(("c", 1, "a"), ("c", 1, "b"), ("c", None, None), ("c", 2, None)))
    sink.deliver(2, rows(("d", 1, "a"), ("u", None, None), ("d", 2, "x"), ("c", 3, "c")))
    found = DeltaTable(str(tmp_path / "t")).to_pyarrow_table().to_pylist()
    assert {(row["Id"], row['odd "name']) for row in found} == {
        (1, "b"),
        (None, None),
        (2, None),
        (3, "c"),
    }
    assert len(found) == 4


def test_a_table_that_knows_nothing_of_a_life_gets_all_that_stands(tmp_path: Path) -> None:
    told = rows(("c", 1, "ann"), ("c", 2, "bob"), ("u", 1, "Ann"), ("d", 2, None), ("c", 3, "cid"))

    def standing(knot: int) -> Rows:
        assert knot == 5
        return StandingRows(told, ["Id"])

    open_sink(tmp_path / "t").deliver(7, rows(("c", 1, "old"), ("c", 9, "of the future")))
    for history in ("restored", "again"):
        sink = open_sink(tmp_path / "t", history, standing=standing)
        sink.deliver(5, rows(("c", 3, "cid")))
        assert read(tmp_path / "t") == {1: "Ann", 3: "cid"}
        sink.deliver(6, rows(("c", 4, "dan")))
        assert read(tmp_path / "t") == {1: "Ann", 3: "cid", 4: "dan"}


def test_two_workers_at_once_leave_each_knot_in_the_table_once(table: str) -> None:
    open_sink(table).deliver(1, rows(("c", 1, "ann")))
    together = threading.Barrier(2)

    def work() -> None:
        sink = open_sink(table)
        for knot in range(2, 8):
            together.wait()
            try:
                sink.deliver(knot, rows(("u", 1, f"ann{knot}"), ("c", knot, "x")))
            except SinkError:
                sink.deliver(knot, rows(("u", 1, f"ann{knot}"), ("c", knot, "x")))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read(table) == {1: "ann7", **dict.fromkeys(range(2, 8), "x")}


def test_a_table_with_other_types_says_so(tmp_path: Path) -> None:
    from deltalake import write_deltalake

    write_deltalake(str(tmp_path / "t"), pa.table({"Id": ["text"], 'odd "name': ["x"]}))
    with pytest.raises(WeftError) as refused:
        open_sink(tmp_path / "t").deliver(1, rows(("c", 1, "ann")))
    assert refused.value.code == "sinks.delta" and refused.value.ids["stream"] == "docs"
