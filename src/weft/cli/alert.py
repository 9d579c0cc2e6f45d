"""`weft alert`: addresses outside that are told of events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Group, asks_weaver
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer


@click.group(cls=Group)
def alert() -> None:
    """Alerts: addresses outside that are told of events."""


@alert.command("list")
@asks_weaver
def list_alerts(terminal: Terminal) -> None:
    """The addresses that are told of events, and whether they take them."""
    terminal.show(terminal.get("/alerts"), _render_list)


@alert.command()
@click.argument("url", metavar="URL")
@click.option(
    "--on",
    "events",
    multiple=True,
    default=("anomaly.found",),
    show_default=True,
    metavar="KIND",
    help="A kind of event that it is told of; may be repeated.",
)
@click.option(
    "--secret-file",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="What signatures are made with: the text of this file.",
)
@asks_weaver
def add(terminal: Terminal, url: str, events: tuple[str, ...], secret_file: Path) -> None:
    """Tell URL of events from now on, each as often as it takes."""
    try:
        secret = secret_file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"'{secret_file}' cannot be read: {error}.") from error
    found = terminal.post(
        "/alerts", {"url": url, "events": list(events), "secret": secret}, doing="Adding"
    )
    terminal.show(found, lambda output, one: output.line(f"{one['id']} tells {one['url']}."))


@alert.command()
@click.argument("id", metavar="ALERT")
@asks_weaver
def remove(terminal: Terminal, id: str) -> None:
    """Tell an address nothing any longer."""
    with terminal.wait("Removing"):
        found = terminal.weaver.call("DELETE", path_to("alerts", id))
    terminal.show(found, lambda output, one: output.line(f"{one['id']} is removed."))


def _render_list(output: Printer, found: list[dict[str, Any]]) -> None:
    output.table(
        ["ALERT", "URL", "EVENTS", "TOLD UP TO", "FAILS"],
        (
            [one["id"], one["url"], ", ".join(one["events"]), one["told"], one["failed"]]
            for one in found
        ),
        empty="Nobody is told. Add an address with `weft alert add`.",
        optional=("FAILS",),
        gives=("URL", "EVENTS", "FAILS"),
    )
