"""`weft bisect`: the first bad knot of a stream, in as few looks as there are halvings."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Command, asks_weaver
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer

PAGE = 1000
NOT_RUN = (126, 127)
"""What a shell ends with when a command is not there, or may not be run."""


@click.command(cls=Command)
@click.argument("stream", shell_complete=completion.streams)
@click.option(
    "--good",
    type=int,
    default=0,
    show_default=True,
    metavar="KNOT",
    help="A knot at which all was well.",
)
@click.option(
    "--bad", type=int, metavar="KNOT", help="A later one at which it is not; default: the newest."
)
@click.option("--check", metavar="SQL", help="What must be true of every row.")
@click.option(
    "--run",
    "script",
    metavar="COMMAND",
    help="A command that succeeds where all is well; it finds WEFT_STREAM and WEFT_KNOT in its environment.",
)
@asks_weaver
def bisect(
    terminal: Terminal,
    stream: str,
    good: int,
    bad: int | None,
    check: str | None,
    script: str | None,
) -> None:
    """Find the first knot of STREAM that breaks, and say what is different there.

    With --check a knot is bad if a row up to it, after --good, does not meet the condition; with --run if the command
    fails there.
    """
    if (check is None) == (script is None):
        raise click.UsageError("Give what must be true with --check, or a command with --run.")
    if bad is None:
        bad = terminal.get(path_to("streams", stream))["knot"]
    if check is not None:
        body = {"stream": stream, "good": good, "bad": bad, "check": check}
        found = terminal.post("/bisects", body, doing="Looking for the first bad knot")
    else:
        assert script is not None and bad is not None
        found = _by_script(terminal, stream, good, bad, script)
    terminal.show(found, _render)


def _by_script(terminal: Terminal, stream: str, good: int, bad: int, script: str) -> dict[str, Any]:
    from weft.errors import WeftError
    from weft.replays.bisect import first_bad

    if good >= bad:
        raise click.UsageError(f"--bad {bad} does not come after --good {good}.")
    numbers = sorted(_live(terminal, stream, good, bad))

    async def is_good(number: int) -> bool:
        known = {"WEFT_STREAM": stream, "WEFT_KNOT": str(number), "WEFT_WEAVER": terminal.address}
        done = subprocess.run(script, shell=True, env={**os.environ, **known}, check=False)
        if done.returncode in NOT_RUN:
            raise WeftError(
                f"The command could not be run (status {done.returncode}), so it says nothing of knot {number}.",
                code="bisect.not-run",
                domain="user",
                hint="Give a command that a shell finds and may run.",
            )
        return done.returncode == 0

    first = asyncio.run(first_bad(numbers, is_good))
    if first is None:
        raise WeftError(
            f"The command succeeded at every knot of '{stream}' after {good}, up to {bad}.",
            code="bisect.all-good",
            domain="user",
            hint="Choose a later --bad, or another command.",
        )
    changes = terminal.get(path_to("knots", stream, first.knot, "changes"))
    return {
        "stream": stream,
        "knot": first.knot,
        "looks": first.looks,
        "rows": [],
        "changes": changes,
    }


def _live(terminal: Terminal, stream: str, good: int, bad: int) -> Iterator[int]:
    """The live knots after one and up to another, page by page."""
    before = bad + 1
    while before > good + 1:
        knots = terminal.get("/knots", stream=stream, limit=PAGE, before=before)
        for one in knots:
            if one["status"] == "COMPLETE" and one["number"] > good:
                yield one["number"]
        if len(knots) < PAGE:
            return
        before = knots[-1]["number"]


def _render(output: Printer, found: dict[str, Any]) -> None:
    from weft.cli.record import own
    from weft.cli.rows import text_of

    looks = f"{found['looks']} look{'s' if found['looks'] != 1 else ''}"
    output.line(f"Knot {found['knot']} of {found['stream']} is the first bad one ({looks}).")
    for change in found["changes"]:
        output.line(f"  {change['text']}")
        if change["diff"]:
            output.line(change["diff"], style="dim")
    if not found["changes"]:
        output.line(
            "  Rules, code and columns are those of the knot before: the records themselves differ."
        )
    if found["rows"]:
        output.line()
        output.table(
            ["RECORD", "KNOT", "ROW"],
            ([row["id"], row["knot"], text_of(own(row["row"]))] for row in found["rows"]),
            empty="",
            gives=["ROW"],
        )
