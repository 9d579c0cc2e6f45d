"""What the processes of `weft up` say lies in files, and is shown and followed from there."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.unit.cli.fake import FakeWeaver, run
from weft.cli import journal


def say(storage: Path, part: str, *lines: str) -> None:
    with journal.open_journal(storage, part) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def test_the_last_lines_of_one_part_or_of_both_are_shown(tmp_path: Path) -> None:
    say(tmp_path, "weaver", *(f"weaver {number}" for number in range(100)))
    say(tmp_path, "worker", "worker größe")
    both = run("logs", "--storage", str(tmp_path), "-n", "2", weaver=FakeWeaver({})).stdout
    assert both.splitlines() == ["weaver 98", "weaver 99", "worker größe"]
    one = run("logs", "worker", "--storage", str(tmp_path), weaver=FakeWeaver({})).stdout
    assert one.splitlines() == ["worker größe"]


def test_where_there_are_none_the_hint_says_where_to_look(tmp_path: Path) -> None:
    answer = run("logs", "--storage", str(tmp_path / "none"), weaver=FakeWeaver({}))
    assert answer.exit_code != 0 and "--storage" in answer.stderr


def test_what_comes_is_followed_also_into_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "LOOK_S", 0.0)
    monkeypatch.setattr(journal, "LARGEST", 10)
    say(tmp_path, "worker", "what was said before")
    found = journal.follow([journal.journal_of(tmp_path, "worker")])
    path = journal.journal_of(tmp_path, "worker")
    with path.open("ab") as file:
        file.write(b"one\nhalf a")
    assert next(found)[1] == "one"
    with path.open("ab") as file:
        file.write(b" line\n")
    assert next(found)[1] == "half a line"
    say(tmp_path, "worker", "new")  # the old one is too large, and put aside
    assert [line for _, line in itertools.islice(found, 1)] == ["new"]
    assert path.with_suffix(".log.1").read_text().startswith("what was said before")


def test_logs_are_for_nobody_elses_eyes(tmp_path: Path) -> None:
    say(tmp_path / "storage", "weaver", "secret")
    assert (tmp_path / "storage").stat().st_mode & 0o077 == 0
