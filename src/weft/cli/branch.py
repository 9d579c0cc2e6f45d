"""`weft stream branch|branches|diff|promote|drop`: rules tried on real data beside the original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import asks_weaver
from weft.cli.stream import stream, stream_name
from weft.cli.terminal import Terminal, path_to
from weft.errors import WeftError

if TYPE_CHECKING:
    from weft.cli.output import Printer

branch_name = click.argument("branch", metavar="BRANCH", shell_complete=completion.branches)


@stream.command("branch")
@stream_name
@branch_name
@click.option("--at", type=int, metavar="KNOT", help="Where it leaves; default: the newest knot.")
@asks_weaver
def make(terminal: Terminal, name: str, branch: str, at: int | None) -> None:
    """Branch a stream at a knot, to run rules on real data that nobody reads yet."""
    body = {"stream": name, "name": branch, "at": at}
    found = terminal.post("/branches", body, doing="Branching")
    terminal.show(found, lambda output, made: _render_branches(output, [made]))


@stream.command("branches")
@asks_weaver
def list_branches(terminal: Terminal) -> None:
    """The branches that are open."""
    terminal.show(terminal.get("/branches"), _render_branches)


@stream.command()
@click.argument("streams", metavar="STREAM..BRANCH")
@asks_weaver
def diff(terminal: Terminal, streams: str) -> None:
    """Rows added, removed and changed in a branch against its stream: `orders..trial`, or `trial`."""
    left, dots, right = streams.partition("..")
    branch = right if dots else left
    found = terminal.get(path_to("branches", branch, "diff"))
    if dots and left != found["left"]:
        raise WeftError(
            f"'{branch}' is a branch of '{found['left']}', not of '{left}'.",
            code="branch.other-stream",
            domain="user",
            hint=f"Type `weft stream diff {found['left']}..{branch}`.",
        )
    terminal.show(found, _render_diff)


@stream.command()
@branch_name
@asks_weaver
def promote(terminal: Terminal, branch: str) -> None:
    """Move the rules of a branch to its stream and end the branch."""
    found = terminal.post(path_to("branches", branch, "promote"), doing="Checking the rules")
    terminal.show(found, _render_promoted)


@stream.command()
@branch_name
@asks_weaver
def drop(terminal: Terminal, branch: str) -> None:
    """End a branch and its rules."""
    with terminal.wait("Dropping"):
        terminal.weaver.call("DELETE", path_to("branches", branch))
    terminal.show({"dropped": branch}, lambda output, _: output.line(f"Dropped {branch}."))


def _render_branches(output: Printer, branches: list[dict[str, Any]]) -> None:
    output.table(
        ["BRANCH", "OF", "AT", "RULES"],
        ([one["name"], one["stream"], one["at"], ", ".join(one["rules"])] for one in branches),
        empty="There are no branches. Make one with `weft stream branch`.",
    )


def _render_diff(output: Printer, found: dict[str, Any]) -> None:
    rows = found["rows"]
    output.line(
        f"after knot {found['after']} up to {found['upto']}, {found['left']} has {rows['left']} rows and "
        f"{found['right']} has {rows['right']}: {found['added']} added, {found['removed']} removed, "
        f"{found['changed']} changed"
    )
    examples = found["examples"]
    for row in examples["removed"]:
        output.line(f"- {row['id']}  {row['old']}", style="red")
    for row in examples["added"]:
        output.line(f"+ {row['id']}  {row['new']}", style="green")
    for row in examples["changed"]:
        output.line(f"- {row['id']}  {row['old']}", style="red")
        output.line(f"+ {row['id']}  {row['new']}", style="green")


def _render_promoted(output: Printer, found: dict[str, Any]) -> None:
    for rule in found["rules"]:
        output.line(f"Rule {rule['id']} is in force on {rule['stream']} from its next knot on.")
