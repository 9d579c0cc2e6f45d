"""`weft table`: tables of a database whose changes come in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.addition import add as add_entry
from weft.cli.addition import file_option
from weft.cli.command import Group, asks_weaver, pass_terminal
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
@click.option("--topic", help="The topic that its changes are in.")
@click.option(
    "--database",
    metavar="URL",
    help="The database that they are read from in place of a topic: postgresql://USER@HOST/NAME.",
)
@click.option(
    "--table",
    "table_name",
    metavar="NAME",
    help="The table in the database.  [default: TABLE in schema public]",
)
@click.option("--password-env", metavar="NAME", help="The variable that has the password.")
@click.option("--key", multiple=True, required=True, metavar="COLUMN", help="A column of its key.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=TYPE",
    help="A column and its type; without any, the schema in its events or the database tells them.",
)
@click.option("--servers", help="The Kafka servers to ask first.")
@file_option
@asks_weaver
def add(
    terminal: Terminal,
    name: str,
    topic: str | None,
    database: str | None,
    table_name: str | None,
    password_env: str | None,
    key: tuple[str, ...],
    columns: tuple[str, ...],
    servers: str | None,
    file: Path,
) -> None:
    """Add a table to the project file and to the running project; everything else goes on."""
    if (topic is None) == (database is None):
        raise click.UsageError("Say --topic or --database, where its changes come from.")
    said: dict[str, Any] = {"topic": topic, "servers": servers}
    if database is not None:
        options = {"url": database, "table": table_name, "password_env": password_env}
        source = {option: value for option, value in options.items() if value is not None}
        said = {"servers": servers, "source": {"postgres": source}}
    form: dict[str, Any] = {option: value for option, value in said.items() if value is not None}
    form["key"] = list(key)
    if columns:
        form["columns"] = dict(_column(text) for text in columns)
    add_entry(terminal, file, "tables", name, form)


@table.command("drop-slot")
@click.argument("name", metavar="TABLE")
@click.option(
    "--file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=Path("weft.yaml"),
    show_default=True,
    help="The project file that the table is in.",
)
@pass_terminal
def drop_slot(terminal: Terminal, name: str, file: Path) -> None:
    """Drop the replication slot and the publication of a table that is read from PostgreSQL, once it is stopped.

    The database then keeps nothing for it any longer. What is recorded stays. A table that is started again after this
    is read anew if it says `when_lost: snapshot`, and refused otherwise.
    """
    from weft.cli.project import read_project
    from weft.sources.postgres.release import release

    done = release(read_project(file), name)
    terminal.show(
        {"table": name, "dropped": done},
        lambda output, found: output.line(
            f"Dropped {', '.join(found['dropped'])}." if done else "There was nothing to drop."
        ),
    )


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
