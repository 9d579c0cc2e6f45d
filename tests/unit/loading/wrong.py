"""A right beginning of a project file, and what is said of one that goes on wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.loading.load import load
from weft.loading.problem import ProjectError

HEAD = """\
app_name: shop
streams:
  orders:
    source: {mock: {}}
    schema: {id: long, email: string, total: "decimal(10,2)", at: timestamp}
    key: id
    event_time: at
"""
"""Seven lines that are right; what follows them begins on line 8."""


def wrong_file(folder: Path, text: str) -> ProjectError:
    """The error of a project file with this text."""
    (folder / "weft.yaml").write_text(text)
    with pytest.raises(ProjectError) as caught:
        load(folder)
    return caught.value
