"""The file source without Spark: files that are appended to, replaced, renamed and changed, through restarts.

Every record that is in a file comes once; what cannot come is told.
"""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle

from tests.unit.sources.ranges import read_range
from weft.schema.schema import Schema
from weft.sources.admission import line_of
from weft.sources.follow import CHANGED, CLOSE_S, Follower
from weft.sources.spark.files import ParquetReader, range_form
from weft.sources.watch import SELDOM_S

QUIET_POLLS = 12
"""Polls of a quarter second each without a batch after which nothing more is expected."""
MOST_POLLS = 10


class Source:
    """A file source over a folder, read batch by batch; `restart` begins anew from the last offset."""

    def __init__(
        self, folder: Path, *, most: int = 1000, settle_ms: int = 1000, **spec: Any
    ) -> None:
        self.folder = folder / "in"
        self.folder.mkdir(exist_ok=True)
        self._spec = {
            "path": f"{self.folder}/",
            "format": "json",
            "header": True,
            "separator": ",",
            "settle_ms": settle_ms,
            "schema": Schema.of({"id": "long", "name": "string"}).to_json(),
            "log": str(folder / "source" / "admitted.jsonl"),
            "parallelism": 2,
            **spec,
        }
        self._most = most
        self.now = 0.0
        self.offsets: list[dict[str, Any]] = [{"file": 0, "line": 0, "byte": 0}]
        self.batches: list[list[tuple[str, bytes, str | None]]] = []
        self.restart()

    def restart(self) -> None:
        """A new process: it knows the log and the last offset, and nothing else."""
        self.follower = Follower(self._spec, clock=lambda: self.now)

    def poll(self) -> bool:
        """Read one batch, if there is one."""
        start = self.offsets[-1]
        end = json.loads(json.dumps(self.follower.ahead(start, self._most)))
        if end == start:
            return False
        self.offsets.append(end)
        self.batches.append(self.read(start, end))
        return True

    def read(
        self, start: dict[str, Any], end: dict[str, Any]
    ) -> list[tuple[str, bytes, str | None]]:
        """The records between two offsets, read as a task that never looked itself does."""
        packs = self.follower.packs(start, end)
        assert len(packs) <= 2
        if self._spec["format"] != "parquet":
            forms = [range_form(part, self._spec) for pack in packs for part in pack.slices]
            return [record for form in forms for record in read_range(form)]
        away: ParquetReader = cloudpickle.loads(
            cloudpickle.dumps(ParquetReader(self._spec, self._most))
        )
        return [
            (row["position"], row["value"], row["bad"])
            for pack in packs
            for batch in away.read(pack)
            for row in batch.to_pylist()
        ]

    def take(self, count: int = 0) -> list[tuple[str, bytes, str | None]]:
        """The records of the next batches: at least so many, and until nothing comes any more."""
        found: list[tuple[str, bytes, str | None]] = []
        for _ in range(MOST_POLLS):
            quiet = 0
            while quiet < QUIET_POLLS:
                self.now += 0.25
                quiet = 0 if self.poll() else quiet + 1
                found += self.batches[-1] if quiet == 0 else []
            if len(found) >= count:
                return found
        raise AssertionError(f"{len(found)} of {count} came: {found}")

    def values(self, count: int = 0) -> list[tuple[str, str]]:
        """The positions and texts of the next records, all of which are good."""
        taken = self.take(count)
        assert [bad for _, _, bad in taken] == [None] * len(taken)
        return [(position, value.decode()) for position, value, _ in taken]


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_lines_that_are_appended_are_read_once_with_their_numbers(source: Source) -> None:
    file = source.folder / "a.json"
    for number in range(1, 6):
        append(file, f"line {number}\n")
        assert source.values(1) == [(f"a.json#{number}", f"line {number}")]


def test_a_restart_at_any_time_reads_on_where_it_was(source: Source) -> None:
    file = source.folder / "a.json"
    found = []
    for number in range(1, 7):
        append(file, f"line {number}\n")
        if number % 2:
            source.restart()
        found += source.values(1)
        source.restart()
    assert found == [(f"a.json#{number}", f"line {number}") for number in range(1, 7)]


def test_every_batch_reads_the_same_again_after_the_file_has_grown(source: Source) -> None:
    file = source.folder / "a.csv.json"
    file.write_text("1\n2\n3\n")
    source.values(3)
    append(file, "4\n5\n")
    source.values(2)
    append(file, "6\n")
    source.values(1)
    source.restart()
    for number, batch in enumerate(source.batches):
        assert source.read(source.offsets[number], source.offsets[number + 1]) == batch


def test_a_batch_takes_no_more_than_it_may_of_what_grew(tmp_path: Path) -> None:
    source = Source(tmp_path, most=3)
    file = source.folder / "a.json"
    file.write_text("0\n")
    source.values(1)
    append(file, "".join(f"{n}\n" for n in range(1, 20)))
    assert [text for _, text in source.values(19)] == [str(n) for n in range(1, 20)]
    assert max(map(len, source.batches)) <= 3


def test_a_line_is_taken_when_it_is_whole(tmp_path: Path) -> None:
    source = Source(tmp_path)
    file = source.folder / "a.json"
    file.write_text("one\ntwo\n")
    assert len(source.values(2)) == 2
    append(file, "thr")
    for _ in range(8):  # it keeps growing, so that its last line is never taken for whole
        append(file, "e")
        source.now += 0.5
        assert not source.poll()
    append(file, "\nfour\n")
    assert source.values(2) == [("a.json#3", "threeeeeeee"), ("a.json#4", "four")]


def test_a_file_that_never_stops_growing_is_read_all_the_same(tmp_path: Path) -> None:
    source = Source(tmp_path)
    file = source.folder / "a.json"
    found: list[str] = []
    for number in range(40):
        append(file, f"{number}\n")
        source.now += 0.25
        if source.poll():
            found += [value.decode() for _, value, _ in source.batches[-1]]
    assert len(found) > 30
    found += [text for _, text in source.values()]
    assert found == [str(number) for number in range(40)]


def test_a_last_line_without_an_end_is_taken_when_the_file_is_still(source: Source) -> None:
    file = source.folder / "a.json"
    file.write_text("one\ntwo")
    assert source.values(2) == [("a.json#1", "one"), ("a.json#2", "two")]
    append(file, "\nthree\nfour")
    assert source.values(2) == [("a.json#4", "three"), ("a.json#5", "four")]


@pytest.mark.parametrize("way", ["replace", "rewrite", "shrink", "delete"])
def test_a_file_that_takes_the_place_of_another_is_read_from_its_start(
    source: Source, way: str
) -> None:
    file, new = source.folder / "a.json", source.folder.parent / "new"
    file.write_text("one\ntwo\n")
    assert len(source.values(2)) == 2
    append(file, "three\n")
    source.values(1)
    for generation in (2, 3):
        text = (
            f"{generation}\n" if way == "shrink" else f"{generation} is new\nand more of it\n" * 2
        )
        if way == "replace":
            new.write_text(text)
            os.replace(new, file)
        else:
            if way == "delete":
                file.unlink()
                source.poll()
            file.write_text(text)
        lines = text.splitlines()
        assert source.values(len(lines)) == [
            (f"a.json#{n}@{generation}", line) for n, line in enumerate(lines, 1)
        ]
        append(file, "appended\n")
        place = f"a.json#{len(lines) + 1}@{generation}"
        assert source.values(1) == [(place, "appended")]
        source.restart()


def test_a_csv_file_that_is_written_anew_under_its_header_is_a_new_one(tmp_path: Path) -> None:
    source = Source(tmp_path, format="csv")
    file = source.folder / "a.csv"
    file.write_text("id,name\n1,a\n")
    source.values(1)
    file.write_text("id,name\n2,b\n3,c\n")
    assert source.values(2) == [("a.csv#2@2", "2,b"), ("a.csv#3@2", "3,c")]


def test_a_log_that_is_rotated_is_read_to_its_end_under_its_old_name(tmp_path: Path) -> None:
    source = Source(tmp_path, path=f"{tmp_path}/in/*.log")
    log, first, second = (source.folder / name for name in ("app.log", "app.log.1", "app.log.2"))
    log.write_text("1\n")
    assert source.values(1) == [("app.log#1", "1")]
    handle = log.open("a")
    log.rename(first)
    log.write_text("2\n")
    handle.write("1, written after the rotation\n")
    handle.close()
    found = source.values(2)
    assert sorted(found) == [("app.log#1@2", "2"), ("app.log#2", "1, written after the rotation")]
    first.rename(second)
    log.rename(first)
    append(first, "2, written before it was noticed\n")
    append(second, "1, late\n")
    log.write_text("3\n")
    source.restart()
    found = source.values(3)
    assert sorted(found) == [
        ("app.log#1@3", "3"),
        ("app.log#2@2", "2, written before it was noticed"),
        ("app.log#3", "1, late"),
    ]


def test_a_file_that_is_renamed_within_the_pattern_is_not_read_again(source: Source) -> None:
    (source.folder / "a.json").write_text("one\n")
    source.values(1)
    (source.folder / "a.json").rename(source.folder / "b.json")
    assert source.values() == []
    source.restart()
    append(source.folder / "b.json", "two\n")
    assert source.values(1) == [("a.json#2", "two")]


def test_a_copy_with_its_time_is_the_same_file_and_touching_it_changes_nothing(
    source: Source, tmp_path: Path
) -> None:
    file = source.folder / "a.json"
    file.write_text("one\n")
    source.values(1)
    status = file.stat()
    (tmp_path / "copy").write_text("one\n")
    os.utime(tmp_path / "copy", ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(tmp_path / "copy", file)
    assert source.values() == []
    os.utime(file)
    assert source.values() == []
    source.restart()
    append(file, "two\n")
    assert source.values(1) == [("a.json#2", "two")]


@pytest.mark.parametrize("grows", [False, True])
def test_a_file_that_is_changed_in_the_middle_is_told_and_read_on(
    source: Source, grows: bool
) -> None:
    file = source.folder / "a.json"
    file.write_text("first\nsecond\nthird\n")
    source.values(3)
    with file.open("r+") as edited:
        edited.seek(6)
        edited.write("SECOND")
        if grows:
            edited.seek(0, 2)
            edited.write("fourth\n")
    [(position, value, bad)] = source.take(1)
    assert (position, value) == (f"a.json#{5 if grows else 4}@changed-1", b"")
    assert bad is not None and "changed" in bad
    assert source.take() == []
    source.restart()
    assert source.take() == []
    append(file, "last\n")
    assert source.values(1) == [(f"a.json#{5 if grows else 4}", "last")]


def test_a_file_that_is_replaced_before_it_was_read_leaves_a_trace(
    source: Source, tmp_path: Path
) -> None:
    file = source.folder / "a.json"
    file.write_text("one\ntwo\n")
    start = source.offsets[-1]
    end = start
    while end == start:
        source.now += 0.5
        end = source.follower.ahead(start, 10)
    (tmp_path / "new").write_text("another\n")
    os.replace(tmp_path / "new", file)
    [(position, value, bad)] = source.read(start, end)
    assert (position, value) == ("a.json#1", b"")
    assert bad is not None and "replaced" in bad
    source.offsets.append(end)
    assert source.values(1) == [("a.json#1@2", "another")]


@pytest.mark.parametrize("ending", ["parquet", "json.gz"])
def test_a_whole_file_that_is_replaced_is_a_new_one(tmp_path: Path, ending: str) -> None:
    source = Source(tmp_path, format="parquet" if ending == "parquet" else "json")

    def write(*numbers: int) -> None:
        new = tmp_path / "new"
        if ending == "parquet":
            pq.write_table(pa.table({"id": pa.array(numbers, pa.int64())}), new)
        else:
            new.write_bytes(gzip.compress("".join(f'{{"id": {n}}}\n' for n in numbers).encode()))
        os.replace(new, source.folder / f"a.{ending}")

    write(1, 2)
    assert [position for position, _, _ in source.take(2)] == [f"a.{ending}#1", f"a.{ending}#2"]
    write(3)
    assert [position for position, _, _ in source.take(1)] == [f"a.{ending}#1@2"]
    os.utime(source.folder / f"a.{ending}")
    source.restart()
    assert source.take() == []


def test_a_file_that_stopped_growing_leaves_the_offsets(source: Source) -> None:
    file = source.folder / "a.json"
    file.write_text("one\n")
    source.values(1)
    append(file, "two\n")
    source.values(1)
    assert "grown" in source.offsets[-1]
    hours_ago = time.time() - 2 * CLOSE_S
    os.utime(file, (hours_ago, hours_ago))
    assert source.take() == []
    assert "grown" not in source.offsets[-1]
    source.restart()
    assert source.take() == []
    append(file, "three\n")
    source.now += SELDOM_S  # nobody had written to it for hours
    assert source.values(1) == [("a.json#3", "three")]


def test_a_reader_that_was_rolled_back_reads_again_what_others_had_closed(source: Source) -> None:
    file = source.folder / "a.json"
    file.write_text("1\n")
    source.values(1)
    append(file, "2\n3\n")
    source.values(2)
    hours_ago = time.time() - 2 * CLOSE_S
    os.utime(file, (hours_ago, hours_ago))
    source.take()
    with file.open("r+") as edited:
        edited.seek(2)
        edited.write("X")
    source.now += SELDOM_S
    assert len(source.take(1)) == 1
    append(file, "4\n")
    source.values(1)
    source.offsets = source.offsets[:2]
    source.restart()
    found = source.take(4)
    assert [(position, value) for position, value, bad in found if bad is None] == [
        ("a.json#2", b"X"),
        ("a.json#3", b"3"),
        ("a.json#4", b"4"),
    ]
    assert [bad for _, _, bad in found if bad] == [CHANGED]


def test_many_small_files_make_few_tasks(source: Source) -> None:
    for number in range(40):
        (source.folder / f"{number:02d}.json").write_text(f"{number}\n" * (number + 1))
    found = source.values(sum(range(41)))
    assert len(source.batches) == 1
    assert len({position for position, _ in found}) == len(found)
    [first, second] = source.follower.packs(source.offsets[0], source.offsets[1])
    sizes = [sum(one.size for one in part.slices) for part in (first, second)]
    assert max(sizes) < 0.6 * sum(sizes)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("1,a\n2,b\n", {}),
        ("id;name\n1;a\n", {}),
        ("id,nam\n1,a\n", {}),
        ("\n1,a\n", {}),
        ('"id;name"\n1,a\n', {}),
    ],
)
def test_a_file_without_the_header_that_is_expected_is_told_line_by_line_and_nothing_is_lost(
    tmp_path: Path, text: str, options: dict[str, Any]
) -> None:
    source = Source(tmp_path, format="csv", **options)
    (source.folder / "a.csv").write_text(text)
    taken = source.take(1)
    lines = [line for line in text.splitlines() if line]
    assert [value.decode() for _, value, _ in taken] == lines
    reasons = {bad for _, _, bad in taken}
    assert len(reasons) == 1
    assert all(bad and lines[0][:7] in bad and "id, name" in bad for bad in reasons)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("id,name\n1,a\n", "id,name"),
        ("NAME, Id\n1,a\n", "NAME, Id"),
        ("id\n1\n", "id"),
        ("more,name,id\n1,a\n", "more,name,id"),
        ("\ufeffid,name\n1,a\n", "id,name"),
    ],
)
def test_a_header_may_be_in_any_order_and_case_and_have_more_or_less(
    tmp_path: Path, text: str, header: str
) -> None:
    source = Source(tmp_path, format="csv")
    (source.folder / "a.csv").write_text(text)
    assert len(source.values(1)) == 1
    [part] = source.follower.packs(source.offsets[0], source.offsets[1])
    assert part.slices[0].header == header


def test_a_csv_file_that_grows_is_cut_between_records(tmp_path: Path) -> None:
    source = Source(tmp_path, format="csv")
    file = source.folder / "a.csv"
    file.write_text("id,name\n1,a\n")
    assert source.values(1) == [("a.csv#2", "1,a")]
    for piece in ('2,"b\n', "still ", "b", '"\n3,', "c\n"):
        append(file, piece)
        source.now += 0.5
        source.poll()
    found = [(p, v.decode()) for batch in source.batches[1:] for p, v, _ in batch] + source.values()
    assert found == [("a.csv#3", '2,"b\nstill b"'), ("a.csv#5", "3,c")]


def test_an_offset_and_a_log_of_an_older_version_are_read(tmp_path: Path) -> None:
    source = Source(tmp_path)
    files = [source.folder / name for name in ("a.json", "b.json")]
    for file in files:
        file.write_text("1\n2\n3\n")
    log = tmp_path / "source" / "admitted.jsonl"
    log.parent.mkdir()
    old = [{"path": str(file), "size": 6, "mtime_ns": file.stat().st_mtime_ns} for file in files]
    first = line_of(old[0], after="")
    log.write_bytes(first + line_of(old[1], after=json.loads(first)["sum"]))
    source.offsets = [{"file": 1, "line": 1, "byte": 2}]
    assert source.values(2) == [("b.json#2", "2"), ("b.json#3", "3")]
    append(files[0], "4\n")
    assert source.values(1) == [("a.json#4", "4")]
    files[1].write_text("x\n")
    assert source.values(1) == [("b.json#1@2", "x")]


def test_an_empty_file_is_waited_for(source: Source) -> None:
    file = source.folder / "a.json"
    file.write_text("")
    assert source.values() == []
    append(file, "one\n")
    assert source.values(1) == [("a.json#1", "one")]
