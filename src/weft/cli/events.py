"""`weft events`: what happened, and what happens while one looks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Command, asks_weaver
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from weft.cli.output import Printer

PAUSE_S = 0.5
TOLD = ("number", "kind", "at")
"""What every event has; the rest is its own."""


@click.command(cls=Command)
@click.option("-n", "--limit", default=20, show_default=True, help="How many of the newest.")
@click.option("-f", "--follow", is_flag=True, help="Go on with those that come, until Ctrl-C.")
@asks_weaver
def events(terminal: Terminal, limit: int, follow: bool) -> None:
    """What happened: knots tied and failed, rules, rollbacks, deployments, the newest last."""
    found = terminal.get("/events", stream=False, limit=limit)
    terminal.show(found, _render)
    while follow:
        after = found[-1]["number"] if found else 0
        time.sleep(PAUSE_S)
        new = terminal.get("/events", stream=False, after=after)
        if new:
            terminal.show(new, _render)
        found = new or found


def _render(output: Printer, found: list[dict[str, Any]]) -> None:
    from weft.cli.output import moment

    for event in found:
        facts = "  ".join(f"{name}={event[name]}" for name in event if name not in TOLD)
        output.line(f"{event['number']:>6}  {moment(event['at'])}  {event['kind']:<18}  {facts}")
    if not found:
        output.line("Nothing has happened yet.", style="dim")
