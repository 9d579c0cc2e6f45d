"""Spark's JVM has a share of the memory there is, and the collector that whoever starts it has chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.runtime import session

GIB = 2**30


@pytest.mark.parametrize(
    ("limit", "memory", "expected"),
    [
        ("max", 24 * GIB, 6144),
        (str(8 * GIB), 24 * GIB, 2048),
        (str(64 * GIB), 24 * GIB, 6144),
        ("max", GIB, 1024),
    ],
)
def test_the_heap_is_a_quarter_of_the_memory_and_a_gigabyte_at_least(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, memory: int, expected: int
) -> None:
    file = tmp_path / "memory.max"
    file.write_text(limit + "\n")
    monkeypatch.setattr(session, "CGROUP_LIMIT", file)
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": memory // 4096}.get)
    assert session._heap_mb() == expected


@pytest.mark.parametrize("name", session.JAVA_VARIABLES)
def test_a_collector_that_was_chosen_stays(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for variable in session.JAVA_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    assert session.THRIFTY in session._java()
    monkeypatch.setenv(name, "-XX:+UseSerialGC")
    assert session.THRIFTY not in session._java()


@pytest.mark.parametrize(
    ("conf", "local", "kept"),
    [
        ({"spark.driver.memory": "3g"}, True, 204),
        ({"spark.driver.memory": "3072"}, True, 204),
        ({"spark.driver.memory": "1g", "spark.executor.memory": "16g"}, True, session.LEAST_CODE),
        ({}, False, session.LEAST_CODE),
        ({"spark.driver.memory": "1g", "spark.executor.memory": "3145728kb"}, False, 204),
    ],
)
def test_as_much_compiled_code_is_kept_as_fits_the_memory_that_is_asked_for(
    conf: dict[str, str], local: bool, kept: int
) -> None:
    assert session._sizes(conf, local=local)[session.CODE_CACHE] == str(kept)


@pytest.mark.parametrize("size", ["", "1.5g", "much", "-1g"])
def test_memory_that_spark_cannot_read_is_refused(size: str) -> None:
    with pytest.raises(session.SessionError) as caught:
        session._sizes({"spark.driver.memory": size}, local=True)
    assert caught.value.code == "session.memory"
