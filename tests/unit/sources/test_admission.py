"""The log of admitted files: each once, whoever admits them, and older logs are read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from weft.sources.admission import AdmissionLog, Admitted, FileChangedError, Note
from weft.sources.content import head_of, print_of


def write(path: Path, text: str, *, mtime: int) -> Path:
    path.write_text(text)
    os.utime(path, ns=(mtime, mtime))
    return path


def admitted(path: Path, generation: int = 1, *, whole: bool = False) -> Admitted:
    status, size = path.stat(), path.stat().st_size
    return Admitted(
        str(path),
        size,
        status.st_mtime_ns,
        generation,
        status.st_ino,
        head_of(str(path), size),
        print_of(str(path), size),
        size,
        whole,
    )


def test_two_processes_admit_a_file_once(tmp_path: Path) -> None:
    files = [admitted(write(tmp_path / name, "1", mtime=1)) for name in "abc"]
    one, other = AdmissionLog(tmp_path / "s" / "log"), AdmissionLog(tmp_path / "s" / "log")
    assert one.admit([*files[:2]]) == files[:2]
    assert other.admit([*files[1:]]) == files
    assert one.entries() == files == AdmissionLog(tmp_path / "s" / "log").entries()


def test_two_processes_that_see_a_file_replaced_admit_it_once(tmp_path: Path) -> None:
    file = write(tmp_path / "a", "1", mtime=1)
    first = admitted(file)
    one, other = AdmissionLog(tmp_path / "log"), AdmissionLog(tmp_path / "log")
    one.admit([first])
    second = admitted(write(file, "22", mtime=2), generation=2)
    third = admitted(write(file, "333", mtime=3), generation=2)
    note = Note("changed", 0, 1, 2, "x", 2)
    assert one.admit([second, note]) == other.admit([third, note]) == [first, second, note]
    assert one.generation(str(file)) == 2


def test_a_line_that_a_crash_cut_short_is_dropped(tmp_path: Path) -> None:
    files = [admitted(write(tmp_path / name, "1", mtime=1)) for name in "ab"]
    log = tmp_path / "log"
    AdmissionLog(log).admit([*files[:1]])
    with log.open("ab") as torn:
        torn.write(b'{"path": "/half')
    assert AdmissionLog(log).entries() == files[:1]
    assert AdmissionLog(log).admit([*files[1:]]) == files
    assert AdmissionLog(log).entries() == files


def test_a_log_of_an_older_version_is_read(tmp_path: Path) -> None:
    file = write(tmp_path / "a", "12", mtime=5)
    old = {"path": str(file), "size": 2, "mtime_ns": 5}
    (tmp_path / "log").write_text(json.dumps(old) + "\n" + json.dumps(old) + "\n")
    log = AdmissionLog(tmp_path / "log")
    assert log.entries() == [Admitted(str(file), 2, 5)]
    assert log.generation(str(file)) == 1
    found = log.entries()[0]
    assert isinstance(found, Admitted) and found.locate() == str(file)


def test_a_file_is_found_under_its_new_name_and_not_where_another_is(tmp_path: Path) -> None:
    file = write(tmp_path / "a", "one\n", mtime=1)
    before = admitted(file)
    assert before.locate() == str(file)
    file.rename(tmp_path / "a.1")
    assert before.locate() == str(tmp_path / "a.1")
    write(file, "another\n", mtime=2)
    assert before.locate() == str(tmp_path / "a.1")
    (tmp_path / "a.1").unlink()
    assert before.locate() is None
    file.unlink()
    with pytest.raises(FileChangedError) as caught:
        before.locate()
    assert caught.value.ids == {"file": str(file)}


@pytest.mark.parametrize(
    ("text", "found"), [("ab\ncd\n", True), ("ab\n", True), ("ab", False), ("xb\ncd\n", False)]
)
def test_a_text_that_grew_is_the_same_and_one_that_shrank_or_begins_otherwise_is_not(
    tmp_path: Path, text: str, found: bool
) -> None:
    before = admitted(write(tmp_path / "a", "ab\n", mtime=1))
    write(tmp_path / "a", text, mtime=2)
    assert (before.locate() is not None) == found


@pytest.mark.parametrize(("text", "found"), [("abc", True), ("abcd", False), ("abx", False)])
def test_a_whole_file_with_other_bytes_is_another(tmp_path: Path, text: str, found: bool) -> None:
    before = admitted(write(tmp_path / "a", "abc", mtime=1), whole=True)
    write(tmp_path / "a", text, mtime=2)
    assert (before.locate() is not None) == found
