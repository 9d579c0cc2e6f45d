"""Records of files that are asked for once more, beside the query that reads on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, cast

import pytest

from weft.locations.location import locate
from weft.project.definition import SourceSpec, StreamSpec
from weft.project.settings import Processing
from weft.schema.schema import Schema
from weft.sources.admission import FileChangedError
from weft.sources.files import FilesSource
from weft.sources.options import Again
from weft.sources.spark import failures
from weft.sources.spark.files import KernelFollower, _spec, files_again


def test_a_file_that_is_gone_fails_who_asks_and_not_the_query(tmp_path: Path) -> None:
    folder, file = locate(tmp_path / "source"), tmp_path / "in" / "a.json"
    file.parent.mkdir()
    file.write_text("{}\n")
    source = FilesSource(str(file.parent), settle_ms=0)
    stream = StreamSpec("s", Schema.of({"id": "long"}), SourceSpec("files", {}))
    asked = Again(folder, Processing(), None, {"file": 1, "line": 0, "byte": 0})
    live = KernelFollower(folder, _spec(source, stream, asked))
    deadline = time.monotonic() + 10
    while '"file": 1' not in live.ahead('{"file": 0, "line": 0, "byte": 0}', 10):
        assert time.monotonic() < deadline
    file.unlink()
    with pytest.raises(FileChangedError):
        files_again(cast(Any, None), source, stream, asked)
    assert failures.take(folder) is None
    with pytest.raises(FileChangedError):
        live.packs('{"file": 0, "line": 0, "byte": 0}', '{"file": 1, "line": 0, "byte": 0}')
    assert isinstance(failures.take(folder), FileChangedError)
    assert failures.take(folder) is None
