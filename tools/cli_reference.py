"""Writes docs/reference/cli.md from the commands themselves: `python tools/cli_reference.py`. A test compares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from weft.cli.root import cli

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "cli.md"
WIDTH = 100

_HEAD = """\
# The command line

<!-- written by tools/cli_reference.py -->

Every command takes `--output text|json`: text is for eyes, JSON is what the API answers. Errors go to standard error as
a message, a hint and a code. Exit status: 0 done; 1 `weft verify` found something; 2 what was asked for is wrong;
3 there is no such thing; 4 it conflicts with what is there; 5 something outside does not answer; 70 a defect.

"""


def render() -> str:
    """The page."""
    return _HEAD + "\n".join(_sections(cli, ["weft"]))


def _sections(command: click.Command, path: list[str]) -> Iterator[str]:
    context = click.Context(
        command,
        info_name=" ".join(path),
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        **cli.context_settings,
    )
    name = " ".join(path)
    yield f"## {name}\n\n```text\n{command.get_help(context)}\n```\n"
    for verb, below in getattr(command, "commands", {}).items():
        yield from _sections(below, [*path, verb])


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
