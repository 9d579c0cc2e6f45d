"""The journal of a Python source: nothing that it was given is lost or doubled by a crash."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.event_sources import Log, Once
from weft.sources.journal import Journal, records

ROOT = Path(__file__).parents[3]

DYING = """
import os, sys
from tests.contracts.event_sources import Once
from weft.sources import journal
folder, source, when = sys.argv[1:]
append = journal.Segments.append
def die(self, *args, **kwargs):
    if when == "before": os._exit(9)
    append(self, *args, **kwargs)
    os._exit(9)
journal.Segments.append = die
journal.Journal(folder, Once(source)).next(0, max_events=3)
"""


def make_lines(path: Path, count: int) -> str:
    path.write_text("".join(json.dumps({"id": n}) + "\n" for n in range(count)))
    return str(path)


def ids(folder: Path, number: int) -> list[int]:
    return [json.loads(value)["id"] for _, value in records(folder, number)]


def test_a_batch_that_is_asked_for_again_comes_from_the_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", Once(make_lines(tmp_path / "in", 5)))
    assert journal.next(0, max_events=3) == 1
    assert journal.next(0, max_events=3) == 1
    assert journal.next(1, max_events=3) == 2
    assert journal.next(2, max_events=3) == 2
    assert [ids(tmp_path / "j", n) for n in (1, 2)] == [[0, 1, 2], [3, 4]]
    assert [position for position, _ in records(tmp_path / "j", 1)] == ["1:0", "1:1", "1:2"]


def test_a_process_killed_between_journal_and_offset_loses_nothing(tmp_path: Path) -> None:
    source = make_lines(tmp_path / "in", 5)
    command = [sys.executable, "-c", DYING, str(tmp_path / "j"), source, "after"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 9
    journal = Journal(tmp_path / "j", Once(source))
    assert [journal.next(0, max_events=3), journal.next(1, max_events=3)] == [1, 2]
    assert [ids(tmp_path / "j", n) for n in (1, 2)] == [[0, 1, 2], [3, 4]]


def test_a_source_that_can_seek_goes_on_where_the_journal_ends(tmp_path: Path) -> None:
    path = make_lines(tmp_path / "in", 7)
    assert Journal(tmp_path / "j", Log(path)).next(0, max_events=3) == 1
    source = Log(path)
    source.read_batch(5)
    journal = Journal(tmp_path / "j", source)
    assert journal.next(1, max_events=3) == 2
    assert ids(tmp_path / "j", 2) == [3, 4, 5]


def test_a_process_killed_before_the_journal_loses_nothing_of_a_source_that_can_seek(
    tmp_path: Path,
) -> None:
    path = make_lines(tmp_path / "in", 5)
    command = [sys.executable, "-c", DYING.replace("Once", "Log"), str(tmp_path / "j"), path]
    assert subprocess.run([*command, "before"], cwd=ROOT, check=False).returncode == 9
    assert Journal(tmp_path / "j", Log(path)).next(0, max_events=3) == 1
    assert ids(tmp_path / "j", 1) == [0, 1, 2]


@pytest.mark.parametrize(("keep", "left"), [(None, [1, 2, 3, 4]), (2, [3, 4])])
def test_committed_batches_are_kept_as_long_as_asked(
    tmp_path: Path, keep: int | None, left: list[int]
) -> None:
    journal = Journal(tmp_path / "j", Once(make_lines(tmp_path / "in", 4)), keep=keep)
    for number in range(4):
        journal.next(number, max_events=1)
        journal.committed(number + 1)
    assert sorted(int(file.stem) for file in (tmp_path / "j").iterdir()) == left


def test_closing_the_journal_closes_the_source(tmp_path: Path) -> None:
    Journal(tmp_path / "j", Once(make_lines(tmp_path / "in", 1))).close()
    assert (tmp_path / "in.closed").exists()


def test_an_event_that_has_no_form_is_kept_as_text_and_takes_no_other_with_it(
    tmp_path: Path,
) -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    loop: dict[str, Any] = {}
    loop["self"] = loop
    odd: list[Any] = [5, {"a": {1, 2}}, {("a", "b"): 1}, "\ud800", Hostile(), loop, None]

    class Odd:
        def read_batch(self, max_events: int) -> Any:
            return iter([{"id": 1}, *odd, {"id": 2}])

        def close(self) -> None: ...

    journal = Journal(tmp_path, Odd())
    assert journal.next(0, max_events=100) == 1
    values = [value for _, value in records(tmp_path, 1)]
    assert values[0] == b'{"id":1}' and values[-1] == b'{"id":2}'
    assert len(values) == len(odd) + 2
    assert values[1] == b"5" and b"Hostile" in values[5]


def test_a_source_that_hands_out_an_empty_iterator_has_nothing(tmp_path: Path) -> None:
    class Empty:
        def read_batch(self, max_events: int) -> Any:
            return iter(())

        def close(self) -> None: ...

    assert Journal(tmp_path, Empty()).next(0, max_events=5) == 0
    assert list(tmp_path.iterdir()) == []
