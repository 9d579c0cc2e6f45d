"""Golden cases: a folder with a project, its input batch by batch, and the streams that must come of it.

Each case runs straight through, killed and resumed, and with another number of partitions, against one expected
result. Adding a case is adding a folder: `project.yaml`, `input/NNN-<stream>-<partition>.jsonl` (one micro-batch each,
in order), `expected/<stream>.jsonl`. `WEFT_GOLDEN=write` writes what comes out of the straight run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from weft.runtime.faults import POINTS
from weft.testing import Play, play

CASES = sorted(
    folder for folder in Path(__file__).parent.iterdir() if (folder / "project.yaml").exists()
)


@dataclass
class Case:
    folder: Path

    def project(self, **processing: Any) -> dict[str, Any]:
        written: dict[str, Any] = yaml.safe_load((self.folder / "project.yaml").read_text())
        return {**written, "processing": {**written.get("processing", {}), **processing}}

    def batches(self) -> Iterator[tuple[str, int, list[str]]]:
        for file in sorted((self.folder / "input").glob("*.jsonl")):
            stream, partition = file.stem.split("-", 1)[1].rsplit("-", 1)
            yield stream, int(partition), file.read_text().splitlines()

    def expected(self) -> dict[str, list[str]]:
        return {
            file.stem: file.read_text().splitlines()
            for file in sorted((self.folder / "expected").glob("*.jsonl"))
        }

    def write(self, run: Play, streams: list[str]) -> None:
        for stream in streams:
            text = "".join(f"{line}\n" for line in contents(run, stream))
            (self.folder / "expected" / f"{stream}.jsonl").write_text(text)


def contents(run: Play, stream: str) -> list[str]:
    """The rows of a stream as JSON lines, in an order that does not depend on how batches were cut."""
    return sorted(json.dumps(row, default=_text, sort_keys=True) for row in run.rows(stream))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


@pytest.fixture(params=CASES, ids=lambda folder: folder.name, scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def check(run: Play, case: Case) -> None:
    assert {stream: contents(run, stream) for stream in case.expected()} == case.expected()
    for pipeline in run.project.pipelines.values():
        assert not any(knot.ledger.missing() for knot in run.knots(pipeline.to))


def test_straight_through(case: Case, tmp_path: Path) -> None:
    with play(case.project(), storage=tmp_path) as run:
        for stream, partition, records in case.batches():
            run.feed(stream, records, partition=partition)
        if os.environ.get("WEFT_GOLDEN") == "write":
            case.write(run, list(case.expected()))
        check(run, case)


def test_killed_and_resumed(case: Case, tmp_path: Path) -> None:
    with play(case.project(), storage=tmp_path) as run:
        for number, (stream, partition, records) in enumerate(case.batches()):
            run.crash(POINTS[number % len(POINTS)], visit=1 + number % 3)
            run.feed(stream, records, partition=partition)
            run.resume()
        check(run, case)


def test_with_another_number_of_partitions(case: Case, tmp_path: Path) -> None:
    with play(case.project(parallelism=3), storage=tmp_path) as run:
        for stream, partition, records in case.batches():
            run.feed(stream, records, partition=partition)
        check(run, case)
