"""`weft record`: where one record is, where it came from, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Group, asks_weaver
from weft.cli.stream import stream_name
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer


@click.group(cls=Group)
def record() -> None:
    """Records: where one is, where it came from, and what came of it."""


@record.command()
@stream_name
@click.argument("id")
@asks_weaver
def show(terminal: Terminal, name: str, id: str) -> None:
    """One record by its id, which is in the column _weft.id: `orders/0/17`."""
    terminal.show(terminal.get(path_to("records", name, id)), _render)


def _render(output: Printer, found: dict[str, Any]) -> None:
    from weft.cli.lineage import render_lineage
    from weft.cli.rows import text_of

    output.fields({"record": found["id"], "rules": ", ".join(found["rules"]) or "none"})
    output.line()
    output.table(
        ["STREAM", "KNOT", "ROW"],
        ([place["stream"], place["knot"], text_of(place["row"])] for place in found["places"]),
        empty="It is nowhere.",
    )
    output.line()
    render_lineage(output, found["lineage"])
