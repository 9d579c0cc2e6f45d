"""What `weft up` says of pipelines that fail: once that they do, and once that they go on."""

from __future__ import annotations

import io
from typing import Any, cast

import pytest
from rich.console import Console

from weft.cli import up
from weft.cli.local import Local
from weft.cli.output import Printer
from weft.cli.terminal import Terminal


class Told:
    """A project whose only pipeline does what a test says, and what was said of it."""

    def __init__(self) -> None:
        self.console = Console(file=io.StringIO(), width=200)
        self.output = Printer(self.console)
        self.failing: dict[str, Any] = {}
        self.now: dict[str, Any] = {}

    def pipelines(self) -> list[dict[str, Any]]:
        return [self.now]

    def look(self, knot: int | None, error: str | None = None) -> list[str]:
        self.now = {"id": "bad", "knot": knot, "error": error and {"message": error}}
        up._tell_failures(cast(Terminal, self), cast(Local, self), self.failing)
        assert isinstance(self.console.file, io.StringIO)
        return self.console.file.getvalue().splitlines()


FAILS = "Pipeline bad fails, and is tried again: no room"


def test_a_pipeline_that_fails_at_every_try_never_goes_on() -> None:
    told = Told()
    for _ in range(3):
        told.look(None, "no room")
        assert told.look(None) == [FAILS]


def test_one_that_ties_a_knot_goes_on_and_so_does_one_that_is_quiet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Told()
    told.look(3, "no room")
    told.look(3)
    assert told.look(4) == [FAILS, "Pipeline bad goes on."]
    told.look(4, "no room")
    monkeypatch.setattr(up, "QUIET_S", -1.0)
    assert told.look(4)[-2:] == [FAILS, "Pipeline bad goes on."]
