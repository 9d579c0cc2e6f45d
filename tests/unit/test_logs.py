"""Log lines at a terminal."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator

import pytest

from weft import logs


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    root = logging.getLogger()
    before, level = root.handlers, root.level
    yield
    root.handlers = before
    root.setLevel(level)


def test_a_line_goes_to_whoever_has_standard_error_now(monkeypatch: pytest.MonkeyPatch) -> None:
    logs.set_up("up")
    taken = io.StringIO()
    monkeypatch.setattr(sys, "stderr", taken)  # as a spinner does while it turns
    logs.get_logger("weft.cli").warning("the worker ended")
    assert taken.getvalue().endswith("WARNING up the worker ended\n")
