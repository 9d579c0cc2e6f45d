"""A sink in Python that says `parallel = True`: its records come to it in tasks, file by file, and none is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.spark.projects import orders, shop
from weft.errors import WeftError
from weft.servers.process import wait_until
from weft.testing import play


def pages(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def ids(folder: Path) -> list[int]:
    return sorted(number for page in pages(folder) for number in page["ids"])


def test_records_come_in_tasks_and_a_knot_that_was_refused_comes_again(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    sink = {"python": {"class": "tests.spark.paged:Paged", "folder": str(folder)}}
    project = shop(paged={"from": "orders", "to": "paged", "sinks": [sink]})
    with play(project, storage=tmp_path / "storage") as run:
        run.feed("orders", orders(0, 4))
        assert ids(folder) == [0, 1, 2, 3]
        assert os.getpid() not in {page["process"] for page in pages(folder)}
        assert (folder / "closed").exists()
        kept = run.knots("paged")[-1].number
        (folder / "refuse").touch()
        with pytest.raises(WeftError) as caught:
            run.feed("orders", orders(4, 4))
        assert caught.value.code == "sinks.python"
        assert "nobody answers" in caught.value.message
        assert ids(folder) == [0, 1, 2, 3]
        (folder / "refuse").unlink()
        wait_until(lambda: not run.worker.failures(), what="it is tried again")
        run.settle()
        assert ids(folder) == list(range(8))
        run.rollback("paged", to=kept)
        run.settle()
        assert ids(folder) == list(range(8))
