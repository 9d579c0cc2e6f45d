"""What `weft record` shows of values: as JSON has them."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from weft.cli.output import Printer
from weft.cli.record import _render_blame


def _blame(column: str, value: Any) -> dict[str, Any]:
    return {
        "column": column,
        "value": value,
        "by": "pipeline profile",
        "version": None,
        "stream": "profile",
        "knot": 4,
        "attached": None,
    }


def test_nested_values_are_blamed_as_they_are_in_json() -> None:
    console = Console(file=io.StringIO(), width=120)
    nested = [{"repo": "[bold]a", "about": None}]
    _render_blame(Printer(console), [_blame("starred", nested), _blame("stars", 3)])
    assert isinstance(console.file, io.StringIO)
    _, starred, stars = console.file.getvalue().splitlines()
    assert '[{"repo":"[bold]a","about":null}]' in starred
    assert stars.split()[:2] == ["stars", "3"]
