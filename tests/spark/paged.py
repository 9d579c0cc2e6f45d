"""A sink that is written to on the executors."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

from pyspark import TaskContext

from weft.sinks import EventSink


class Paged(EventSink):
    """Writes a page for each file of a knot, and refuses while a file called `refuse` lies beside them."""

    parallel: ClassVar[bool] = True

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        assert TaskContext.get() is not None, "this is no task"

    def write(self, records: list[dict[str, Any]], knot: int, file: int) -> None:
        if (self.folder / "refuse").exists():
            raise ConnectionError("nobody answers")
        page = {"process": os.getpid(), "ids": [record["id"] for record in records]}
        (self.folder / f"{knot:04d}-{file}.json").write_text(json.dumps(page))

    def retract(self, records: list[dict[str, Any]]) -> None:
        gone = {record["id"] for record in records}
        for path in self.folder.glob("*.json"):
            if gone & set(json.loads(path.read_text())["ids"]):
                path.unlink()

    def close(self) -> None:
        (self.folder / "closed").touch()
