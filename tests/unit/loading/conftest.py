"""A folder with Python files that project files name."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rules = """
        class Thing: ...
        def nothing(): ...
        def clean(record): return record
    """
    (tmp_path / "rules.py").write_text(dedent(rules))
    (tmp_path / "broken.py").write_text("def clean(record:\n")
    return tmp_path
