"""What every kind of storage does alike: a folder of this machine, a bucket of a real server, and a real HDFS."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from weft.errors import WeftError
from weft.locations.location import Location, locate
from weft.locations.parquet import arrow_file, open_parquet
from weft.servers.hdfs import Hdfs
from weft.servers.process import free_port
from weft.servers.s3 import S3

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("stack")]


@pytest.fixture(params=["folder", "bucket", "hdfs"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """An empty place to write to."""
    if request.param == "folder":
        return locate(tmp_path / "storage")
    server: S3 | Hdfs = request.getfixturevalue("s3" if request.param == "bucket" else "hdfs")
    return locate(server.address(tmp_path.name))


def test_what_is_not_there_is_not_there(place: Location) -> None:
    assert not place.exists()
    assert place.names() == []
    assert list(place.files()) == []
    assert place.held() == 0
    for read in (place.read, place.size, place.open):
        with pytest.raises(FileNotFoundError):
            read()
    place.delete()
    place.delete_all()


def test_a_file_is_written_read_and_replaced(place: Location) -> None:
    file = place / "a" / "one file"
    file.write(b"first")
    file.write(b"second")
    assert (file.read(), file.size(), file.name) == (b"second", 6, "one file")
    with file.open() as opened:
        opened.seek(3)
        assert opened.read(2) == b"on"
        assert opened.seek(-1, os.SEEK_END) == 5
        assert opened.read() == b"d"
    assert file.exists()
    assert (place / "a").exists()


def test_a_file_that_is_written_piece_by_piece_is_there_at_the_end(place: Location) -> None:
    file = place / "a" / "pieces"
    with file.writing() as out:
        out.write(b"one ")
        out.write(b"two")
        assert not file.exists()
    assert file.read() == b"one two"

    def fail() -> None:
        with file.writing() as out:
            out.write(b"thr")
            raise RuntimeError("half of it")

    with pytest.raises(RuntimeError, match="half"):
        fail()
    assert file.read() == b"one two" and (place / "a").names() == ["pieces"]


def test_parquet_is_read_where_it_lies_without_python_in_the_threads_of_arrow(
    place: Location,
) -> None:
    written = io.BytesIO()
    pq.write_table(pa.table({"n": [1, 2, 3], "text": ["a", "b", "c"]}), written)
    file = place / "looks=partitioned" / "rows.parquet"
    file.write(written.getvalue())
    assert pq.read_schema(arrow_file(file)).names == ["n", "text"]
    found = pq.read_table(
        arrow_file(file), columns=["text"], filters=pc.field("n") > 1, partitioning=None
    )
    assert found.to_pylist() == [{"text": "b"}, {"text": "c"}]
    with open_parquet(file) as opened:
        assert opened.read().to_pydict() == {"n": [1, 2, 3], "text": ["a", "b", "c"]}
    assert isinstance(arrow_file(file), str | pa.BufferReader)
    with pytest.raises(FileNotFoundError):
        open_parquet(place / "none.parquet")


def test_names_and_files_are_those_below_in_their_order(place: Location) -> None:
    for name in ("b/2", "b/10", "b/x/deep", "a", "ba"):
        (place / name).write(name.encode())
    assert place.names() == ["a", "b", "ba"]
    assert (place / "b").names() == ["10", "2", "x"]
    found = {name: file.read() for name, file in (place / "b").files()}
    assert found == {"10": b"b/10", "2": b"b/2", "x/deep": b"b/x/deep"}
    assert list(found) == sorted(found)
    assert (place / "b").held() == sum(map(len, found.values()))


def test_of_two_writers_of_a_new_file_one_wins(place: Location) -> None:
    def put(version: int, writer: int) -> bool:
        return (place / f"{version:020d}.json").put(f"{version} of {writer}".encode())

    won = race(put)
    for version, winners in won.items():
        assert len(winners) == 1, f"version {version} was written by {winners}"
        kept = (place / f"{version:020d}.json").read()
        assert kept == f"{version} of {winners[0]}".encode()
    assert len(place.names()) == len(won)


def test_of_two_that_append_to_a_log_one_wins(place: Location) -> None:
    log = place / "log.jsonl"
    line = b"x" * 9 + b"\n"
    won = race(lambda version, writer: log.append(line, at=len(line) * version))
    assert all(len(winners) == 1 for winners in won.values())
    assert log.read_from(0) == line * len(won)
    assert log.read_from(len(line) * 3) == line * (len(won) - 3)
    assert not log.append(line, at=len(line))


def test_a_copy_stays_what_it_was_and_overwrites_nothing(place: Location) -> None:
    file, copy = place / "file", place / "folder" / "copy"
    file.write(b"content")
    file.copy(copy)
    file.write(b"other")
    file.copy(copy)
    assert copy.read() == b"content"


def test_a_folder_is_whole_when_its_last_file_is_there(place: Location) -> None:
    target = place / "made"

    def fail(folder: Location) -> None:
        (folder / "part").write(b"half")
        raise ValueError

    with pytest.raises(ValueError):
        target.fill(fail, last="mark")
    assert not (target / "mark").exists()

    def fill(folder: Location) -> None:
        (folder / "part").write(b"whole")
        (folder / "mark").write(b"done")

    target.fill(fill, last="mark")
    assert target.names() == ["mark", "part"]
    assert (target / "part").read() == b"whole"
    assert place.names() == ["made"]


def test_only_what_is_below_is_deleted(place: Location) -> None:
    for name in ("a/1", "a/2/3", "ab/1"):
        (place / name).write(b"x")
    (place / "a").delete_all()
    assert [name for name, _ in place.files()] == ["ab/1"]
    (place / "ab" / "1").delete()
    assert list(place.files()) == []


def test_a_bucket_that_is_not_there_is_told_of(s3: S3) -> None:
    with pytest.raises(WeftError) as caught:
        (locate("s3a://nobodys/x") / "file").write(b"")
    assert caught.value.code == "storage.unreachable"
    assert caught.value.hint


def test_a_name_node_that_is_not_there_is_told_of() -> None:
    with pytest.raises(WeftError) as caught:
        locate(f"hdfs://127.0.0.1:{free_port()}/x").exists()
    assert caught.value.code == "storage.unreachable"
    assert caught.value.hint


@pytest.mark.parametrize("address", ["ftp://host/x", "s3a://", "s3a:///x", "hdfs:///x"])
def test_an_address_of_no_storage_is_refused(address: str) -> None:
    with pytest.raises(WeftError) as caught:
        locate(address)
    assert caught.value.code == "storage.address"


def race(put: Callable[[int, int], bool], *, versions: int = 30) -> dict[int, list[int]]:
    """Who could write each version, of two that try all of them at once."""
    won: dict[int, list[int]] = {version: [] for version in range(versions)}
    together = threading.Barrier(2)

    def write(writer: int) -> None:
        for version in won:
            together.wait()
            if put(version, writer):
                won[version].append(writer)

    writers = [threading.Thread(target=write, args=(number,)) for number in (1, 2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    return won
