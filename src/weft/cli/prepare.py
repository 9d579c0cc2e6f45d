"""`weft prepare`: what is done once on a machine, so that everything after it starts faster."""

from __future__ import annotations

import click

from weft.cli.command import Command, pass_terminal
from weft.cli.terminal import Terminal


@click.command(cls=Command)
@pass_terminal
def prepare(terminal: Terminal) -> None:
    """Fetch the jars, and keep Java's classes in a file from which every start has them.

    It takes about half a minute and 200 MB in the cache, and saves a quarter of what Spark needs to start: for
    machines on which Weft is started often, and for images of containers. A new version of Weft, Spark or Java needs
    it again; without it everything runs all the same.
    """
    from weft.runtime import archive, jars
    from weft.steps.environment import KERNEL_JAR

    libraries = jars.find_for()
    with terminal.wait("Keeping Java's classes"):
        made = archive.make([KERNEL_JAR, *libraries])
    terminal.show(
        {"jars": len(libraries), "archive": str(made), "bytes": made.stat().st_size},
        lambda output, found: output.line(
            f"Weft starts faster from now on: {found['bytes'] / 1e6:,.0f} MB of classes are kept in "
            f"{found['archive']}."
        ),
    )
