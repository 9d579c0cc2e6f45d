"""Java's classes are kept whole or not at all, for one class path each, and asked for only where they are."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from weft.runtime import archive, jars
from weft.runtime.archive import ArchiveError
from weft.runtime.java import get_java

JAVA = get_java()


@pytest.fixture
def before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A jar before Spark's own, and an empty cache."""
    monkeypatch.setenv("WEFT_JARS", str(tmp_path / "cache"))
    monkeypatch.delenv(archive.INTO, raising=False)
    spark = tmp_path / "spark"
    spark.mkdir()
    (spark / "spark-core.jar").write_bytes(b"spark")
    monkeypatch.setattr(jars, "spark_jars", lambda: spark)
    jar = tmp_path / "kernel.jar"
    jar.write_bytes(b"kernel")
    return [jar]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where a JVM was trained, time by time; each writes its classes."""
    places: list[Path] = []

    def train(scratch: Path) -> Path:
        places.append(scratch)
        (scratch / "classes.jsa").write_bytes(b"classes")
        time.sleep(0.05)
        return scratch / "classes.jsa"

    monkeypatch.setattr(archive, "_trained", train)
    return places


def test_a_jvm_is_told_of_classes_only_where_they_are_kept(
    before: list[Path], trained: list[Path]
) -> None:
    assert archive.options(before, JAVA) == ""
    made = archive.make(before)
    assert f"-XX:SharedArchiveFile={made} " in archive.options(before, JAVA)
    assert archive.make(before) == made
    assert len(trained) == 1


def test_classes_in_a_cache_that_cannot_be_written_are_used_all_the_same(
    before: list[Path], trained: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = archive.make(before)

    def refuse(path: Path) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(archive.os, "utime", refuse)
    assert str(made) in archive.options(before, JAVA)


def test_another_jar_needs_another_archive(before: list[Path], trained: list[Path]) -> None:
    first = archive.make(before)
    before[0].write_bytes(b"kernel, built anew")
    assert archive.options(before, JAVA) == ""
    assert archive.make(before) != first
    assert len(trained) == 2


def test_of_two_that_prepare_at_once_one_trains(before: list[Path], trained: list[Path]) -> None:
    both = [threading.Thread(target=archive.make, args=(before,)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(trained) == 1


def test_nothing_is_left_of_a_training_that_failed(
    before: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(scratch: Path) -> Path:
        (scratch / "classes.jsa").write_bytes(b"half")
        raise ArchiveError("no")

    monkeypatch.setattr(archive, "_trained", fail)
    with pytest.raises(ArchiveError):
        archive.make(before)
    assert [path.name for path in archive.place_of(before, JAVA).parent.iterdir()] == [".lock"]
    assert archive.options(before, JAVA) == ""


def test_a_training_whose_process_fails_says_what_it_said(
    before: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive.sys, "executable", "/bin/false")
    with pytest.raises(ArchiveError) as caught:
        archive.make(before)
    assert caught.value.code == "classes.not-kept"


def test_what_nobody_has_used_for_a_month_goes_when_another_is_made(
    before: list[Path], trained: list[Path]
) -> None:
    old = archive.make(before)
    before[0].write_bytes(b"newer")
    used = archive.make(before)
    for path in (old, used):
        os.utime(path, (1, 1))
    archive.options(before, JAVA)
    before[0].write_bytes(b"newest of all")
    archive.make(before)
    assert used.exists()
    assert not old.exists()


def test_of_many_builds_those_stay_that_were_used_last(
    before: list[Path], trained: list[Path]
) -> None:
    made = []
    for build in range(archive.KEPT + 2):
        before[0].write_bytes(b"x" * (build + 1))
        made.append(archive.make(before))
        os.utime(made[-1], (build + 1e9, build + 1e9 if build < 2 else time.time() + build))
    assert [path.exists() for path in made] == [False, False] + [True] * archive.KEPT


def test_what_a_training_that_died_had_begun_goes(before: list[Path], trained: list[Path]) -> None:
    begun = archive.place_of(before, JAVA).parent / ".made-half"
    begun.mkdir(parents=True)
    (begun / "classes.jsa").write_bytes(b"half")
    archive.make(before)
    assert not begun.exists()


def test_the_jvm_that_is_trained_writes_its_classes_and_reads_none(
    before: list[Path], trained: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.make(before)
    monkeypatch.setenv(archive.INTO, "somewhere.jsa")
    assert "-XX:ArchiveClassesAtExit=somewhere.jsa" in archive.options(before, JAVA)
    assert "SharedArchiveFile" not in archive.options(before, JAVA)


def test_a_folder_with_a_space_in_its_name_is_done_without(
    before: list[Path], trained: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_JARS", str(tmp_path / "my cache"))
    archive.make(before)
    assert archive.options(before, JAVA) == ""
