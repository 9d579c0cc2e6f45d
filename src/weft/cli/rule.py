"""`weft rule`: change a stream while it runs."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Group, asks_weaver
from weft.cli.steps import StepsCommand, step_options
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer

rule_id = click.argument("name", metavar="RULE", shell_complete=completion.rules)


@click.group(cls=Group)
def rule() -> None:
    """Rules: changes to a stream from a knot on, while it runs."""


@rule.command("list")
@click.option(
    "--stream",
    metavar="STREAM",
    help="Only those on this stream.",
    shell_complete=completion.streams,
)
@click.option("--active", is_flag=True, help="Only those in force.")
@asks_weaver
def list_rules(terminal: Terminal, stream: str | None, active: bool) -> None:
    """Rules in the order in which they were attached."""
    found = terminal.get("/rules", stream=stream, active="true" if active else None)
    terminal.show(found, _render_rules)


@rule.command()
@rule_id
@asks_weaver
def show(terminal: Terminal, name: str) -> None:
    """One rule with its history."""
    terminal.show(terminal.get(path_to("rules", name)), render_rule)


@rule.command(cls=StepsCommand)
@click.argument("name", metavar="[RULE]", required=False)
@click.option(
    "--stream",
    metavar="STREAM",
    required=True,
    help="The stream whose rows it changes.",
    shell_complete=completion.streams,
)
@step_options
@click.option(
    "--output-stream",
    metavar="STREAM",
    help="Send the changed rows to this new stream, beside the originals.",
)
@click.option("--percent", type=float, default=100.0, show_default=True, help="Share of the keys.")
@click.option(
    "--start", default="latest", show_default=True, metavar="KNOT", help="The knot to start after."
)
@click.option("--guard", "guards", multiple=True, help="A limit such as 'dead_share < 0.01'.")
@click.option(
    "--on-breach",
    type=click.Choice(["retire", "rollback"]),
    default="retire",
    show_default=True,
    help="What the first knot that breaks a guard does.",
)
@click.option("--dry-run", is_flag=True, help="Only try it on the last recorded knots.")
@click.option("--knots", default=10, show_default=True, help="With --dry-run: on how many.")
@click.option("--note", help="Why.")
@click.option("--author", default=getpass.getuser, help="Who; default: the user that types this.")
@asks_weaver
def attach(
    terminal: Terminal,
    name: str | None,
    stream: str,
    steps: list[Any],
    output_stream: str | None,
    percent: float,
    start: str,
    guards: tuple[str, ...],
    on_breach: str,
    dry_run: bool,
    knots: int,
    note: str | None,
    author: str,
) -> None:
    """Attach a rule to a stream, in force from its next knot on.

    Steps are applied in the order in which they are typed.
    """
    body = {
        "id": name,
        "stream": stream,
        "steps": steps,
        "output": output_stream,
        "percent": percent,
        "start": _knot(start),
        "guards": list(guards),
        "on_breach": on_breach,
        "note": note,
        "author": author,
    }
    if dry_run:
        found = terminal.post(
            "/rules", body, doing="Trying the rule", dry_run="true", knots=str(knots)
        )
        terminal.show(found, _render_trial)
    else:
        terminal.show(terminal.post("/rules", body, doing="Checking the rule"), render_rule)


@rule.command()
@rule_id
@click.option("--percent", type=float, help="The new share of the keys.")
@click.option("--in-place", is_flag=True, help="Move it from its side stream into the stream.")
@click.option(
    "--start",
    type=int,
    metavar="KNOT",
    help="With --in-place: the past knot after which it counts.",
)
@asks_weaver
def promote(
    terminal: Terminal, name: str, percent: float | None, in_place: bool, start: int | None
) -> None:
    """Give a rule a larger share of the keys, or move it into place."""
    body = {"percent": percent, "in_place": in_place, "start": start}
    found = terminal.post(path_to("rules", name, "promote"), body, doing="Checking the rule")
    terminal.show(found, render_rule)


@rule.command()
@rule_id
@click.option("--now", is_flag=True, help="Also for the batch in hand, which is pinned anew.")
@asks_weaver
def retire(terminal: Terminal, name: str, now: bool) -> None:
    """End a rule from the next knot on; what it has woven stays.

    With --now the batch in hand is given up and pinned anew without the rule: the way out when the rule keeps
    that batch from ever ending.
    """
    found = terminal.post(
        path_to("rules", name, "retire"), doing="Retiring", now="true" if now else None
    )
    terminal.show(found, render_rule)


def render_rule(output: Printer, found: dict[str, Any]) -> None:
    """A rule with what it does and what was done to it."""
    from weft.cli.output import moment, short

    output.fields(
        {
            "rule": found["id"],
            "status": found["status"],
            "stream": found["stream"],
            "output": found["output"] or "in place",
            "share": f"{found['percent']:g} % of the keys",
            "since": f"knot {found['since']}" if _since(found) else "never",
            "until": None if found["until"] is None else f"knot {found['until']}",
            "because": found["retired_because"],
            "author": found["author"],
            "note": found["note"],
            "guards": ", ".join(found["guards"]) or None,
            "version": short(found["version"]),
        }
    )
    output.line()
    for number, step in enumerate(found["steps"], start=1):
        output.line(f"  {number}. {describe(step)}")
    output.line()
    for entry in found["history"]:
        output.line(f"  {moment(entry['at'])}  {entry['did']}, from knot {entry['knot']} on")


def _render_trial(output: Printer, found: dict[str, Any]) -> None:
    from weft.cli.trial import render_trial

    render_trial(output, found)


def describe(step: dict[str, Any]) -> str:
    """A step in the words of the project file."""
    from weft.steps.step import from_dict

    return from_dict(step).describe()


def _since(found: Mapping[str, Any]) -> int | None:
    """The knot from which a rule is in force; none while, or because, its stream was not filled."""
    from weft.weaver.fills import NOT_YET

    return found["since"] if found["since"] < NOT_YET else None


def _render_rules(output: Printer, rules: list[dict[str, Any]]) -> None:
    output.table(
        ["RULE", "STREAM", "OUTPUT", "SHARE", "SINCE", "STATUS", "STEPS", "AUTHOR"],
        (
            [
                found["id"],
                found["stream"],
                found["output"] or "in place",
                f"{found['percent']:g} %",
                _since(found),
                found["status"],
                "; ".join(describe(step) for step in found["steps"]),
                found["author"],
            ]
            for found in rules
        ),
        empty="There are no rules. Attach one with `weft rule attach`.",
        optional=("AUTHOR",),
        gives=("STEPS", "AUTHOR"),
    )


def _knot(text: str) -> int | str:
    if text == "latest":
        return text
    if not text.isdigit():
        raise click.BadParameter(f"'{text}' is neither a knot's number nor 'latest'.")
    return int(text)
