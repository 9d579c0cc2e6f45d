"""`weft operation`: what holds pipelines and changes several things, under way or over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Group, asks_weaver
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer

operation_id = click.argument("name", metavar="OPERATION", shell_complete=completion.operations)


@click.group(cls=Group)
def operation() -> None:
    """Operations: rollbacks, fills and their like, which hold pipelines while they change things."""


@operation.command("list")
@click.option("--open", "only_open", is_flag=True, help="Only those that are not over.")
@asks_weaver
def list_operations(terminal: Terminal, only_open: bool) -> None:
    """Operations, oldest first, with how far they are."""
    found = terminal.get("/operations", open="true" if only_open else None)
    terminal.show(found, _render_operations)


@operation.command()
@operation_id
@asks_weaver
def show(terminal: Terminal, name: str) -> None:
    """One operation: its steps, and what stands in its way."""
    terminal.show(terminal.get(path_to("operations", name)), render_operation)


@operation.command()
@operation_id
@asks_weaver
def retry(terminal: Terminal, name: str) -> None:
    """Try the step that failed again, now."""
    found = terminal.post(path_to("operations", name, "retry"), doing="Trying again")
    terminal.show(found, render_operation)


@operation.command()
@operation_id
@asks_weaver
def abort(terminal: Terminal, name: str) -> None:
    """Give an operation up.

    What it made ready is undone. Once rows were taken out of tables it can only be finished, which is done
    without the sinks that would not take rows back.
    """
    found = terminal.post(path_to("operations", name, "abort"), doing="Giving it up")
    terminal.show(found, render_operation)


def render_operation(output: Printer, found: dict[str, Any]) -> None:
    """An operation with its steps, a mark before those that are done."""
    from weft.cli.output import moment

    error = found["error"]
    output.fields(
        {
            "operation": found["id"],
            "status": found["status"],
            "asked": moment(found["asked"]),
            "by": found["by"],
            "because": found["because"],
            "holds": ", ".join(found["pipelines"]),
            "finished": moment(found["finished"]) if found["finished"] else None,
            "tries": found["attempts"] or None,
            "error": error["message"] if error else None,
            "hint": error["hint"] if error else None,
        }
    )
    output.line()
    for number, step in enumerate(found["steps"], start=1):
        output.line(f"  {'✓' if step['done'] else ' '} {number}. {step['text']}")


def _render_operations(output: Printer, operations: list[dict[str, Any]]) -> None:
    from weft.cli.output import moment

    output.table(
        ["OPERATION", "STATUS", "STEPS", "HOLDS", "ASKED", "FINISHED"],
        (
            [
                found["id"],
                found["status"],
                f"{sum(step['done'] for step in found['steps'])}/{len(found['steps'])}",
                ", ".join(found["pipelines"]),
                moment(found["asked"], brief=output.is_narrow),
                moment(found["finished"], brief=output.is_narrow),
            ]
            for found in operations
        ),
        empty="Nothing is under way.",
        gives=("HOLDS",),
    )
