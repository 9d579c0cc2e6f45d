"""What `weft table add` and `weft product add` share: one more entry in the project file, deployed at once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from weft.cli.project import render_changes
from weft.cli.terminal import Terminal

file_option = click.option(
    "--file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=Path("weft.yaml"),
    show_default=True,
    help="The project file that it is added to.",
)


def add(terminal: Terminal, file: Path, section: str, name: str, form: Mapping[str, Any]) -> None:
    """Add an entry to a section of a project file and deploy the project; what is refused leaves the file as it was."""
    from weft.loading.document import from_text
    from weft.loading.insert import insert
    from weft.loading.load import load

    with _alone(file.parent):
        text = insert(file.read_text(encoding="utf-8"), section, name, form)
        project = load(from_text(text).value, folder=file.parent)
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        beside.write_text(text, encoding="utf-8")
        try:
            with terminal.wait("Deploying"):
                changes = terminal.weaver.call("PUT", "/project", project.to_dict())
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)
    terminal.show(changes, render_changes)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let nobody else add to the project meanwhile: the last to deploy would take out what the others have added."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)
