"""`weft replay`: recorded knots run again, as they were or otherwise, beside what runs."""

from __future__ import annotations

import getpass
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Group, asks_weaver
from weft.cli.steps import StepsCommand, step_options
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer


@click.group(cls=Group)
def replay() -> None:
    """Replays: run recorded knots again, prove that they come out the same, or see what would have been."""


def knot_range(
    _ctx: click.Context, _param: click.Parameter, text: str | None
) -> tuple[int, int] | None:
    """`3..9`, or `7` alone."""
    if text is None:
        return None
    said = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", text.strip(), re.ASCII)
    if said is None:
        raise click.BadParameter(f"'{text}' is not FIRST..LAST, such as 3..9.")
    first, last = int(said[1]), int(said[2] or said[1])
    if not 1 <= first <= last:
        raise click.BadParameter(
            f"'{text}' has no knots: they are counted from 1, the first one first."
        )
    return first, last


def _pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise click.BadParameter(f"'{text}' is not NAME=VALUE.", param_hint=option)
        found[name.strip()] = value.strip()
    return found


def _records(texts: tuple[str, ...]) -> dict[str, list[Any]]:
    import json

    found: dict[str, list[Any]] = {}
    for name, file in _pairs(texts, "--add").items():
        try:
            lines = Path(file).read_text().splitlines()
        except (OSError, ValueError) as error:
            raise click.BadParameter(
                f"{file} cannot be read: {error}", param_hint="--add"
            ) from None
        found[name] = []
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                found[name].append(json.loads(line))
            except ValueError as error:
                told = f"Line {number} of {file} is not a record in JSON: {error}"
                raise click.BadParameter(told, param_hint="--add") from None
    return found


def _settings(texts: tuple[str, ...]) -> dict[str, Any]:
    import yaml

    return {path: yaml.safe_load(value) for path, value in _pairs(texts, "--with").items()}


@replay.command(cls=StepsCommand)
@click.argument("stream", shell_complete=completion.streams)
@click.option(
    "--knots", metavar="FIRST..LAST", callback=knot_range, help="Which knots; default: the last 10."
)
@click.option("--since", metavar="TIME", help="Knots from this time on, in place of --knots.")
@click.option("--until", metavar="TIME", help="Knots before this time.")
@click.option("--record", metavar="ID", help="The knot that made this record.")
@click.option(
    "--from",
    "source",
    metavar="STREAM",
    shell_complete=completion.streams,
    help="Run everything from this stream on again, its source included.",
)
@click.option(
    "--on", metavar="STREAM", help="The stream that the steps given here act on; default: STREAM."
)
@step_options
@click.option(
    "--without", multiple=True, metavar="RULE", help="Leave a rule out that was in force."
)
@click.option(
    "--leave-out",
    multiple=True,
    metavar="STREAM=SQL",
    help="Leave records out for which this holds.",
)
@click.option(
    "--add",
    multiple=True,
    metavar="STREAM=FILE",
    help="Add records: a file with one in JSON a line.",
)
@click.option(
    "--with",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="Another value in the project: pipelines.revenue.window.size_ms=60000.",
)
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="REF=VERSION",
    help="Another version of a function.",
)
@click.option(
    "--project",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Another project file.",
)
@click.option(
    "--speed",
    type=click.FloatRange(0, 1e6, min_open=True),
    metavar="TIMES",
    help="Let knots begin as far apart as they did, so many times faster; default: as fast as can be.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--note", help="Why.")
@click.option("--author", default=getpass.getuser, help="Who; default: the user that types this.")
@asks_weaver
def run(
    terminal: Terminal,
    stream: str,
    knots: tuple[int, int] | None,
    since: str | None,
    until: str | None,
    record: str | None,
    source: str | None,
    on: str | None,
    steps: list[Any],
    without: tuple[str, ...],
    leave_out: tuple[str, ...],
    add: tuple[str, ...],
    settings: tuple[str, ...],
    functions: tuple[str, ...],
    project: Path | None,
    speed: float | None,
    dry_run: bool,
    note: str | None,
    author: str,
) -> None:
    """Run knots of STREAM again and compare them with what is recorded; exits with 1 if they differ.

    With nothing changed they must come out the same: the first thing that does not is named, with rows. With a change
    (steps, --without, --leave-out, --add, --with, --function, --project) it shows what would have been otherwise. Live
    streams are not touched.
    """
    from weft.cli.project import read_project

    body = {
        "stream": stream,
        "after": None if knots is None else knots[0] - 1,
        "upto": None if knots is None else knots[1],
        "since": since,
        "until": until,
        "record": record,
        "source": source,
        "speed": speed,
        "change": {
            "rules": [{"stream": on or stream, "steps": steps}] if steps else [],
            "without": list(without),
            "leave_out": _pairs(leave_out, "--leave-out"),
            "add": _records(add),
            "settings": _settings(settings),
            "functions": _pairs(functions, "--function"),
            "project": None if project is None else read_project(project).to_dict(),
        },
        "note": note,
        "author": author,
        "wait_s": 0,
    }
    asked = {"dry_run": "true"} if dry_run else {}
    found = terminal.post("/replays", body, doing="Planning", **asked)
    if not dry_run:
        found = _watched(terminal, found)
    terminal.show(found, render_replay)
    if found["verified"] is False or found["status"] in ("failed", "aborted"):
        click.get_current_context().exit(1)


@replay.command("list")
@asks_weaver
def list_replays(terminal: Terminal) -> None:
    """All replays, oldest first."""
    terminal.show(terminal.get("/replays"), _render_list)


@replay.command()
@click.argument("id")
@asks_weaver
def show(terminal: Terminal, id: str) -> None:
    """One replay: how far it is, and what came of it."""
    terminal.show(terminal.get(path_to("replays", id)), render_replay)


@replay.command()
@click.argument("id")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--author", default=getpass.getuser, help="Who; default: the user that types this.")
@asks_weaver
def promote(terminal: Terminal, id: str, dry_run: bool, author: str) -> None:
    """Make what a replay has tried true: its stream is rolled back to where it began, and rewritten with the change.

    One rule in addition, rules left out, or another project can be promoted, records that were added cannot. Everything
    downstream follows.
    """
    from weft.cli.operation import render_operation

    asked = {"dry_run": "true"} if dry_run else {}
    path = path_to("replays", id, "promote")
    found = terminal.post(path, doing="Rewriting", author=author, **asked)
    terminal.show(found, render_operation)


@replay.command()
@click.argument("id")
@asks_weaver
def drop(terminal: Terminal, id: str) -> None:
    """Remove the workspace of a replay; what came of it stays known."""
    with terminal.wait("Removing"):
        found = terminal.weaver.call("DELETE", path_to("replays", id))
    terminal.show(found, lambda output, one: output.line(f"The workspace of {one['id']} is gone."))


@replay.command()
@click.argument("stream", shell_complete=completion.streams)
@click.argument("knot", type=int)
@click.option("--id", help="Only the record with this id.")
@click.option("--where", metavar="SQL", help="Only records for which this held when they came in.")
@click.option("--limit", default=20, show_default=True, help="How many records at most.")
@asks_weaver
def step(
    terminal: Terminal, stream: str, knot: int, id: str | None, where: str | None, limit: int
) -> None:
    """Walk one knot of STREAM step by step: its rows before and after each transformation.

    On a terminal, any key goes on, b goes back and q ends it.
    """
    from weft.cli.walk import render_walk, step_through

    path = path_to("knots", stream, knot, "steps")
    found = terminal.get(path, id=id, where=where, limit=limit)
    if terminal.format == "text" and terminal.output.console.is_terminal:
        step_through(terminal.output, found)
    else:
        terminal.show(found, render_walk)


def _watched(terminal: Terminal, found: dict[str, Any]) -> dict[str, Any]:
    """Wait for a replay, and show how far it is."""
    import time

    from weft.cli.progress import Counting

    path = path_to("replays", found["id"])
    try:
        with Counting(terminal) as counting:
            while found["status"] in ("running", "waiting", "aborting"):
                progress = found["progress"]
                if progress:
                    what = f"Running {progress['pipeline']} again"
                    counting.show(what, progress["done"], progress["knots"])
                time.sleep(0.2)
                found = terminal.weaver.call("GET", path)
    except KeyboardInterrupt:
        name = found["id"]
        click.echo(
            f"{name} goes on without you: `weft replay show {name}` says how far it is, "
            f"`weft operation abort {name}` gives it up.",
            err=True,
        )
        raise
    return found


def render_replay(output: Printer, found: dict[str, Any]) -> None:
    """What a replay does, and what came of it."""
    for warning in found["warnings"]:
        output.line(f"Differs from when it ran: {warning}", style="yellow")
    knots = f"knots {found['first_knot']} to {found['upto']} of {found['stream']}"
    if found["status"] == "planned":
        output.line(f"To replay {knots}:")
        for number, step in enumerate(found["steps"], start=1):
            output.line(f"  {number}. {step}")
        return
    output.line(f"{found['id']}: {knots} ({found['status']})")
    if found["error"]:
        output.line(found["error"]["message"], style="red")
        if hint := found["error"].get("hint"):
            output.line(hint, style="dim")
    for leg in found["legs"]:
        speed = f"{leg['rows'] / leg['seconds']:,.0f} rows/s" if leg["seconds"] else ""
        output.line(
            f"  {leg['stream']}: {leg['knots']} knots, {leg['rows']:,} rows, {leg['seconds']:.1f} s  {speed}"
        )
        if leg["behind_s"] is not None:
            output.line(f"    at most {leg['behind_s']:.1f} s behind the pace that was asked for")
    if found["verified"] is True:
        output.line("Everything came out as it is recorded.", style="green")
    elif found["first"] is not None and not found["changes"]:
        first = found["first"]
        output.line(
            f"First difference: knot {first['knot']} of {first['stream']}: {first['text']}.",
            style="red",
        )
    if found["comparison"] and (found["changes"] or found["verified"] is False):
        render_comparison(output, found["comparison"])


def render_comparison(output: Printer, compared: dict[str, Any]) -> None:
    """Rows that are the same, changed, missing and extra, with examples."""
    from weft.cli.rows import exact, text_of

    output.line()
    names = ("same", "changed", "missing", "extra")
    output.line("Rows: " + ", ".join(f"{compared[name]:,} {name}" for name in names))
    if compared["by_column"]:
        columns = ", ".join(f"{name} ({count})" for name, count in compared["by_column"].items())
        output.line(f"Changed columns: {columns}")
    if compared["totals"]:
        output.table(
            ["TOTAL OF", "RECORDED", "REPLAYED"],
            ([name, *map(exact, sides)] for name, sides in compared["totals"].items()),
            empty="",
        )
    if compared["examples"]:
        output.line()
        output.table(
            ["RECORD", "RECORDED", "REPLAYED"],
            (
                [
                    row["id"],
                    text_of(row["recorded"]) if row["recorded"] is not None else "missing",
                    text_of(row["replayed"]) if row["replayed"] is not None else "missing",
                ]
                for row in compared["examples"]
            ),
            empty="",
        )
    if compared["file"]:
        output.line(f"All of them: {compared['file']}", style="dim")


def _render_list(output: Printer, replays: list[dict[str, Any]]) -> None:
    from weft.cli.output import moment

    output.table(
        ["REPLAY", "STREAM", "KNOTS", "STATUS", "RESULT", "ASKED"],
        (
            [
                found["id"],
                found["stream"],
                f"{found['after'] + 1}..{found['upto']}",
                found["status"],
                _result(found),
                moment(found["asked"], brief=output.is_narrow),
            ]
            for found in replays
        ),
        empty="Nothing was ever replayed.",
    )


def _result(found: dict[str, Any]) -> str:
    if found["verified"] is not None:
        return "verified" if found["verified"] else "differs"
    compared = found["comparison"]
    if compared is None:
        return "-"
    return ", ".join(f"{compared[name]} {name}" for name in ("changed", "missing", "extra"))
