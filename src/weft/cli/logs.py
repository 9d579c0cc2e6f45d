"""`weft logs`: what the weaver and the worker of `weft up` have said."""

from __future__ import annotations

from pathlib import Path

import click

from weft.cli.command import Command, pass_terminal
from weft.cli.journal import PARTS, follow, journal_of, last_lines
from weft.cli.service import storage_option
from weft.cli.terminal import Terminal
from weft.errors import WeftError


class NoLogsError(WeftError):
    """There are no log files in a storage."""

    code = "logs.none"
    domain = "missing"


@click.command(cls=Command)
@click.argument("part", type=click.Choice(PARTS), required=False)
@storage_option
@click.option("-n", "--limit", default=50, show_default=True, help="How many of the last lines.")
@click.option(
    "-f", "--follow", "following", is_flag=True, help="Go on with those that come, until Ctrl-C."
)
@pass_terminal
def logs(terminal: Terminal, part: str | None, storage: str, limit: int, following: bool) -> None:
    """What the weaver and the worker that `weft up` started have said; they lie in STORAGE/logs."""
    parts = [part] if part else list(PARTS)
    paths = [journal_of(Path(storage), name) for name in parts]
    if not any(path.exists() for path in paths):
        raise NoLogsError(
            f"There are no logs in {Path(storage) / 'logs'}.",
            hint="Name the storage with `--storage`. A weaver or worker that you start by itself logs to "
            "standard error.",
        )
    for path in paths:
        for line in last_lines(path, limit):
            terminal.output.line(line)
    if following:
        for _, line in follow(paths):
            terminal.output.line(line)
