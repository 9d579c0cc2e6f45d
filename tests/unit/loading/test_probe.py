"""What `check` tells of a project's Python: it is loaded once, where it can do no harm."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from weft.loading.load import load
from weft.loading.probe import Probe, run_probes
from weft.loading.problem import ProjectError
from weft.steps.function import find

ORDERS = {"source": {"mock": {}}, "schema": {"id": "long", "at": "timestamp"}, "event_time": "at"}
WINDOW = {"type": "tumbling", "size_ms": 1000}


def problems(
    folder: Path, text: str, *, pipeline: dict[str, Any], **streams: Any
) -> list[tuple[str, str]]:
    """The code and message of everything that is wrong with a project that has this rules.py."""
    (folder / "rules.py").write_text(dedent(text))
    project = {
        "app_name": "shop",
        "streams": {"orders": ORDERS, **streams},
        "pipelines": {"p": {"from": "orders", **pipeline}},
    }
    try:
        load(project, folder=folder)
    except ProjectError as error:
        return [(problem.code, problem.message) for problem in error.problems]
    return []


CALLS = {"steps": [{"function": "rules:clean"}]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import not_there_at_all\n", "rules.py line 1: ModuleNotFoundError"),
        ("\nLIMIT = int('x')\n", "rules.py line 2: ValueError"),
        ("import sys\nprint('a' * 100_000)\nsys.exit(1)\n", "rules.py line 3: SystemExit"),
        ("import os\nos._exit(7)\n", "it ended Python, with code 7"),
        ("raise Exception('x' * 1_000_000)\n", "Exception: xxx"),
    ],
)
def test_a_function_that_cannot_be_loaded_is_told_with_its_line(
    tmp_path: Path, text: str, told: str
) -> None:
    [(code, message)] = problems(
        tmp_path, dedent(text) + "def clean(record): return record\n", pipeline=CALLS
    )
    assert code == "function.load-failed"
    assert told in message
    assert len(message) < 800


def test_dataclasses_prints_and_threads_do_no_harm(tmp_path: Path) -> None:
    text = """
        import threading, time
        from dataclasses import dataclass

        print("loaded")
        threading.Thread(target=time.sleep, args=(3600,)).start()

        @dataclass
        class Thing:
            n: int

        def clean(record):
            return record
    """
    assert problems(tmp_path, text, pipeline=CALLS) == []


def test_a_file_that_never_ends_is_told_and_what_came_before_it_is_known(tmp_path: Path) -> None:
    (tmp_path / "quick.py").write_text("import not_there\ndef clean(record): return record\n")
    (tmp_path / "slow.py").write_text("while True: pass\ndef clean(record): return record\n")
    refs = ("quick:clean", "slow:clean", "quick:clean")
    probes = [Probe("function", ref, find(ref, tmp_path)) for ref in refs]
    first, second, third = run_probes(probes, tmp_path, longest_s=2.0)
    assert first is not None and "ModuleNotFoundError" in first.message
    assert second is not None and "did not end within 2 s" in second.message
    assert third is None


REDUCER = """
    import weft

    @weft.function(returns={"total": "double"})
    class Total:
        def create(self): return 0.0
        def add(self, accumulator, row): return accumulator
        def result(self, accumulator): return {"total": accumulator}
"""


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("", "", None),
        ('@weft.function(returns={"total": "double"})', "", "function.declaration"),
        ("def create", "def make", "function.signature"),
        (
            "def create(self)",
            "def __init__(self, n): ...\n        def create(self)",
            "function.signature",
        ),
        ("class Total:", "def Total(record): ...\n    class Other:", "function.signature"),
    ],
)
def test_a_reducer_is_checked_as_the_window_will(
    tmp_path: Path, old: str, new: str, code: str | None
) -> None:
    pipeline = {"window": WINDOW, "reducer": "rules:Total"}
    found = problems(tmp_path, REDUCER.replace(old, new), pipeline=pipeline)
    assert [one for one, _ in found] == ([code] if code else [])


OUTSIDE = """
    class Feed:
        def __init__(self, address): ...
        def read_batch(self, max_events): return []
        def close(self): ...

    class Alarm:
        def __init__(self, *, level=1): ...
        def write(self, records): ...
        def close(self): ...
"""


@pytest.mark.parametrize(
    ("source", "sink", "code"),
    [
        ({"class": "rules:Feed", "address": "a", "keep": 3}, {"class": "rules:Alarm"}, None),
        ({"class": "rules:Feed"}, {"class": "rules:Alarm"}, "source.options"),
        ({"class": "rules:Alarm"}, {"class": "rules:Alarm"}, "source.no-class"),
        (
            {"class": "rules:Feed", "address": "a"},
            {"class": "rules:Alarm", "loud": 1},
            "sinks.wrong-option",
        ),
        ({"class": "rules:Feed", "address": "a"}, {"class": "rules:Feed"}, "sinks.no-class"),
    ],
)
def test_a_source_and_a_sink_are_checked_as_the_worker_will(
    tmp_path: Path, source: dict[str, Any], sink: dict[str, Any], code: str | None
) -> None:
    feed = {"source": {"python": source}, "schema": {"id": "long"}}
    found = problems(tmp_path, OUTSIDE, pipeline={"sinks": [{"python": sink}]}, feed=feed)
    assert [one for one, _ in found] == ([code] if code else [])
