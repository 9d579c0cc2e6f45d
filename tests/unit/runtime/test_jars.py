"""The jars: what the lock file says, and what is done when the cache is not as it should be."""

from __future__ import annotations

import hashlib
import re
import stat
from pathlib import Path

import pytest

from weft.runtime import ivy, jars
from weft.runtime.jars import Jar, JarError
from weft.runtime.java import JavaError, get_java


def make_jar(name: str, content: bytes) -> Jar:
    return Jar(f"org.x:{name}:1", hashlib.sha256(content).hexdigest(), len(content))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a lock file of two small jars."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("WEFT_JARS", str(folder))
    group = (make_jar("a", b"A"), make_jar("b", b"B"))
    monkeypatch.setattr(jars, "read_lock", lambda: {"core": group})
    monkeypatch.setattr(jars, "PAUSES_S", (0.0, 0.0))
    return folder


def serve(monkeypatch: pytest.MonkeyPatch, **contents: bytes) -> list[list[str]]:
    """Let Ivy find these files; returns the coordinates that were asked of it, call by call."""
    asked = []

    def retrieve(coordinates: list[str], *, scratch: Path, **_: object) -> Path:
        asked.append(coordinates)
        for name, content in contents.items():
            (scratch / f"{name}-1.jar").write_bytes(content)
        return scratch

    monkeypatch.setattr(ivy, "retrieve", retrieve)
    return asked


def test_what_is_missing_is_fetched_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = serve(monkeypatch, a=b"A", b=b"B")
    for _ in range(2):
        assert jars.find("core") == [cache / "a-1.jar", cache / "b-1.jar"]
    assert asked == [["org.x:a:1", "org.x:b:1"]]
    (cache / "b-1.jar").unlink()
    jars.find("core")
    assert asked[1:] == [["org.x:b:1"]]


def test_a_repository_that_gives_a_part_is_asked_again_for_the_rest(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def retrieve(coordinates: list[str], *, scratch: Path, **_: object) -> Path:
        asked.append(coordinates)
        name = coordinates[0].split(":")[1]
        (scratch / f"{name}-1.jar").write_bytes(name.upper().encode())
        return scratch

    monkeypatch.setattr(ivy, "retrieve", retrieve)
    assert jars.find("core") == [cache / "a-1.jar", cache / "b-1.jar"]
    assert asked == [["org.x:a:1", "org.x:b:1"], ["org.x:b:1"]]


def test_a_fetched_file_with_another_checksum_never_enters_the_cache(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(monkeypatch, a=b"A", b=b"forged")
    with pytest.raises(JarError) as caught:
        jars.find("core")
    assert caught.value.code == "jars.checksum"
    assert caught.value.ids == {"jar": "org.x:b:1"}
    assert not (cache / "b-1.jar").exists()


def test_a_damaged_file_is_removed_and_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, a=b"A", b=b"B")
    jars.find("core")
    (cache / "a-1.jar").write_bytes(b"a")
    with pytest.raises(JarError) as caught:
        jars.find("core")
    assert caught.value.ids == {"jar": "org.x:a:1"}
    assert jars.find("core")


def test_what_cannot_be_reached_is_said_with_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = serve(monkeypatch, a=b"A")
    with pytest.raises(JarError) as caught:
        jars.find("core")
    assert caught.value.code == "jars.unreachable"
    assert caught.value.retryable
    assert "org.x:b:1" in caught.value.message
    assert str(cache) in (caught.value.hint or "")
    assert [path.name for path in cache.glob("*.jar")] == ["a-1.jar"]
    assert asked[1:] == [["org.x:b:1"]] * 2


def test_a_group_that_is_not_there_is_refused() -> None:
    with pytest.raises(JarError) as caught:
        jars.find("cor")
    assert caught.value.code == "jars.unknown-group"


def test_the_lock_file_names_every_jar_with_a_checksum_and_no_address() -> None:
    text = jars.LOCK.read_text()
    assert "://" not in text
    groups = jars.read_lock()
    assert {"core", "kafka", "kafka-server"} <= set(groups)
    for group in groups.values():
        assert len({jar.file for jar in group}) == len(group)
        for jar in group:
            assert re.fullmatch(r"[0-9a-f]{64}", jar.sha256)


def test_an_archive_with_a_classifier_has_its_own_name() -> None:
    assert ivy.file_name("io.x:plugin:3.6:all@tar.gz") == "plugin-3.6-all.tar.gz"


def make_java(folder: Path, version: str) -> None:
    """A `java` that only tells its version."""
    (folder / "bin").mkdir()
    script = folder / "bin" / "java"
    script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(
    ("version", "code"),
    [("1.8.0_392", "java.too-old"), ("11.0.2", "java.too-old"), (None, "java.missing")],
)
def test_a_missing_or_old_java_is_said(
    version: str | None, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if version:
        make_java(tmp_path, version)
    with pytest.raises(JavaError) as caught:
        get_java()
    assert caught.value.code == code
    assert "apt-get install" in (caught.value.hint or "")


@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.1", "25-ea"])
def test_a_java_from_17_on_is_taken(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    make_java(tmp_path, version)
    assert get_java() == tmp_path / "bin" / "java"
