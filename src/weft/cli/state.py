"""`weft state` and `weft windows`: what windowed pipelines keep, now or as of an earlier knot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Command, asks_weaver
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from weft.cli.output import Printer

COLUMNS = ["KEY", "START", "END", "RECORDS", "VALUES"]

prefix_option = click.option("--prefix", default="", help="Only keys that begin with this.")
limit_option = click.option("-n", "--limit", default=100, show_default=True, help="How many.")


@click.command(cls=Command)
@click.argument("pipeline", shell_complete=completion.pipelines)
@prefix_option
@click.option("--knot", type=int, help="As of this knot; default: now.")
@limit_option
@asks_weaver
def state(terminal: Terminal, pipeline: str, prefix: str, knot: int | None, limit: int) -> None:
    """What PIPELINE keeps, by key: now, or as of an earlier knot."""
    found = terminal.get("/state", pipeline=pipeline, prefix=prefix, knot=knot, limit=limit)
    terminal.show(found, _render_state)


@click.command(cls=Command)
@click.argument("pipeline", required=False, shell_complete=completion.pipelines)
@prefix_option
@limit_option
@asks_weaver
def windows(terminal: Terminal, pipeline: str | None, prefix: str, limit: int) -> None:
    """The windows that are open, of PIPELINE or of all."""
    found = terminal.get("/windows", pipeline=pipeline, prefix=prefix, limit=limit)
    terminal.show(found, _render_windows)


def _render_state(output: Printer, page: dict[str, Any]) -> None:
    output.line(f"{page['pipeline']} as of knot {page['knot']}")
    _render_entries(output, page["entries"])
    if page.get("next"):
        output.line("\nThere is more: narrow it with --prefix, or raise --limit.")


def _render_windows(output: Printer, page: dict[str, Any]) -> None:
    output.table(
        ["PIPELINE", *COLUMNS],
        ([window["pipeline"], *_cells(window)] for window in page["windows"]),
        empty="No window is open.",
        gives=("KEY", "VALUES"),
    )


def _render_entries(output: Printer, entries: list[dict[str, Any]]) -> None:
    output.table(COLUMNS, map(_cells, entries), empty="Nothing is kept.", gives=("KEY", "VALUES"))


def _cells(entry: dict[str, Any]) -> list[Any]:
    from weft.cli.output import moment

    return [
        entry["key"],
        moment(entry["start"]),
        moment(entry["end"]),
        entry["records"],
        "  ".join(f"{name}={value}" for name, value in entry["values"].items()),
    ]
