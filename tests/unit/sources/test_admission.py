"""Which files are admitted: settled ones, each once, and none that changes afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weft.sources.admission import (
    AdmissionLog,
    Admitted,
    FileChangedError,
    Watch,
    is_finished,
)


def admitted(path: Path) -> Admitted:
    status = path.stat()
    return Admitted(str(path), status.st_size, status.st_mtime_ns)


def write(path: Path, text: str, *, mtime: int) -> Path:
    path.write_text(text)
    os.utime(path, ns=(mtime, mtime))
    return path


@pytest.mark.parametrize(
    "name", [".a.json", "_a.json", "a.json.tmp", "a.JSON.TMP", "a.part", "a.json~", "a.partial"]
)
def test_a_name_that_says_unfinished_is_left_alone(name: str) -> None:
    assert not is_finished(f"/data/{name}")
    assert is_finished("/data/a.json")


def test_a_file_is_settled_when_two_looks_find_it_the_same(tmp_path: Path) -> None:
    watch = Watch(str(tmp_path), settle_ms=0)
    file = write(tmp_path / "a.json", "1", mtime=1)
    assert watch.settled(set()) == []
    write(file, "12", mtime=2)
    assert watch.settled(set()) == []
    assert watch.settled(set()) == [admitted(file)]
    assert watch.settled({str(file)}) == []


def test_a_file_is_not_settled_before_its_time(tmp_path: Path) -> None:
    watch = Watch(str(tmp_path), settle_ms=60_000)
    write(tmp_path / "a.json", "1", mtime=1)
    assert watch.settled(set()) == watch.settled(set()) == []


def test_files_are_taken_in_the_order_they_were_written(tmp_path: Path) -> None:
    watch = Watch(str(tmp_path / "*.json"), settle_ms=0)
    younger = write(tmp_path / "a.json", "1", mtime=2)
    older = write(tmp_path / "b.json", "1", mtime=1)
    write(tmp_path / "c.txt", "1", mtime=1)
    watch.settled(set())
    assert watch.settled(set()) == [admitted(older), admitted(younger)]


def test_two_processes_admit_a_file_once(tmp_path: Path) -> None:
    files = [admitted(write(tmp_path / name, "1", mtime=1)) for name in "abc"]
    one, other = AdmissionLog(tmp_path / "s" / "log"), AdmissionLog(tmp_path / "s" / "log")
    assert one.admit(files[:2]) == files[:2]
    assert other.admit(files[1:]) == files
    assert one.files() == files == AdmissionLog(tmp_path / "s" / "log").files()


def test_a_line_that_a_crash_cut_short_is_dropped(tmp_path: Path) -> None:
    files = [admitted(write(tmp_path / name, "1", mtime=1)) for name in "ab"]
    log = tmp_path / "log"
    AdmissionLog(log).admit(files[:1])
    with log.open("ab") as torn:
        torn.write(b'{"path": "/half')
    assert AdmissionLog(log).files() == files[:1]
    assert AdmissionLog(log).admit(files[1:]) == files
    assert AdmissionLog(log).files() == files


def test_a_file_that_changed_is_named(tmp_path: Path) -> None:
    file = write(tmp_path / "a.json", "1", mtime=1)
    before = admitted(file)
    before.check()
    write(file, "2", mtime=2)
    with pytest.raises(FileChangedError) as caught:
        before.check()
    assert caught.value.ids == {"file": str(file)}
    file.unlink()
    with pytest.raises(FileChangedError):
        before.check()
