"""`weft table`: tables of a database whose changes come in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.addition import add as add_entry
from weft.cli.addition import file_option
from weft.cli.command import Group, asks_weaver
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from weft.cli.output import Printer


@click.group(cls=Group)
def table() -> None:
    """Tables: changes of a database's tables, as streams."""


@table.command("list")
@asks_weaver
def list_tables(terminal: Terminal) -> None:
    """All tables: their keys, where their changes come from, which products read them."""
    terminal.show(terminal.get("/tables"), _render_tables)


@table.command()
@click.argument("name", metavar="TABLE")
@click.option("--topic", required=True, help="The topic that its changes are in.")
@click.option("--key", multiple=True, required=True, metavar="COLUMN", help="A column of its key.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=TYPE",
    help="A column and its type; without any, the schema in its events tells them.",
)
@click.option("--servers", help="The Kafka servers to ask first.")
@file_option
@asks_weaver
def add(
    terminal: Terminal,
    name: str,
    topic: str,
    key: tuple[str, ...],
    columns: tuple[str, ...],
    servers: str | None,
    file: Path,
) -> None:
    """Add a table to the project file and to the running project; everything else goes on."""
    form: dict[str, Any] = {"topic": topic, "key": list(key)}
    if servers is not None:
        form["servers"] = servers
    if columns:
        form["columns"] = dict(_column(text) for text in columns)
    add_entry(terminal, file, "tables", name, form)


def _column(text: str) -> tuple[str, str]:
    name, sign, kind = text.partition("=")
    if not sign or not name.strip() or not kind.strip():
        raise click.BadParameter(f"'{text}' is not NAME=TYPE.", param_hint="--column")
    return name.strip(), kind.strip()


def _render_tables(output: Printer, tables: list[dict[str, Any]]) -> None:
    output.table(
        ["TABLE", "KEY", "KNOT", "FROM", "READ BY"],
        (
            [
                one["name"],
                ", ".join(one["key"]),
                one["knot"],
                one["topic"] or one["table"],
                ", ".join(one["readers"]),
            ]
            for one in tables
        ),
        empty="There are no tables. Add one with `weft table add`.",
        gives=("READ BY",),
    )
