"""`weft rollback`: a stream as it was at a knot, and everything downstream with it."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Command, asks_weaver
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from weft.cli.output import Printer


@click.command(cls=Command)
@click.argument("stream", required=False, shell_complete=completion.streams)
@click.option(
    "--to", type=int, metavar="KNOT", help="The knot to go back to; 0 is before the first."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--list", "listing", is_flag=True, help="List the rollbacks that were.")
@click.option(
    "--patience",
    default=30.0,
    show_default=True,
    help="Seconds that a batch in hand may go on; then it is cancelled.",
)
@click.option("--queue", is_flag=True, help="Wait while another operation holds a pipeline.")
@click.option("--note", help="Why.")
@click.option("--author", default=getpass.getuser, help="Who; default: the user that types this.")
@asks_weaver
def rollback(
    terminal: Terminal,
    stream: str | None,
    to: int | None,
    dry_run: bool,
    listing: bool,
    patience: float,
    queue: bool,
    note: str | None,
    author: str,
) -> None:
    """Roll STREAM back to a knot: what came after it is gone from the tables, and all of it flows again.

    Its newest knot can be named while a batch is in hand: that batch is given up, and pinned anew.
    """
    if listing:
        terminal.show(terminal.get("/rollbacks"), _render_list)
        return
    if stream is None or to is None:
        raise click.UsageError("Name a STREAM and the knot to go back to with --to, or use --list.")
    found = terminal.post(
        "/rollbacks",
        {
            "stream": stream,
            "to": to,
            "patience_s": patience,
            "queue": queue,
            "note": note,
            "author": author,
        },
        doing=f"Rolling {stream} back to knot {to}",
        dry_run="true" if dry_run else None,
    )
    terminal.show(found, render_rollback)


def render_rollback(output: Printer, found: dict[str, Any]) -> None:
    """The steps of a rollback, and whether they were done."""
    plan = found["plan"]
    if found["status"] == "planned":
        output.line(f"To roll {plan['stream']} back to knot {plan['to']}:")
    elif found["status"] == "done":
        output.line(f"{found['id']}: {plan['stream']} is back at knot {plan['to']} (done).")
    else:
        output.line(
            f"{found['id']} is {found['status']}; `weft operation show {found['id']}` says how far it is."
        )
    for number, step in enumerate(plan["steps"], start=1):
        output.line(f"  {number}. {step}")


def _render_list(output: Printer, rollbacks: list[dict[str, Any]]) -> None:
    from weft.cli.output import moment

    output.table(
        ["ROLLBACK", "STREAM", "TO", "STATUS", "ASKED", "FINISHED"],
        (
            [
                found["id"],
                found["plan"]["stream"],
                found["plan"]["to"],
                found["status"],
                moment(found["asked"], brief=output.is_narrow),
                moment(found.get("finished")),
            ]
            for found in rollbacks
        ),
        empty="Nothing was ever rolled back.",
    )
