"""Which files are looked at, and when what is in them has settled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weft.sources.content import WHOLE, Sight, print_of
from weft.sources.watch import Sightings, Watch, is_finished

SETTLE_S = 1.0


@pytest.mark.parametrize(
    "name", [".a.json", "_a.json", "a.json.tmp", "a.JSON.TMP", "a.part", "a.json~", "a.partial"]
)
def test_a_name_that_says_unfinished_is_left_alone(name: str) -> None:
    assert not is_finished(f"/data/{name}")
    assert is_finished("/data/a.json")


def test_a_file_is_still_when_looks_find_it_the_same_for_long_enough() -> None:
    history = Sightings()
    seen = Sight(size=5, mtime_ns=1, inode=1)
    history.add(0.0, seen)
    assert not history.is_still(5.0, SETTLE_S)  # one look is none
    history.add(0.5, seen)
    assert not history.is_still(0.5, SETTLE_S)
    history.add(1.0, seen)
    assert history.is_still(1.0, SETTLE_S)
    history.add(1.5, Sight(5, 2, 1))
    assert not history.is_still(9.0, SETTLE_S)


def test_bytes_that_were_there_for_long_enough_have_settled_though_more_came() -> None:
    history = Sightings()
    for second in range(10):
        history.add(float(second), Sight(10 * second, second, 1))
    assert history.settled(9.9, 5.0) == 40
    assert history.settled(9.9, SETTLE_S) == 80


def test_a_file_that_shrinks_begins_anew() -> None:
    history = Sightings()
    history.add(0.0, Sight(50, 1, 1))
    history.add(5.0, Sight(3, 2, 1))
    assert history.settled(5.5, SETTLE_S) == 0


def make_watch(folder: Path) -> Watch:
    return Watch(f"{folder}/", settle_ms=1000, is_whole=lambda path: path.endswith(".gz"))


def test_files_are_admitted_in_the_order_they_were_written(tmp_path: Path) -> None:
    watch = make_watch(tmp_path)
    for number, name in enumerate("cab"):
        (tmp_path / name).write_text("1\n")
        os.utime(tmp_path / name, ns=(number, number))
    assert watch.look(0.0, lambda path: 0, lambda number: 0).fresh == []
    assert watch.look(0.5, lambda path: 0, lambda number: 0).fresh == []
    found = watch.look(1.0, lambda path: 0, lambda number: 0).fresh
    assert [Path(file.path).name for file in found] == ["c", "a", "b"]


def test_a_whole_file_that_grows_is_waited_for_and_a_text_is_not(tmp_path: Path) -> None:
    watch = make_watch(tmp_path)
    for second in range(4):
        for name in ("a.gz", "a.txt"):
            with (tmp_path / name).open("a") as file:
                file.write("more\n")
        found = watch.look(float(second), lambda path: 0, lambda number: 0).fresh
    assert [(Path(file.path).name, file.size) for file in found] == [("a.txt", 0)]


def test_the_print_of_a_long_file_is_of_samples_over_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "a"
    size = 2 * WHOLE
    file.write_bytes(b"x" * size)
    before = print_of(str(file), size)
    assert print_of(str(file), size) == before
    assert print_of(str(file), size - 1) != before
    with file.open("r+b") as changed:
        changed.seek(0)
        changed.write(b"y")
    assert print_of(str(file), size) != before
